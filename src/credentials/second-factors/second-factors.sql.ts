import type { Db } from '../../database/handle.ts'
import { statement } from '../../database/statement.ts'
import type { SecondFactorType } from '../../model/credential-types.ts'

const REPLACE_SECOND_FACTOR = statement({
  takes: {
    id: 'text',
    userId: 'text',
    type: 'text',
    secret: 'text?',
    lastStep: 'bigint?',
    codeHashes: 'bytea[]',
    now: 'timestamptz',
  },
  returns: { isStored: 'boolean', replacedIds: 'text[]' },
})`
  WITH replaced AS (
    DELETE FROM "Credential" WHERE "tenantId" = :tenant AND "userId" = :userId AND "type" = :type AND "id" <> :id
    RETURNING "id"
  ), gone AS MATERIALIZED (
    SELECT COALESCE(array_agg("id"), '{}') AS "ids" FROM replaced
  ), made AS (
    INSERT INTO "Credential" ("tenantId", "id", "userId", "type", "secret", "lastStep", "codeHashes", "createdAt")
    SELECT :tenant, :id, :userId, :type, :secret, :lastStep, :codeHashes, :now FROM gone
    ON CONFLICT DO NOTHING RETURNING "id"
  )
  SELECT EXISTS (SELECT FROM made) AS "isStored", gone."ids" AS "replacedIds" FROM gone`

/** A second factor as it is stored. */
export type NewSecondFactor = {
  id: string
  userId: string
  type: SecondFactorType
  secret: string | null
  lastStep: number | null
  codeHashes: Buffer[]
}

/**
 * Stores a second factor instead of the user's earlier one of its type. Lock the user first, in a separate
 * statement. `isStored` is false when it was stored before.
 */
export async function replaceSecondFactor(
  db: Db,
  factor: NewSecondFactor,
  now: Date,
): Promise<{ isStored: boolean; replacedIds: string[] }> {
  const lastStep = factor.lastStep === null ? null : String(factor.lastStep)
  const row = await db.one(REPLACE_SECOND_FACTOR, { ...factor, lastStep, now })
  if (!row) throw new Error('a second factor could not be stored')
  return row
}

const SELECT_CREDENTIAL_TYPES = statement({ takes: { userId: 'text' }, returns: { type: 'text' } })`
  SELECT DISTINCT "type" FROM "Credential" WHERE "tenantId" = :tenant AND "userId" = :userId`

/** The types of credentials that a user has. */
export const selectCredentialTypes = async (db: Db, userId: string): Promise<string[]> =>
  (await db.many(SELECT_CREDENTIAL_TYPES, { userId })).map(({ type }) => type)
