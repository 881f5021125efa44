import { createHash, randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import pg from 'pg'

const MIGRATIONS = new URL('../prisma/migrations/', import.meta.url)
/** Any constant will do, as long as every version of the program takes the same one. */
const LOCK_KEY = 7_305_110_517

type Migration = { name: string; sql: string; checksum: string }

function readMigrations(): Migration[] {
  return readdirSync(MIGRATIONS, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort()
    .map((name) => {
      const sql = readFileSync(new URL(`${name}/migration.sql`, MIGRATIONS), 'utf8')
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

async function applyPending(client: pg.Client): Promise<string[]> {
  await client.query(HISTORY_TABLE)
  const history = await client.query<{ migration_name: string; checksum: string }>(
    'SELECT migration_name, checksum FROM "_prisma_migrations" WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL',
  )
  const applied = new Map(history.rows.map((row) => [row.migration_name, row.checksum]))
  const names: string[] = []
  for (const migration of readMigrations()) {
    const checksum = applied.get(migration.name)
    if (checksum === migration.checksum) continue
    if (checksum) throw new Error(`migration ${migration.name} was changed after it had been applied`)
    await client.query(migration.sql).catch((error: unknown) => {
      throw new Error(`migration ${migration.name} failed; nothing was applied`, { cause: error })
    })
    await client.query(
      `INSERT INTO "_prisma_migrations" (id, checksum, migration_name, finished_at, applied_steps_count)
       VALUES ($1, $2, $3, clock_timestamp(), 1)`,
      [randomUUID(), migration.checksum, migration.name],
    )
    names.push(migration.name)
  }
  return names
}

/**
 * Opens a new era of the event log when this cluster is not the one that the log was last written in: after a
 * restore, transaction ids start anew, and positions of the two clusters must not be compared (events.ts).
 */
const ENTER_CLUSTER = `
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

/**
 * Applies the pending migrations of prisma/migrations in one transaction, one process at a time. Returns their names.
 * The lock is the transaction's: the embedded database shares one session among all, and so session locks.
 */
export async function migrate(settings: pg.ClientConfig): Promise<string[]> {
  const client = new pg.Client({ ...settings, options: '-c timezone=UTC' })
  await client.connect()
  try {
    await client.query('BEGIN')
    await client.query(`SELECT pg_advisory_xact_lock(${LOCK_KEY})`)
    const names = await applyPending(client)
    await client.query(ENTER_CLUSTER)
    await client.query('COMMIT')
    return names
  } finally {
    await client.end()
  }
}
