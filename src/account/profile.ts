import { requireOwnChange } from '../access/require-scope.ts'
import type { Ctx } from '../context/context.ts'
import type { FieldIssue } from '../core/errors.ts'
import { measureJson } from '../core/json/json-size.ts'
import type { User } from '../generated/prisma/client.ts'
import { assertExpectedUpdatedAt } from '../schema/expected-updated-at.ts'
import { parseInput } from '../schema/input-shapes.ts'
import { toUserColumns } from '../users/user-body.ts'
import type { UpdatedUser } from '../users/users.sql.ts'
import { changeUser } from '../users/users.ts'
import { AccountPatch } from './account.fields.ts'

/** Users write their metadata themselves; administrators may write 64 KB. */
const OWN_METADATA_BYTES = 8192

/** What the user has changed in the metadata must be small. A larger value of an administrator is kept where it is unchanged. */
const findMetadataIssues = ({ user, changed }: UpdatedUser): FieldIssue[] =>
  changed.includes('userMetadata') && measureJson(user.userMetadata) > OWN_METADATA_BYTES
    ? [{ field: 'userMetadata', description: 'must have at most 8 KB, unless an administrator writes it' }]
    : []

/** Changes the caller's profile. Throws InvalidInput, and Conflict for another expectedUpdatedAt. */
export async function updateViewer(ctx: Ctx, input: unknown): Promise<User> {
  const { userId } = requireOwnChange(ctx)
  const { expectedUpdatedAt: _, ...fields } = parseInput(AccountPatch, input)
  return changeUser(ctx, userId, toUserColumns(fields), (updated) => {
    assertExpectedUpdatedAt(input, updated.before.updatedAt)
    return findMetadataIssues(updated)
  })
}
