import type { Sql } from '../db.ts'

const LIVE = `"expiresAt" > $3::timestamptz AND ("usesLeft" IS NULL OR "usesLeft" > 0)`

const SELECT_LIVE = `
  SELECT "id" FROM "RegistrationToken" WHERE "tenantId" = $1 AND "tokenHash" = $2::bytea AND ${LIVE}`

/** The id of the token with this hash while it permits anything, else null. */
export async function selectLiveToken(
  sql: Sql,
  tenant: string,
  tokenHash: Buffer,
  now: Date,
): Promise<string | null> {
  const [row] = await sql<{ id: string }>(SELECT_LIVE, [tenant, tokenHash, now])
  return row?.id ?? null
}

// Who comes second waits for the first, and then sees what is left.
const USE_TOKEN = `
  UPDATE "RegistrationToken" SET "usesLeft" = "usesLeft" - 1
  WHERE "tenantId" = $1 AND "id" = $2 AND ${LIVE} RETURNING 1`

/** Counts a use, in the transaction of what it is used for; false when none was left. */
export const useToken = async (sql: Sql, tenant: string, id: string, now: Date): Promise<boolean> =>
  (await sql(USE_TOKEN, [tenant, id, now])).length > 0

/** Whether there was one to delete. */
export const deleteToken = async (sql: Sql, tenant: string, id: string): Promise<boolean> =>
  (await sql(`DELETE FROM "RegistrationToken" WHERE "tenantId" = $1 AND "id" = $2 RETURNING 1`, [tenant, id]))
    .length > 0
