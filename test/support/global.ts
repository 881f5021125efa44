import { rm } from 'node:fs/promises'
import type pg from 'pg'
import type { TestProject } from 'vitest/node'
import { type AdminServer, openAdminServer } from './admin-server.ts'
import { buildClaimPath } from './build.ts'
import { createDatabase, dropDatabase, withConnection } from './databases.ts'
import { probeRedis, redisUrl } from './probe-redis.ts'

/** What the test processes need to make a database of their own. */
export type TestDatabase = {
  kind: 'postgres'
  adminUrl: string
  /** null for a run without Redis */
  redisUrl: string | null
  template: string
  prefix: string
}

declare module 'vitest' {
  interface ProvidedContext {
    database: TestDatabase
  }
}

/** A database of an ended run is kept for this time, because the pid may belong to another machine. */
const STALE_AFTER_SECONDS = 3600
const DROPS_AT_ONCE = 8
const NAME_PATTERN = /^vestibule_test_(?:template_)?(\d+)_(\d+)(?:_|$)/

const run = `${process.pid}_${Math.floor(Date.now() / 1000)}`

/**
 * Creates a migrated template database once per run: on PostgreSQL if it answers, else on an embedded server
 * of this run; with Redis if that answers. CI=true requires both. Returns the teardown.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const [server, redis] = await Promise.all([openAdminServer(), probeRedis()])
  const postgres = server.missing && `PostgreSQL (TEST_DATABASE_URL): ${server.missing}`
  const missing = [postgres, redis].filter((reason) => reason !== null)
  if (missing.length > 0 && process.env.CI === 'true') {
    await server.close()
    throw new Error(`CI needs PostgreSQL and Redis: ${missing.join('; ')}`)
  }
  if (redis) process.stderr.write(`Testing without Redis: ${redis}\n`)
  if (postgres) process.stderr.write(`Testing on the embedded database: ${postgres}\n`)
  const dropAll = await prepareDatabases(project, server, redis ? null : redisUrl)
  return async () => {
    await rm(buildClaimPath(`vestibule_test_${run}`), { recursive: true, force: true })
    // An embedded server ends with its data.
    if (server.missing === null) await dropAll()
    await server.close()
  }
}

async function prepareDatabases(
  project: TestProject,
  { url: adminUrl }: AdminServer,
  redisUrl: string | null,
): Promise<() => Promise<void>> {
  const template = `vestibule_test_template_${run}`
  await dropDatabases(adminUrl, isStale)
  await withConnection(adminUrl, (admin) => createDatabase(admin, template))
  const connection = new URL(adminUrl)
  connection.pathname = `/${template}`
  await runMigrations({ connectionString: connection.href })
  // No client may be connected to a template that is being copied.
  await withConnection(adminUrl, (admin) => admin.query(`ALTER DATABASE ${template} ALLOW_CONNECTIONS false`))
  project.provide('database', {
    kind: 'postgres',
    adminUrl,
    redisUrl,
    template,
    prefix: `vestibule_test_${run}`,
  })
  return async () => {
    await dropDatabases(adminUrl, (name) => name === template || name.startsWith(`vestibule_test_${run}_`))
  }
}

async function runMigrations(connection: pg.ClientConfig): Promise<void> {
  setEnvironment()
  // Imported only now: src/core/env.ts reads the environment when it is loaded.
  const { runMigrations: migrate } = await import('../../src/database/migrate.ts')
  await migrate(connection)
}

function setEnvironment(): void {
  process.env.LOG_LEVEL ??= 'silent'
}

/**
 * Drops several databases at once, because each DROP waits for a checkpoint, which serves all. Skips databases of
 * other roles: only the owner may drop a database.
 */
async function dropDatabases(adminUrl: string, isDroppable: (name: string) => boolean): Promise<void> {
  const names = await withConnection(adminUrl, async (admin) => {
    const { rows } = await admin.query<{ datname: string }>(
      "SELECT datname FROM pg_database WHERE datname LIKE 'vestibule\\_test\\_%' AND pg_has_role(datdba, 'MEMBER')",
    )
    return rows.map(({ datname }) => datname).filter(isDroppable)
  })
  const dropNext = async () => {
    await withConnection(adminUrl, async (admin) => {
      for (let name = names.pop(); name; name = names.pop()) await dropDatabase(admin, name)
    })
  }
  await Promise.all(Array.from({ length: Math.min(names.length, DROPS_AT_ONCE) }, dropNext))
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
