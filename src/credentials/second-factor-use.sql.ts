import type { Sql } from '../database/db.ts'
import { type RowOf, statement } from '../database/statement.ts'

const SELECT_TOTP = statement({ takes: { userId: 'text' }, returns: { id: 'text', secret: 'text' } })`
  SELECT "id", "secret" FROM "Credential"
  WHERE "tenantId" = :tenant AND "userId" = :userId AND "type" = 'totp' AND "secret" IS NOT NULL`

/** The authenticator app of a user, with its sealed key; null without one. */
export const selectTotp = (
  sql: Sql,
  tenant: string,
  userId: string,
): Promise<RowOf<typeof SELECT_TOTP> | null> => SELECT_TOTP.first(sql, { tenant, userId })

const USE_TIME_STEP = statement({
  takes: { id: 'text', step: 'bigint', now: 'timestamptz' },
  returns: { id: 'text' },
})`
  UPDATE "Credential" SET "lastStep" = :step, "lastUsedAt" = :now
  WHERE "tenantId" = :tenant AND "id" = :id AND "lastStep" < :step RETURNING "id"`

/** Accepts the code of a time step; false when that step or a later one was accepted before. */
export const useTimeStep = async (
  sql: Sql,
  tenant: string,
  { id, step, now }: { id: string; step: number; now: Date },
): Promise<boolean> => (await USE_TIME_STEP.first(sql, { tenant, id, step: String(step), now })) !== null

const USE_RECOVERY_CODE = statement({
  takes: { userId: 'text', codeHash: 'bytea', now: 'timestamptz' },
  returns: { id: 'text', remaining: 'int' },
})`
  UPDATE "Credential" SET "codeHashes" = array_remove("codeHashes", :codeHash), "lastUsedAt" = :now
  WHERE "tenantId" = :tenant AND "userId" = :userId AND "type" = 'recovery-codes' AND :codeHash = ANY("codeHashes")
  RETURNING "id", cardinality("codeHashes") AS "remaining"`

/** Accepts a recovery code, once; null when the user has none with this hash. */
export const useRecoveryCode = (
  sql: Sql,
  tenant: string,
  code: { userId: string; codeHash: Buffer; now: Date },
): Promise<RowOf<typeof USE_RECOVERY_CODE> | null> => USE_RECOVERY_CODE.first(sql, { tenant, ...code })
