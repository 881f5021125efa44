import type { JWK } from 'jose'
import type { Sql } from '../../db.ts'
import type { SigningAlgorithm } from '../../signing-algorithms.ts'

export type SigningKeyRow = {
  /** The kid. */
  id: string
  alg: SigningAlgorithm
  publicJwk: JWK
  /** Sealed PKCS #8. */
  privateKey: string
  activeAt: Date
  /** Set once the key has a successor. */
  expiresAt: Date | null
}

/** All keys of a tenant, also those that are no longer published; of an algorithm, each before the ones that it succeeds. */
export function selectSigningKeys(sql: Sql, tenant: string): Promise<SigningKeyRow[]> {
  return sql(
    `SELECT "id", "alg", "publicJwk", "privateKey", "activeAt", "expiresAt" FROM "SigningKey"
     WHERE "tenantId" = $1 ORDER BY "createdAt" DESC, "id"`,
    [tenant],
  )
}

export type NewKey = Pick<SigningKeyRow, 'id' | 'alg' | 'publicJwk' | 'privateKey'>

/**
 * Adds keys that sign from `activeAt` on. Each is later than all that the tenant has, whichever transaction began first:
 * of two keys, the later one is the successor.
 */
export async function insertSigningKeys(
  sql: Sql,
  tenant: string,
  keys: readonly NewKey[],
  activeAt: Date,
): Promise<void> {
  await sql(
    `INSERT INTO "SigningKey" ("tenantId", "id", "alg", "publicJwk", "privateKey", "activeAt", "createdAt")
     SELECT $1, k."id", k."alg", k."publicJwk", k."privateKey", $3::timestamptz, GREATEST(clock_timestamp(),
       (SELECT max("createdAt") + interval '1 millisecond' FROM "SigningKey" WHERE "tenantId" = $1))
     FROM jsonb_to_recordset($2::jsonb) AS k("id" text, "alg" text, "publicJwk" jsonb, "privateKey" text)`,
    [tenant, JSON.stringify(keys), activeAt.toISOString()],
  )
}

/** Ends the publication of the keys of some algorithms at `expiresAt`, unless it ends earlier. */
export async function retireSigningKeys(
  sql: Sql,
  tenant: string,
  algs: readonly SigningAlgorithm[],
  expiresAt: Date,
): Promise<void> {
  await sql(
    `UPDATE "SigningKey" SET "expiresAt" = LEAST("expiresAt", $3::timestamptz)
     WHERE "tenantId" = $1 AND "alg" = ANY($2::text[])`,
    [tenant, algs, expiresAt],
  )
}

/** Takes the keys of a tenant that would sign only after `activeAt`, and have not signed yet by a clock that is this far ahead. */
export async function deleteOvertakenKeys(
  sql: Sql,
  tenant: string,
  activeAt: Date,
  latestClock: Date,
): Promise<void> {
  await sql(
    `DELETE FROM "SigningKey" WHERE "tenantId" = $1 AND "activeAt" > GREATEST($2::timestamptz, $3::timestamptz)`,
    [tenant, activeAt, latestClock],
  )
}

/** Takes all keys of a tenant. */
export async function deleteSigningKeys(sql: Sql, tenant: string): Promise<void> {
  await sql(`DELETE FROM "SigningKey" WHERE "tenantId" = $1`, [tenant])
}

/** What a tenant has of an algorithm. */
export type AlgorithmKeys = {
  alg: SigningAlgorithm
  /** Since when its last key signs, or from when on. */
  activeAt: Date
  /** How many are published that have a successor, and when the first of them goes. */
  retiring: number
  nextExpiresAt: Date | null
}

/** The algorithms that a tenant has keys of, each once, by name. */
export function selectAlgorithms(sql: Sql, tenant: string, now: Date): Promise<AlgorithmKeys[]> {
  return sql(
    `SELECT "alg", max("activeAt") FILTER (WHERE "expiresAt" IS NULL) AS "activeAt",
       (count(*) FILTER (WHERE "expiresAt" > $2::timestamptz))::int AS "retiring",
       min("expiresAt") FILTER (WHERE "expiresAt" > $2::timestamptz) AS "nextExpiresAt"
     FROM "SigningKey" WHERE "tenantId" = $1 GROUP BY "alg" ORDER BY "alg"`,
    [tenant, now.toISOString()],
  )
}

/** Tenants that have keys without a successor which have signed since before `before`. */
export async function selectTenantsWithDueKeys(
  sql: Sql,
  system: string,
  before: Date,
  limit: number,
): Promise<string[]> {
  const rows = await sql<{ tenantId: string }>(
    `SELECT DISTINCT "tenantId" FROM "SigningKey"
     WHERE $1 = 'system' AND "expiresAt" IS NULL AND "activeAt" <= $2::timestamptz LIMIT $3::int`,
    [system, before, limit],
  )
  return rows.map(({ tenantId }) => tenantId)
}
