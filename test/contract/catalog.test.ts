import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sql } from '../../src/db.ts'
import { Prisma } from '../../src/generated/prisma/client.ts'
import { closeRuntime, openRuntime } from '../../src/runtime.ts'

beforeAll(openRuntime)
afterAll(closeRuntime)

/** The history of migrations, and the row that says which cluster the log was written in. */
const OUTSIDE_TENANTS = ['_prisma_migrations', '_vestibule_cluster']

test('every primary, unique and foreign key starts with tenantId, on both sides', async () => {
  const keys = await sql<{ table: string; name: string; first: string; references: string | null }>(
    `SELECT c.conrelid::regclass::text AS "table", c.conname AS "name",
       (SELECT attname FROM pg_attribute WHERE attrelid = c.conrelid AND attnum = c.conkey[1]) AS "first",
       (SELECT attname FROM pg_attribute WHERE attrelid = c.confrelid AND attnum = c.confkey[1]) AS "references"
     FROM pg_constraint c WHERE c.contype IN ('p', 'u', 'f') AND c.connamespace = current_schema()::regnamespace AND $1 <> ''`,
    ['catalog'],
  )
  const uniqueIndexes = await sql<{ table: string; name: string; first: string; references: null }>(
    `SELECT i.indrelid::regclass::text AS "table", i.indexrelid::regclass::text AS "name",
       (SELECT attname FROM pg_attribute WHERE attrelid = i.indrelid AND attnum = i.indkey[0]) AS "first", NULL AS "references"
     FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
     WHERE i.indisunique AND c.relnamespace = current_schema()::regnamespace AND $1 <> ''`,
    ['catalog'],
  )
  const all = [...keys, ...uniqueIndexes].filter(
    ({ table }) => !OUTSIDE_TENANTS.includes(table.replaceAll('"', '')),
  )
  expect(all.length).toBeGreaterThan(30)
  expect(
    all.filter((key) => key.first !== 'tenantId' || ![null, 'tenantId'].includes(key.references)),
  ).toEqual([])
})

test('no foreign key sets its columns null: that would unset the tenant', async () => {
  const setters = await sql<{ name: string }>(
    `SELECT conname AS "name" FROM pg_constraint WHERE contype = 'f' AND confdeltype IN ('n', 'd') AND $1 <> ''`,
    ['catalog'],
  )
  expect(setters).toEqual([])
})

test('text compares bytewise and times are timestamptz(3), whatever the cluster is set to', async () => {
  const columns = await sql<{
    table: string
    column: string
    type: string
    collation: string | null
    precision: number | null
  }>(
    `SELECT table_name AS "table", column_name AS "column", data_type AS "type", collation_name AS "collation",
       datetime_precision AS "precision"
     FROM information_schema.columns WHERE table_schema = current_schema() AND table_name NOT LIKE $1`,
    ['\\_%'],
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

test('the migrated database has the tables and columns of schema.prisma, and no others', async () => {
  const columns = await sql<{ table: string; column: string }>(
    `SELECT table_name AS "table", column_name AS "column" FROM information_schema.columns
     WHERE table_schema = current_schema() AND table_name NOT LIKE $1`,
    ['\\_%'],
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

test('every statement of the *.sql.ts files has the tenant as its first value', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.sql.ts'),
  )
  expect(files.length).toBeGreaterThan(3)
  const statements = files.flatMap((file) => {
    const source = readFileSync(`src/${file}`, 'utf8')
    return [...source.matchAll(/`[^`]*\b(?:SELECT|INSERT INTO|UPDATE|DELETE FROM)\b[^`]*`/g)].map(
      ([text]) => ({ file, text }),
    )
  })
  const others = statements.filter(
    ({ text }) => /\b(?:FROM|INTO|UPDATE) "/.test(text) && !/"tenantId"/.test(text),
  )
  expect(others).toEqual([])
})
