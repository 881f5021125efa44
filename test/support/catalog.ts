import type pg from 'pg'
import { withConnection } from './databases.ts'
import { test as base } from './fixtures.ts'

/** `test` with reads of PostgreSQL's catalog, which has no tenants. */
export const test = base.extend(
  'readCatalog',
  { scope: 'file' },
  ({ app: _ }) =>
    async <Row extends pg.QueryResultRow>(text: string): Promise<Row[]> =>
      withConnection(process.env.DATABASE_URL ?? '', async (client) => (await client.query<Row>(text)).rows),
)

/** The history of migrations, and the id of the cluster that the event log is written in. */
export const OUTSIDE_TENANTS = ['_prisma_migrations', '_vestibule_cluster']

/** Indexes on expressions, which schema.prisma cannot express. */
export const ONLY_IN_MIGRATIONS = ['Event_subject_idx']

/** Columns, indexes and constraints as sorted lines. Collations and functions are in the migrations only. */
export const CATALOG = `
  SELECT 'column ' || table_name || '.' || column_name || ' ' || udt_name || ' ' || is_nullable || ' ' || COALESCE(column_default, '') AS line
  FROM information_schema.columns WHERE table_schema = current_schema() AND table_name NOT LIKE '\\_%'
  UNION ALL SELECT 'index ' || replace(indexdef, current_schema() || '.', '') FROM pg_indexes
  WHERE schemaname = current_schema() AND tablename NOT LIKE '\\_%'
  UNION ALL SELECT 'constraint ' || conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) FROM pg_constraint
  WHERE connamespace = current_schema()::regnamespace AND conrelid::regclass::text NOT LIKE '%\\_%' AND contype <> 'n'
  ORDER BY 1`
