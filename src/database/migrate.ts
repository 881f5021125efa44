import { createHash, randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import pg from 'pg'
import { PACKAGE_ROOT } from '../core/package-root.ts'

const MIGRATIONS_URL = new URL('prisma/migrations/', PACKAGE_ROOT)
/** An arbitrary constant that every version of Vestibule uses. */
const LOCK_KEY = 7_305_110_517

type Migration = { name: string; sql: string; checksum: string }

function readMigrations(): Migration[] {
  return readdirSync(MIGRATIONS_URL, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort()
    .map((name) => {
      const sql = readFileSync(new URL(`${name}/migration.sql`, MIGRATIONS_URL), 'utf8')
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') }
    })
}

/** Prisma's own table and columns, so that its tools read the same history. */
const HISTORY_TABLE = `
CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
    "id" VARCHAR(36) PRIMARY KEY NOT NULL,
    "checksum" VARCHAR(64) NOT NULL,
    "finished_at" TIMESTAMPTZ,
    "migration_name" VARCHAR(255) NOT NULL,
    "logs" TEXT,
    "rolled_back_at" TIMESTAMPTZ,
    "started_at" TIMESTAMPTZ NOT NULL DEFAULT now(),
    "applied_steps_count" INTEGER NOT NULL DEFAULT 0
)`

/**
 * Compares the history of a database with the migrations of this version: those that were not applied yet, in order, those
 * that were changed after it, and the applied ones that this version does not have.
 */
export async function compareMigrations(
  client: pg.ClientBase,
): Promise<{ pending: Migration[]; changed: string[]; unknown: string[] }> {
  const history = await client.query<{ migration_name: string; checksum: string }>(
    'SELECT migration_name, checksum FROM "_prisma_migrations" WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL',
  )
  const applied = new Map(history.rows.map((row) => [row.migration_name, row.checksum]))
  const own = readMigrations()
  const names = new Set(own.map(({ name }) => name))
  return {
    pending: own.filter(({ name }) => !applied.has(name)),
    changed: own
      .filter(({ name, checksum }) => applied.has(name) && applied.get(name) !== checksum)
      .map(({ name }) => name),
    unknown: [...applied.keys()].filter((name) => !names.has(name)),
  }
}

/** The migrations that were not applied yet, in order. Throws when an applied one was changed. */
async function findPendingMigrations(client: pg.Client): Promise<Migration[]> {
  await client.query(HISTORY_TABLE)
  const { pending, changed } = await compareMigrations(client)
  if (changed[0] !== undefined)
    throw new Error(`migration ${changed[0]} was changed after it had been applied`)
  return pending
}

async function applyMigration(client: pg.Client, { name, sql, checksum }: Migration): Promise<void> {
  const applied = client.query(sql).catch((error: unknown) => {
    throw new Error(`migration ${name} failed; nothing was applied`, { cause: error })
  })
  const recorded = client.query(
    `INSERT INTO "_prisma_migrations" (id, checksum, migration_name, finished_at, applied_steps_count)
     VALUES ($1, $2, $3, clock_timestamp(), 1)`,
    [randomUUID(), checksum, name],
  )
  // Both may fail in one read of the socket: the first explains the second.
  recorded.catch(() => {})
  await applied
  await recorded
}

/**
 * Starts a new era of the event log when this cluster is not the one that last wrote the log. After a
 * restore, transaction ids start again, so that positions of the two clusters must not be compared.
 */
const RECORD_CLUSTER = `
INSERT INTO "_vestibule_cluster" ("id", "systemIdentifier", "era")
SELECT true, system_identifier::text, 1 FROM pg_control_system()
ON CONFLICT ("id") DO UPDATE SET "systemIdentifier" = EXCLUDED."systemIdentifier", "era" = "_vestibule_cluster"."era" + 1
WHERE "_vestibule_cluster"."systemIdentifier" <> EXCLUDED."systemIdentifier"
   OR EXISTS (
     SELECT FROM "Tenant" t CROSS JOIN LATERAL (
       SELECT "era", "xid" FROM "Event" e WHERE e."tenantId" = t."tenantId"
       ORDER BY e."era" DESC, e."xid" DESC, e."seq" DESC LIMIT 1
     ) last
     WHERE last."era" = "_vestibule_cluster"."era"
       AND last."xid" >= (pg_snapshot_xmax(pg_current_snapshot())::text)::bigint
   )`

/** Migrations that were sent. `applied` resolves with their names when they have been committed. */
export type SentMigrations = { applied: Promise<string[]> }

/**
 * Sends the pending migrations of prisma/migrations, to be applied in one transaction under an advisory lock. All are
 * sent at once, so that the server applies them while this process does other work. Sends no startup options to a
 * pooler (`isPooled`). Throws when an applied migration was changed. `applied` rejects when a migration fails; nothing
 * is applied then. See docs/decisions/0004.
 */
export async function sendMigrations(
  settings: pg.ClientConfig,
  { isPooled = false } = {},
): Promise<SentMigrations> {
  const client = new pg.Client({
    ...settings,
    ...(!isPooled && { options: '-c timezone=UTC' }),
    pipeline: true,
  })
  client.on('error', () => {}) // a lost connection: the statement that waits for it rejects
  await client.connect()
  try {
    await client.query('BEGIN')
    // Behind a pooler, the role has timeouts; a migration takes as long as it takes.
    await client.query('SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0')
    await client.query(`SELECT pg_advisory_xact_lock(${LOCK_KEY})`)
    const pending = await findPendingMigrations(client)
    const applied = commitMigrations(client, pending).finally(() => client.end())
    // The caller may look at it later.
    applied.catch(() => {})
    return { applied }
  } catch (error) {
    await client.end()
    throw error
  }
}

async function commitMigrations(client: pg.Client, pending: readonly Migration[]): Promise<string[]> {
  const steps = [
    ...pending.map((migration) => applyMigration(client, migration)),
    client.query(RECORD_CLUSTER),
    client.query('COMMIT'),
  ]
  // After the error of one, those that follow fail because of it.
  const failed = (await Promise.allSettled(steps)).find(({ status }) => status === 'rejected')
  if (failed) throw (failed as PromiseRejectedResult).reason
  return pending.map(({ name }) => name)
}

/** Applies the pending migrations as `sendMigrations` does, and returns their names. */
export const runMigrations = async (
  settings: pg.ClientConfig,
  options: { isPooled?: boolean } = {},
): Promise<string[]> => (await sendMigrations(settings, options)).applied
