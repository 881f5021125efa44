import { SETTINGS } from '../access/tenant.sql.ts'
import type { Db, Tx } from '../database/handle.ts'
import { declareTenantLock } from '../database/row-locks.sql.ts'
import { type RowOf, statement } from '../database/statement.ts'

const LOCK_TENANT = declareTenantLock(['tenantId', ...SETTINGS, 'updatedAt', 'createdAt'])

/** Locks the row of the tenant against other changes until the transaction ends; null without one. */
export const lockTenant = (tx: Tx): Promise<RowOf<typeof LOCK_TENANT> | null> => tx.one(LOCK_TENANT)

/** A large tenant takes longer than the ten seconds that a request's statement gets. */
export const DELETION_TIMEOUT_MS = 600_000

// The first column makes it a query: a pooler may take a lone set_config for a SET, which has no rows.
const ALLOW_LONG_STATEMENT = statement({ returns: { tenantId: 'text', timeout: 'text' } })`
  SELECT "tenantId", set_config('statement_timeout', '${DELETION_TIMEOUT_MS}', true) AS "timeout"
  FROM "Tenant" WHERE "tenantId" = :tenant`

/** Gives the statements of the transaction the time that a deletion takes. */
export const allowLongStatements = (tx: Tx): Promise<void> => tx.run(ALLOW_LONG_STATEMENT)

const DELETE_LOOSE_ROWS = statement({})`
  WITH events AS (DELETE FROM "Event" WHERE "tenantId" = :tenant),
    interactions AS (DELETE FROM "Interaction" WHERE "tenantId" = :tenant),
    proofs AS (DELETE FROM "UsedProof" WHERE "tenantId" = :tenant)
  DELETE FROM "Passcode" WHERE "tenantId" = :tenant`

const DELETE_COUNTS = statement({})`
  WITH users AS (DELETE FROM "UserCount" WHERE "tenantId" = :tenant),
    ranges AS (DELETE FROM "UserRange" WHERE "tenantId" = :tenant),
    marks AS (DELETE FROM "EventMark" WHERE "tenantId" = :tenant)
  DELETE FROM "UncountedEvent" WHERE "tenantId" = :tenant`

/**
 * A job that counts events waits for the rows that this deletes: they are deleted last. It waits for the job, whose counters
 * a statement of its own sees.
 */
const DELETE_DAYS = statement({})`DELETE FROM "DailyCount" WHERE "tenantId" = :tenant`

/**
 * Deletes rows that no foreign key ties to the tenant. Runs after the tenant's row is deleted, because the
 * trigger that counts users writes during that; and before a tenant is created, because a request that was in
 * progress while the slug's former tenant was deleted may have left rows.
 */
export async function deleteUnreferencedRows(db: Db): Promise<void> {
  await db.run(DELETE_LOOSE_ROWS)
  await db.run(DELETE_COUNTS)
  await db.run(DELETE_DAYS)
}
