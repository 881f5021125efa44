import type { Sql } from '../db.ts'

export type HeldUser = { roles: string[] }

const hold = (lock: string): string =>
  `SELECT "roles" FROM "User" WHERE "tenantId" = $1 AND "id" = $2 ${lock}`

async function heldBy(statement: string, sql: Sql, tenant: string, userId: string): Promise<HeldUser | null> {
  const [row] = await sql<HeldUser>(statement, [tenant, userId])
  return row ?? null
}

const HOLD_USER = hold('FOR NO KEY UPDATE')
/**
 * Makes other changes of the user and of what is theirs, starts of sessions, and codes that are being redeemed wait until the
 * transaction ends, so that the statements after this one see all that came first. Null when there is no such user.
 */
export const holdUser = (sql: Sql, tenant: string, userId: string): Promise<HeldUser | null> =>
  heldBy(HOLD_USER, sql, tenant, userId)

const HOLD_ALL_OF_USER = hold('FOR UPDATE')
/** The same, and makes everything wait that refers to the user: for a deletion. */
export const holdAllOfUser = (sql: Sql, tenant: string, userId: string): Promise<HeldUser | null> =>
  heldBy(HOLD_ALL_OF_USER, sql, tenant, userId)
