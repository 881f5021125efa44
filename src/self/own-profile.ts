import type { Ctx } from '../ctx.ts'
import { assertExpected } from '../expected-updated-at.ts'
import { parse } from '../fields.ts'
import type { User } from '../generated/prisma/client.ts'
import { requireOwnAccount } from '../scopes.ts'
import { toColumns } from '../users/user-body.ts'
import { changeUser } from '../users/users.ts'
import { OwnProfilePatch } from './self.fields.ts'

/** Changes the caller's own profile, as updateUser does for administrators. Throws InvalidInput, Conflict as it does. */
export async function updateViewer(ctx: Ctx, input: unknown): Promise<User> {
  const { userId } = requireOwnAccount(ctx)
  const { expectedUpdatedAt: _, ...fields } = parse(OwnProfilePatch, input)
  return changeUser(ctx, userId, toColumns(fields), ({ before }) => {
    assertExpected(input, before.updatedAt)
    return []
  })
}
