/**
 * Writes the migration that leads from prisma/migrations to schema.prisma.
 *
 * npm run db:diff prints the statements, and nothing if the migrations lead there already
 * npm run db:diff -- add-user-nickname writes prisma/migrations/<time>_add_user_nickname/migration.sql
 * npm run db:diff -- --print prints the SQL of the whole schema, from empty
 *
 * Prisma's own engine binary is a download that closed networks refuse, so this drives the same engine built
 * as WebAssembly. That is internal API: it writes migrations and has no place in the product. It creates a
 * scratch database on the PostgreSQL of TEST_DATABASE_URL, or on an embedded one if that does not answer. The
 * engine knows no triggers or functions: read what it wrote before committing it. Text is compared bytewise, so that its
 * columns get the collation "C".
 */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { PrismaPg } from '@prisma/adapter-pg'
import type { DiffTarget, SchemaEngine, SchemasContainer } from '@prisma/schema-engine-wasm'
import pg from 'pg'
import { openAdminServer } from '../test/support/admin-server.ts'
import { createDatabase, dropDatabase, withConnection } from '../test/support/databases.ts'

const CHAR_OID = 18
const TEXT_OID = 25
const COLUMN_TYPE_CHARACTER = 6
const EMPTY_MIGRATION = '-- This is an empty migration.'
const migrationsUrl = new URL('migrations/', import.meta.url)

// Node has it; @types/node 20 does not say so.
declare const WebAssembly: {
  instantiate(bytes: Uint8Array, imports: object): Promise<{ instance: { exports: Record<string, unknown> } }>
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { print: { type: 'boolean', default: false }, schema: { type: 'string' } },
    allowPositionals: true,
  })
  const schemaUrl = values.schema ? pathToFileURL(values.schema) : new URL('schema.prisma', import.meta.url)
  const schema = { files: [{ path: 'schema.prisma', content: await readFile(schemaUrl, 'utf8') }] }
  const [title] = positionals
  const server = await openAdminServer()
  try {
    if (values.print) process.stdout.write(await diff(server.url, { tag: 'empty' }, schema))
    else await writeMigration(server.url, title, schema)
  } finally {
    await server.close()
  }
}

/** Prints the migration, and writes it if it has a title. */
async function writeMigration(
  adminUrl: string,
  title: string | undefined,
  schema: SchemasContainer,
): Promise<void> {
  const sql = await withScratchDatabase(adminUrl, async (url) => {
    const externalTables = await applyMigrations(url)
    return diff(url, { tag: 'schemaDatasource', configDir: '.', ...schema }, schema, externalTables)
  })
  if (sql.trim() === EMPTY_MIGRATION) return
  const migration = sql.replaceAll(/\bTEXT(\[\])?(?! COLLATE)/g, 'TEXT$1 COLLATE "C"')
  process.stdout.write(migration)
  if (!title) return
  const stamp = new Date().toISOString().replace(/\D/g, '').slice(0, 14)
  const folder = new URL(`${stamp}_${title.toLowerCase().replace(/[^a-z0-9]+/g, '_')}/`, migrationsUrl)
  await mkdir(folder, { recursive: true })
  await writeFile(new URL('migration.sql', folder), migration)
  console.log(`\nWritten to ${new URL('migration.sql', folder).pathname}. Read it before committing.`)
}

/** The statements that turn the schema `from` into the one of `to`. */
async function diff(
  connectionString: string,
  from: DiffTarget,
  to: SchemasContainer,
  externalTables: string[] = [],
): Promise<string> {
  const engine = await openEngine(connectionString, to)
  try {
    const filters = { externalTables, externalEnums: [] }
    const target: DiffTarget = { tag: 'schemaDatamodel', ...to }
    const result = await engine.diff({ from, to: target, script: true, exitCode: null, filters })
    return result.stdout ?? ''
  } finally {
    engine.free()
  }
}

/** Where the engine leaves the message of a panic; without it a panic shows as a TypeError. */
Object.assign(globalThis, {
  PRISMA_WASM_PANIC_REGISTRY: { set_message: (text: string) => console.error(text) },
})

async function openEngine(connectionString: string, { files }: SchemasContainer): Promise<SchemaEngine> {
  // The package's own entry imports the .wasm file as a module, which Node 20 cannot; so instantiate by hand.
  const glueUrl = import.meta.resolve('@prisma/schema-engine-wasm/schema_engine_bg')
  const glue = await import(glueUrl)
  const wasm = await readFile(new URL('schema_engine_bg.wasm', glueUrl))
  const { instance } = await WebAssembly.instantiate(wasm, { './schema_engine_bg.js': glue })
  glue.__wbg_set_wasm(instance.exports)
  ;(instance.exports.__wbindgen_start as () => void)()
  // Taken through adapter-pg: both must be the same copy, and the engine wants the wrapped form of the
  // factory.
  const adapterRequire = createRequire(import.meta.resolve('@prisma/adapter-pg'))
  const { bindMigrationAwareSqlAdapterFactory } = adapterRequire('@prisma/driver-adapter-utils')
  const datamodels = files.map(({ path, content }) => [path, content])
  const ignoreLog = () => {}
  return glue.SchemaEngine.new(
    { datamodels },
    ignoreLog,
    // The pool is never closed: without this option its idle connection delays the exit by ten seconds.
    bindMigrationAwareSqlAdapterFactory(new CatalogReader({ connectionString, allowExitOnIdle: true })),
  )
}

type Query = Parameters<SqlDriverAdapter['queryRaw']>[0]
type SqlDriverAdapter = Awaited<ReturnType<PrismaPg['connect']>>
type PgAdapter = Pick<SqlDriverAdapter, 'queryRaw'> & {
  performIO(query: Query): Promise<pg.QueryArrayResult>
}

/**
 * adapter-pg refuses the one-byte type "char" of the system catalogs, and the engine takes it as Character
 * only.
 */
class CatalogReader extends PrismaPg {
  override async connect(): Promise<SqlDriverAdapter> {
    const connected = await super.connect()
    const adapter = connected as unknown as PgAdapter
    const { queryRaw } = adapter
    adapter.queryRaw = async (query) => {
      const charColumns: number[] = []
      const performIO = async (io: Query) => {
        const result = await adapter.performIO(io)
        for (const [index, field] of result.fields.entries()) {
          if (field.dataTypeID !== CHAR_OID) continue
          charColumns.push(index)
          field.dataTypeID = TEXT_OID
        }
        return result
      }
      const rows = await queryRaw.call(Object.assign(Object.create(adapter), { performIO }), query)
      for (const index of charColumns) rows.columnTypes[index] = COLUMN_TYPE_CHARACTER
      return rows
    }
    return connected
  }
}

/** Returns the tables that are not the schema's business: by convention those whose name starts with `_`. */
async function applyMigrations(connectionString: string): Promise<string[]> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    const entries = await readdir(migrationsUrl, { withFileTypes: true })
    const folders = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
    for (const folder of folders.sort()) {
      await client.query(await readFile(new URL(`${folder}/migration.sql`, migrationsUrl), 'utf8'))
    }
    const { rows } = await client.query(
      "SELECT schemaname || '.' || tablename AS name FROM pg_tables WHERE schemaname = 'public' AND left(tablename, 1) = '_'",
    )
    // The engine takes the expression of a generated column for a default, which schema.prisma does not have.
    const { rows: generated } = await client.query(
      `SELECT format('ALTER TABLE %I ALTER COLUMN %I DROP EXPRESSION', table_name, column_name) AS statement
       FROM information_schema.columns WHERE table_schema = 'public' AND is_generated = 'ALWAYS'`,
    )
    for (const { statement } of generated) await client.query(statement)
    return rows.map((row) => row.name)
  } finally {
    await client.end()
  }
}

async function withScratchDatabase<T>(adminUrl: string, use: (url: string) => Promise<T>): Promise<T> {
  const name = `vestibule_diff_${process.pid}`
  return withConnection(adminUrl, async (admin) => {
    try {
      await createDatabase(admin, name)
      const url = new URL(adminUrl)
      url.pathname = `/${name}`
      return await use(url.href)
    } finally {
      await dropDatabase(admin, name)
    }
  })
}

await main()
