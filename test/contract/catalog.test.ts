import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import pg from 'pg'
import { describe, expect, inject } from 'vitest'
import { Prisma } from '../../src/generated/prisma/client.ts'
import { test } from '../support/catalog.ts'
import { createDatabase, dropDatabase } from '../support/databases.ts'

/** The history of migrations, and the id of the cluster that the event log is written in. */
const OUTSIDE_TENANTS = ['_prisma_migrations', '_vestibule_cluster']

/** Indexes on expressions, which schema.prisma cannot express. */
const ONLY_IN_MIGRATIONS = ['Event_ip_idx', 'Event_subject_idx']

/** Columns, indexes and constraints as sorted lines. Collations and functions are in the migrations only. */
const CATALOG = `
  SELECT 'column ' || table_name || '.' || column_name || ' ' || udt_name || ' ' || is_nullable || ' ' || COALESCE(column_default, '') AS line
  FROM information_schema.columns WHERE table_schema = current_schema() AND table_name NOT LIKE '\\_%'
  UNION ALL SELECT 'index ' || replace(indexdef, current_schema() || '.', '') FROM pg_indexes
  WHERE schemaname = current_schema() AND tablename NOT LIKE '\\_%'
  UNION ALL SELECT 'constraint ' || conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) FROM pg_constraint
  WHERE connamespace = current_schema()::regnamespace AND conrelid::regclass::text NOT LIKE '%\\_%' AND contype <> 'n'
  ORDER BY 1`

/** What `npm run db:diff` prints. */
async function runDiff(...options: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--import', 'tsx', 'prisma/diff.ts', ...options],
    { env: { ...process.env, TEST_DATABASE_URL: inject('database').adminUrl } },
  )
  return stdout
}

describe('the migrated database', () => {
  test('starts every primary, unique and foreign key with tenantId, on both sides', async ({
    readCatalog,
  }) => {
    const keys = await readCatalog<{ table: string; name: string; first: string; references: string | null }>(
      `SELECT c.conrelid::regclass::text AS "table", c.conname AS "name",
       (SELECT attname FROM pg_attribute WHERE attrelid = c.conrelid AND attnum = c.conkey[1]) AS "first",
       (SELECT attname FROM pg_attribute WHERE attrelid = c.confrelid AND attnum = c.confkey[1]) AS "references"
     FROM pg_constraint c WHERE c.contype IN ('p', 'u', 'f') AND c.connamespace = current_schema()::regnamespace`,
    )
    const uniqueIndexes = await readCatalog<{ table: string; name: string; first: string; references: null }>(
      `SELECT i.indrelid::regclass::text AS "table", i.indexrelid::regclass::text AS "name",
       (SELECT attname FROM pg_attribute WHERE attrelid = i.indrelid AND attnum = i.indkey[0]) AS "first", NULL AS "references"
     FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
     WHERE i.indisunique AND c.relnamespace = current_schema()::regnamespace`,
    )
    const all = [...keys, ...uniqueIndexes].filter(
      ({ table }) => !OUTSIDE_TENANTS.includes(table.replaceAll('"', '')),
    )
    expect(all.length).toBeGreaterThan(30)
    expect(
      all.filter((key) => key.first !== 'tenantId' || ![null, 'tenantId'].includes(key.references)),
    ).toEqual([])
  })

  test('has no foreign key that sets its columns to null, which would unset the tenant', async ({
    readCatalog,
  }) => {
    const setters = await readCatalog<{ name: string }>(
      `SELECT conname AS "name" FROM pg_constraint WHERE contype = 'f' AND confdeltype IN ('n', 'd')`,
    )
    expect(setters).toEqual([])
  })

  test('compares text bytewise and stores times as timestamptz(3), for any settings of the cluster', async ({
    readCatalog,
  }) => {
    const columns = await readCatalog<{
      table: string
      column: string
      type: string
      collation: string | null
      precision: number | null
    }>(
      `SELECT table_name AS "table", column_name AS "column", data_type AS "type", collation_name AS "collation",
       datetime_precision AS "precision"
     FROM information_schema.columns WHERE table_schema = current_schema() AND table_name NOT LIKE '\\_%'`,
    )
    const offending = columns.filter(
      ({ type, collation, precision }) =>
        (type === 'text' && collation !== 'C') ||
        type.startsWith('character') ||
        (type.startsWith('timestamp') && (type !== 'timestamp with time zone' || precision !== 3)),
    )
    expect(columns.length).toBeGreaterThan(150)
    expect(offending).toEqual([])
  })

  test('has the tables and columns of schema.prisma and no others', async ({ readCatalog }) => {
    const columns = await readCatalog<{ table: string; column: string }>(
      `SELECT table_name AS "table", column_name AS "column" FROM information_schema.columns
     WHERE table_schema = current_schema() AND table_name NOT LIKE '\\_%'`,
    )
    const inDatabase = columns.map(({ table, column }) => `${table}.${column}`).sort()
    const inSchema = Object.keys(Prisma.ModelName)
      .flatMap((model) => {
        const fields = (Prisma as unknown as Record<string, object>)[`${model}ScalarFieldEnum`] ?? {}
        return Object.keys(fields).map((field) => `${model}.${field}`)
      })
      .sort()
    expect(inDatabase).toEqual(inSchema)
  })

  test.skipIf(!process.env.DATABASE_URL)(
    'has the columns, indexes and constraints that schema.prisma creates, and db:diff finds nothing to write',
    async () => {
      const fresh = new URL(process.env.DATABASE_URL as string)
      fresh.pathname = `${fresh.pathname}_fresh`
      const name = fresh.pathname.slice(1)
      const migrated = new pg.Client({ connectionString: process.env.DATABASE_URL })
      await migrated.connect()
      await createDatabase(migrated, name)
      const made = new pg.Client({ connectionString: fresh.href })
      try {
        await made.connect()
        const [statements, missing] = await Promise.all([runDiff('--print'), runDiff()])
        expect(missing).toBe('')
        await made.query('CREATE FUNCTION event_era() RETURNS INTEGER LANGUAGE sql AS $$ SELECT 1 $$')
        await made.query(statements)
        const [ours, theirs] = await Promise.all([migrated.query(CATALOG), made.query(CATALOG)])
        expect(ours.rows.length).toBeGreaterThan(250)
        const isOfSchema = ({ line }: { line: string }) =>
          !ONLY_IN_MIGRATIONS.some((name) => line.includes(name))
        expect(ours.rows.filter(isOfSchema)).toEqual(theirs.rows)
        expect(ours.rows.length - theirs.rows.length).toBe(ONLY_IN_MIGRATIONS.length)
      } finally {
        await made.end()
        await dropDatabase(migrated, name)
        await migrated.end()
      }
    },
  )
})
