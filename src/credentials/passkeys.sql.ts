import type { Sql } from '../database/db.ts'
import { type RowOf, statement, typed } from '../database/statement.ts'

const SELECT_PASSKEY = statement({
  takes: { externalId: 'text' },
  returns: {
    id: 'text',
    userId: 'text',
    publicKey: 'text?',
    signCount: typed<string>('bigint'),
    backupEligible: 'boolean?',
    locked: 'boolean',
  },
})`
  SELECT c."id", c."userId", c."publicKey", c."signCount", c."backupEligible", u."locked"
  FROM "Credential" c JOIN "User" u ON u."tenantId" = :tenant AND u."id" = c."userId"
  WHERE c."tenantId" = :tenant AND c."externalId" = :externalId`

/** A stored passkey, with the state of its user. */
export type StoredPasskey = RowOf<typeof SELECT_PASSKEY>

/** The passkey with this credential id of WebAuthn, or null. */
export const selectPasskey = (sql: Sql, tenant: string, externalId: string): Promise<StoredPasskey | null> =>
  SELECT_PASSKEY.first(sql, { tenant, externalId })

// The unique key of the proof decides between concurrent uses of one assertion, the counter between assertions
// of a passkey and its copy.
const USE_PASSKEY = statement({
  takes: {
    id: 'text',
    proofHash: 'bytea',
    proofExpiresAt: 'timestamptz',
    signCount: typed<number>('bigint'),
    backedUp: 'boolean',
    ip: 'text?',
    now: 'timestamptz',
  },
  returns: { id: 'text' },
})`
  WITH proof AS (
    INSERT INTO "UsedProof" ("tenantId", "proofHash", "expiresAt") VALUES (:tenant, :proofHash, :proofExpiresAt)
    ON CONFLICT DO NOTHING RETURNING 1
  )
  UPDATE "Credential" SET "signCount" = :signCount, "backedUp" = :backedUp, "lastUsedAt" = :now,
    "deviceLastSeenIp" = COALESCE(:ip, "deviceLastSeenIp"), "deviceLastSeenAt" = :now
  WHERE "tenantId" = :tenant AND "id" = :id AND EXISTS (SELECT FROM proof)
    AND ("signCount" < :signCount OR ("signCount" = 0 AND :signCount = 0))
  RETURNING "id"`

type PasskeyUse = Omit<Parameters<typeof USE_PASSKEY.first>[1], 'tenant'>

/**
 * Records the use of a passkey. False when the assertion was used before, the passkey was deleted, or its
 * counter has been reached. One statement.
 */
export async function recordPasskeyUse(sql: Sql, tenant: string, use: PasskeyUse): Promise<boolean> {
  return (await USE_PASSKEY.first(sql, { tenant, ...use })) !== null
}
