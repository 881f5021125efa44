import type { JWK } from 'jose'
import type { Db } from '../database/handle.ts'
import { declareTenantLock } from '../database/row-locks.sql.ts'
import { type RowOf, statement, typed } from '../database/statement.ts'
import type { SigningAlgorithm } from './signing-algorithms.ts'

export type SigningKeyRow = RowOf<typeof SELECT_KEYS>

const SELECT_KEYS = statement({
  shared: true,
  returns: {
    /** The kid. */
    id: 'text',
    alg: typed<SigningAlgorithm>('text'),
    publicJwk: typed<JWK>('jsonb'),
    /** Sealed PKCS #8. */
    privateKey: 'text',
    activeAt: 'timestamptz',
    /** Set once the key has a successor. */
    expiresAt: 'timestamptz?',
  },
})`
  SELECT "id", "alg", "publicJwk", "privateKey", "activeAt", "expiresAt" FROM "SigningKey"
  WHERE "tenantId" = :tenant ORDER BY "createdAt" DESC, "id"`

/** Returns all keys of a tenant, newest first, including those that are no longer published. */
export const selectSigningKeys = (db: Db): Promise<SigningKeyRow[]> => db.many(SELECT_KEYS)

/** A summary of the keys of one algorithm. */
export type AlgorithmKeys = RowOf<typeof SELECT_ALGORITHMS>

const SELECT_ALGORITHMS = statement({
  takes: { now: 'timestamptz' },
  returns: {
    alg: typed<SigningAlgorithm>('text'),
    /** When the newest key became or becomes active. */
    activeAt: 'timestamptz',
    /** The number of published keys that have a successor, and the time when the first of them expires. */
    retiring: 'int',
    nextExpiresAt: 'timestamptz?',
  },
})`
  SELECT "alg", max("activeAt") FILTER (WHERE "expiresAt" IS NULL) AS "activeAt",
    (count(*) FILTER (WHERE "expiresAt" > :now))::int AS "retiring",
    min("expiresAt") FILTER (WHERE "expiresAt" > :now) AS "nextExpiresAt"
  FROM "SigningKey" WHERE "tenantId" = :tenant GROUP BY "alg" ORDER BY "alg"`

/** Returns a summary of each algorithm that the tenant has keys of, by name. */
export const selectAlgorithms = (db: Db, now: Date): Promise<AlgorithmKeys[]> =>
  db.many(SELECT_ALGORITHMS, { now })

const SELECT_TENANTS_WITH_DUE_KEYS = statement({
  takes: { before: 'timestamptz', limit: 'int' },
  returns: { tenantId: 'text' },
})`
  SELECT DISTINCT "tenantId" FROM "SigningKey"
  WHERE :tenant = 'system' AND "expiresAt" IS NULL AND "activeAt" <= :before LIMIT :limit`

/**
 * Returns tenants with keys that have no successor and became active at `before` or earlier; at most `limit`.
 */
export async function selectTenantsWithDueKeys(db: Db, before: Date, limit: number): Promise<string[]> {
  const rows = await db.many(SELECT_TENANTS_WITH_DUE_KEYS, { before, limit })
  return rows.map(({ tenantId }) => tenantId)
}

const LOCK_TENANT = declareTenantLock(['tenantId'])

/** Locks the tenant's row until the transaction ends, to serialize work on the tenant. */
export const lockTenantRow = (db: Db): Promise<void> => db.run(LOCK_TENANT)
