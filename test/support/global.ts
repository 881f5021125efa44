import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import pg from 'pg'
import type { TestProject } from 'vitest/node'

/** What the test processes need to make a database of their own. */
export type TestDatabase =
  | { kind: 'postgres'; adminUrl: string; redisUrl: string; template: string; prefix: string }
  | { kind: 'embedded'; templateDirectory: string }

declare module 'vitest' {
  interface ProvidedContext {
    database: TestDatabase
  }
}

const PROBE_TIMEOUT_MS = 2000
/** A database of a dead run is left alone this long: its pid may be of another machine that shares the server. */
const STALE_AFTER_SECONDS = 3600
const NAME_PATTERN = /^vestibule_test_(?:template_)?(\d+)_(\d+)(?:_|$)/

const adminUrl = process.env.TEST_DATABASE_URL ?? 'postgresql://postgres@127.0.0.1:5432/postgres'
const redisUrl = process.env.TEST_REDIS_URL ?? 'redis://127.0.0.1:6379'
const run = `${process.pid}_${Math.floor(Date.now() / 1000)}`

/** Makes a migrated template once per run: on PostgreSQL and Redis where both answer, else embedded. Under CI=true the
 *  embedded database is used only on request (VESTIBULE_TEST_DATABASE=embedded). Returns the teardown. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  if (process.env.VESTIBULE_TEST_DATABASE === 'embedded') return prepareEmbedded(project)
  const faults = (await Promise.all([probePostgres(), probeRedis()])).filter((fault) => fault !== null)
  if (faults.length === 0) return preparePostgres(project)
  if (process.env.CI === 'true') throw new Error(`CI needs PostgreSQL and Redis: ${faults.join('; ')}`)
  process.stderr.write(`Testing on the embedded database: ${faults.join('; ')}\n`)
  return prepareEmbedded(project)
}

async function preparePostgres(project: TestProject): Promise<() => Promise<void>> {
  const template = `vestibule_test_template_${run}`
  await dropDatabases(isStale)
  await withAdmin((admin) => admin.query(`CREATE DATABASE ${template}`))
  const connection = new URL(adminUrl)
  connection.pathname = `/${template}`
  await runMigrations({ connectionString: connection.href })
  // Nobody may stay connected to a template that is being copied.
  await withAdmin((admin) => admin.query(`ALTER DATABASE ${template} ALLOW_CONNECTIONS false`))
  project.provide('database', {
    kind: 'postgres',
    adminUrl,
    redisUrl,
    template,
    prefix: `vestibule_test_${run}`,
  })
  return () => dropDatabases((name) => name === template || name.startsWith(`vestibule_test_${run}_`))
}

async function prepareEmbedded(project: TestProject): Promise<() => Promise<void>> {
  setEnvironment()
  const templateDirectory = await mkdtemp(join(tmpdir(), 'vestibule-template-'))
  const { openEmbedded } = await import('../../src/embedded.ts')
  const embedded = await openEmbedded(templateDirectory)
  await runMigrations(embedded.connection)
  await embedded.close()
  project.provide('database', { kind: 'embedded', templateDirectory })
  return () => rm(templateDirectory, { recursive: true, force: true })
}

async function runMigrations(connection: pg.ClientConfig): Promise<void> {
  setEnvironment()
  // Imported only now: src/env.ts reads the environment when it is loaded.
  const { migrate } = await import('../../src/migrate.ts')
  await migrate(connection)
}

function setEnvironment(): void {
  process.env.LOG_LEVEL ??= 'silent'
}

async function withAdmin<T>(use: (admin: pg.Client) => Promise<T>): Promise<T> {
  const admin = new pg.Client({ connectionString: adminUrl, connectionTimeoutMillis: PROBE_TIMEOUT_MS })
  await admin.connect()
  try {
    return await use(admin)
  } finally {
    await admin.end()
  }
}

async function dropDatabases(isDroppable: (name: string) => boolean): Promise<void> {
  await withAdmin(async (admin) => {
    const { rows } = await admin.query<{ datname: string }>(
      "SELECT datname FROM pg_database WHERE datname LIKE 'vestibule\\_test\\_%'",
    )
    for (const { datname } of rows) {
      if (isDroppable(datname)) await admin.query(`DROP DATABASE IF EXISTS "${datname}" WITH (FORCE)`)
    }
  })
}

function isStale(name: string): boolean {
  const match = NAME_PATTERN.exec(name)
  if (!match) return false
  const [pid, startedAtSeconds] = [Number(match[1]), Number(match[2])]
  return Date.now() / 1000 - startedAtSeconds > STALE_AFTER_SECONDS && !isRunning(pid)
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** null when it answers, else what is wrong. */
async function probePostgres(): Promise<string | null> {
  return withAdmin((admin) => admin.query('SELECT 1')).then(
    () => null,
    (error) => `PostgreSQL (TEST_DATABASE_URL): ${reasonOf(error)}`,
  )
}

async function probeRedis(): Promise<string | null> {
  const options = { lazyConnect: true, retryStrategy: () => null, connectTimeout: PROBE_TIMEOUT_MS }
  const redis = new Redis(redisUrl, options)
  let connectionError: unknown
  redis.on('error', (error) => {
    connectionError = error
  })
  try {
    await redis.connect()
    await redis.ping()
    return null
  } catch (error) {
    return `Redis (TEST_REDIS_URL): ${reasonOf(connectionError ?? error)}`
  } finally {
    redis.disconnect()
  }
}

const reasonOf = (error: unknown): string =>
  (error as NodeJS.ErrnoException).code ?? (error instanceof Error ? error.message : String(error))
