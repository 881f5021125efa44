import { shareRoles } from '../access/held-roles.sql.ts'
import type { HeldRoles } from '../core/scopes.ts'
import type { Db } from '../database/handle.ts'
import { declareRowLock } from '../database/row-locks.sql.ts'
import { type RowOf, statement } from '../database/statement.ts'

const COLUMNS = ['roles', 'locked', 'hasSecondFactor', 'emailKey', 'emailVerified'] as const
export type LockedUserRow = Omit<RowOf<typeof LOCK_USER>, 'roles'> & { roles: HeldRoles }

/** Resolves the roles of a locked row, which a statement after the lock reads as they are from then on. */
const resolveLocked = async <Row extends { roles: string[] }>(db: Db, row: Row | null) =>
  row && { ...row, roles: await shareRoles(db, row.roles) }

const LOCK_USER = declareRowLock('User', COLUMNS)
/**
 * Locks the user's row until the transaction ends: other changes of the user and of what is theirs, starts of
 * sessions, and redemptions of codes wait, so that later statements see all that came before. Null when there
 * is no such user.
 */
export const lockUserRow = async (db: Db, userId: string): Promise<LockedUserRow | null> =>
  resolveLocked(db, await db.one(LOCK_USER, { id: userId }))

const LOCK_USER_FOR_DELETE = declareRowLock('User', COLUMNS, 'FOR UPDATE')
/** Locks the user's row for a deletion: inserts of rows that refer to the user wait too. */
export const lockUserForDelete = async (db: Db, userId: string): Promise<LockedUserRow | null> =>
  resolveLocked(db, await db.one(LOCK_USER_FOR_DELETE, { id: userId }))

const LOCK_SESSION_OWNER = statement({
  takes: { sessionId: 'text' },
  returns: { userId: 'text', roles: 'text[]' },
})`
  SELECT u."id" AS "userId", u."roles"
  FROM "Session" s JOIN "User" u ON u."tenantId" = :tenant AND u."id" = s."userId"
  WHERE s."tenantId" = :tenant AND s."id" = :sessionId FOR NO KEY UPDATE OF u`

/** Locks the row of the session's user, as lockUserRow does; null when there is no such session. */
export const lockSessionOwner = async (
  db: Db,
  sessionId: string,
): Promise<{ userId: string; roles: HeldRoles } | null> =>
  resolveLocked(db, await db.one(LOCK_SESSION_OWNER, { sessionId }))
