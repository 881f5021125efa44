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

async function applyPendingMigrations(client: pg.Client): Promise<string[]> {
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

/**
 * Applies the pending migrations of prisma/migrations in one transaction under an advisory lock. Returns
 * their names. Sends no startup options to a pooler (`isPooled`). Throws when an applied migration was
 * changed or a migration fails; nothing is applied then.
 */
export async function runMigrations(settings: pg.ClientConfig, { isPooled = false } = {}): Promise<string[]> {
  const client = new pg.Client({ ...settings, ...(!isPooled && { options: '-c timezone=UTC' }) })
  client.on('error', () => {}) // a lost connection: the statement that waits for it rejects
  await client.connect()
  try {
    await client.query('BEGIN')
    // Behind a pooler, the role has timeouts; a migration takes as long as it takes.
    await client.query('SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0')
    await client.query(`SELECT pg_advisory_xact_lock(${LOCK_KEY})`)
    const names = await applyPendingMigrations(client)
    await client.query(RECORD_CLUSTER)
    await client.query('COMMIT')
    return names
  } finally {
    await client.end()
  }
}
