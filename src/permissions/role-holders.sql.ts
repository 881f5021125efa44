import type { Db } from '../database/handle.ts'
import { statement } from '../database/statement.ts'

const SELECT_ROLE_HOLDERS = statement({ takes: { userIds: 'text[]' }, returns: { id: 'text' } })`
  SELECT DISTINCT h."userId" AS "id" FROM "UserAppRole" h
  WHERE h."tenantId" = :tenant AND h."userId" = ANY(:userIds)`

/** The users among these who hold a role at APIs. */
export const selectRoleHolders = (db: Db, userIds: string[]): Promise<{ id: string }[]> =>
  db.many(SELECT_ROLE_HOLDERS, { userIds })
