import type { Db } from '../../database/handle.ts'
import { type RowOf, statement } from '../../database/statement.ts'

const SELECT_TOTP = statement({ takes: { userId: 'text' }, returns: { id: 'text', secret: 'text' } })`
  SELECT "id", "secret" FROM "Credential"
  WHERE "tenantId" = :tenant AND "userId" = :userId AND "type" = 'totp' AND "secret" IS NOT NULL`

/** The authenticator app of a user, with its sealed key; null without one. */
export const selectTotp = (db: Db, userId: string): Promise<RowOf<typeof SELECT_TOTP> | null> =>
  db.one(SELECT_TOTP, { userId })

const USE_TIME_STEP = statement({
  takes: { id: 'text', step: 'bigint', now: 'timestamptz' },
  returns: { id: 'text' },
})`
  UPDATE "Credential" SET "lastStep" = :step, "lastUsedAt" = :now
  WHERE "tenantId" = :tenant AND "id" = :id AND "lastStep" < :step RETURNING "id"`

/** Accepts the code of a time step; false when that step or a later one was accepted before. */
export const useTimeStep = async (
  db: Db,
  { id, step, now }: { id: string; step: number; now: Date },
): Promise<boolean> => (await db.one(USE_TIME_STEP, { id, step: String(step), now })) !== null

const USE_RECOVERY_CODE = statement({
  takes: { userId: 'text', codeHash: 'bytea', now: 'timestamptz' },
  returns: { id: 'text', remaining: 'int' },
})`
  UPDATE "Credential" SET "codeHashes" = array_remove("codeHashes", :codeHash), "lastUsedAt" = :now
  WHERE "tenantId" = :tenant AND "userId" = :userId AND "type" = 'recovery-codes' AND :codeHash = ANY("codeHashes")
  RETURNING "id", cardinality("codeHashes") AS "remaining"`

/** Accepts a recovery code, once; null when the user has none with this hash. */
export const useRecoveryCode = (
  db: Db,
  code: { userId: string; codeHash: Buffer; now: Date },
): Promise<RowOf<typeof USE_RECOVERY_CODE> | null> => db.one(USE_RECOVERY_CODE, { ...code })
