import type { Db } from '../../database/handle.ts'
import { type RowOf, statement, typed, type ValuesOf } from '../../database/statement.ts'

/** The columns of a stored passkey `c` and its user `u`. */
export const PASSKEY_COLUMNS = `c."id", c."userId", c."publicKey", c."signCount", c."backupEligible", c."userHandle", u."locked"`

/** The columns as a statement returns them. */
export const PASSKEY_RETURNS = {
  id: 'text',
  userId: 'text',
  publicKey: 'text?',
  signCount: typed<string>('bigint'),
  backupEligible: 'boolean?',
  userHandle: 'text?',
  locked: 'boolean',
} as const

/** A stored passkey, with the state of its user. */
export type StoredPasskey = RowOf<{ returns: typeof PASSKEY_RETURNS }>

/** Parameters of `buildPasskeyUseCtes`. */
export const PASSKEY_USE_PARAMETERS = {
  id: 'text',
  proofHash: 'bytea',
  proofExpiresAt: 'timestamptz',
  signCount: typed<number>('bigint'),
  backedUp: 'boolean',
  backupEligible: 'boolean',
  ip: 'text?',
  now: 'timestamptz',
} as const

/**
 * CTEs that record the use of a passkey: `used_passkey` has a row unless the assertion was used before, the
 * passkey was deleted, or its counter has been reached. The unique key of the proof decides between concurrent
 * uses of one assertion, the counter between assertions of a passkey of one device and its copy. A synchronized passkey
 * has copies, whose counters may differ. A passkey from before its eligibility was stored keeps that of this use.
 */
export const buildPasskeyUseCtes = (condition = 'true'): string => `
  proof AS (
    INSERT INTO "UsedProof" ("tenantId", "proofHash", "expiresAt")
    SELECT :tenant, :proofHash, :proofExpiresAt WHERE ${condition}
    ON CONFLICT DO NOTHING RETURNING 1
  ), used_passkey AS (
    UPDATE "Credential" SET "signCount" = :signCount, "backedUp" = :backedUp, "lastUsedAt" = :now,
      "backupEligible" = COALESCE("backupEligible", :backupEligible),
      "deviceLastSeenIp" = COALESCE(:ip, "deviceLastSeenIp"), "deviceLastSeenAt" = :now
    WHERE "tenantId" = :tenant AND "id" = :id AND EXISTS (SELECT FROM proof)
      AND (:backupEligible OR "signCount" < :signCount OR ("signCount" = 0 AND :signCount = 0))
    RETURNING "id"
  )`

const USE_PASSKEY = statement({ takes: PASSKEY_USE_PARAMETERS, returns: { id: 'text' } })`
  WITH ${buildPasskeyUseCtes()} SELECT "id" FROM used_passkey`

export type PasskeyUse = ValuesOf<typeof USE_PASSKEY>

/** Records the use of a passkey. False when it is not accepted, see `buildPasskeyUseCtes`. One statement. */
export async function recordPasskeyUse(db: Db, use: PasskeyUse): Promise<boolean> {
  return (await db.one(USE_PASSKEY, { ...use })) !== null
}
