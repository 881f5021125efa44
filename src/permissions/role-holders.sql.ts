import type { Db } from '../database/handle.ts'
import { statement } from '../database/statement.ts'

const SELECT_ROLE_HOLDERS = statement({ takes: { userIds: 'text[]' }, returns: { id: 'text' } })`
  SELECT u."id" FROM unnest(:userIds) u("id")
  WHERE EXISTS (SELECT FROM "UserAppRole" h WHERE h."tenantId" = :tenant AND h."userId" = u."id")`

/** The users among these who hold a role at APIs. */
export const selectRoleHolders = (db: Db, userIds: string[]): Promise<{ id: string }[]> =>
  db.many(SELECT_ROLE_HOLDERS, { userIds })
