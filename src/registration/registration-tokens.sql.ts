import type { Sql } from '../database/db.ts'
import { statement } from '../database/statement.ts'

const IS_LIVE = `"expiresAt" > :now AND ("usesLeft" IS NULL OR "usesLeft" > 0)`

const SELECT_LIVE = statement({ takes: { tokenHash: 'bytea', now: 'timestamptz' }, returns: { id: 'text' } })`
  SELECT "id" FROM "RegistrationToken" WHERE "tenantId" = :tenant AND "tokenHash" = :tokenHash AND ${IS_LIVE}`

/** The id of the active token with this hash; null otherwise. */
export async function selectActiveRegistrationToken(
  sql: Sql,
  tenant: string,
  tokenHash: Buffer,
  now: Date,
): Promise<string | null> {
  return (await SELECT_LIVE.first(sql, { tenant, tokenHash, now }))?.id ?? null
}

// The row lock serializes concurrent uses: the second sees the remaining number.
const CONSUME_TOKEN = statement({ takes: { id: 'text', now: 'timestamptz' }, returns: { usesLeft: 'int?' } })`
  UPDATE "RegistrationToken" SET "usesLeft" = "usesLeft" - 1
  WHERE "tenantId" = :tenant AND "id" = :id AND ${IS_LIVE} RETURNING "usesLeft"`

/**
 * Counts a use, in the transaction of the registration; false when the token has no uses left or has expired.
 */
export const consumeRegistrationToken = async (
  sql: Sql,
  tenant: string,
  id: string,
  now: Date,
): Promise<boolean> => (await CONSUME_TOKEN.first(sql, { tenant, id, now })) !== null

const DELETE_TOKEN = statement({ takes: { id: 'text' }, returns: { id: 'text' } })`
  DELETE FROM "RegistrationToken" WHERE "tenantId" = :tenant AND "id" = :id RETURNING "id"`

/** Deletes a token; false when there was none. */
export const deleteRegistrationToken = async (sql: Sql, tenant: string, id: string): Promise<boolean> =>
  (await DELETE_TOKEN.first(sql, { tenant, id })) !== null
