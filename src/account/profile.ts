import { requireOwnAccount } from '../access/require-scope.ts'
import type { Ctx } from '../core/context.ts'
import type { User } from '../generated/prisma/client.ts'
import { assertExpectedUpdatedAt } from '../schema/expected-updated-at.ts'
import { parseInput } from '../schema/input-shapes.ts'
import { toUserColumns } from '../users/user-body.ts'
import { changeUser } from '../users/users.ts'
import { AccountPatch } from './account.fields.ts'

/** Changes the caller's profile. Throws InvalidInput, and Conflict for another expectedUpdatedAt. */
export async function updateViewer(ctx: Ctx, input: unknown): Promise<User> {
  const { userId } = requireOwnAccount(ctx)
  const { expectedUpdatedAt: _, ...fields } = parseInput(AccountPatch, input)
  return changeUser(ctx, userId, toUserColumns(fields), ({ before }) => {
    assertExpectedUpdatedAt(input, before.updatedAt)
    return []
  })
}
