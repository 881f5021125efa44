import type { Provisioner } from '../access/authenticate.ts'
import type { ScimQuery } from './requests.ts'
import { findUserRows, type UserRow } from './user-resource.ts'
import { selectUserIds } from './users.sql.ts'

/** A page of the users of the tenant, or of the organization, and the number of all that match. Throws ScimError. */
export async function listUsers(
  { ctx, organizationId }: Provisioner,
  { startIndex, count, ...query }: ScimQuery,
): Promise<{ rows: UserRow[]; total: number }> {
  const page = { organizationId, ...query, offset: query.after === null ? startIndex - 1 : 0, limit: count }
  const { ids, total } = await selectUserIds(ctx.db, page)
  return { rows: ids.length > 0 ? await findUserRows(ctx.db, organizationId, ids) : [], total }
}
