import type { Db } from '../database/handle.ts'
import { statement } from '../database/statement.ts'

const IS_LIVE = `"expiresAt" > :now AND ("usesLeft" IS NULL OR "usesLeft" > 0)`

const SELECT_LIVE = statement({ takes: { tokenHash: 'bytea', now: 'timestamptz' }, returns: { id: 'text' } })`
  SELECT "id" FROM "RegistrationToken" WHERE "tenantId" = :tenant AND "tokenHash" = :tokenHash AND ${IS_LIVE}`

/** The id of the active token with this hash; null otherwise. */
export const selectActiveRegistrationToken = async (
  db: Db,
  tokenHash: Buffer,
  now: Date,
): Promise<string | null> => (await db.one(SELECT_LIVE, { tokenHash, now }))?.id ?? null

// The row lock serializes concurrent uses: the second sees the remaining number.
const CONSUME_TOKEN = statement({ takes: { id: 'text', now: 'timestamptz' }, returns: { usesLeft: 'int?' } })`
  UPDATE "RegistrationToken" SET "usesLeft" = "usesLeft" - 1
  WHERE "tenantId" = :tenant AND "id" = :id AND ${IS_LIVE} RETURNING "usesLeft"`

/**
 * Counts a use, in the transaction of the registration; false when the token has no uses left or has expired.
 */
export const consumeRegistrationToken = async (tx: Db, id: string, now: Date): Promise<boolean> =>
  (await tx.one(CONSUME_TOKEN, { id, now })) !== null
