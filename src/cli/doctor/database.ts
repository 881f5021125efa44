import type { Env } from '../../core/env.ts'
import { errorMessage } from '../../core/error-message.ts'
import { countConnections } from '../../database/connections.ts'
import { compareMigrations } from '../../database/migrate.ts'
import { closeEmbedded, resolveConnectionSettings } from '../../database/settings.ts'
import { type Query, withConnection } from '../../database/single-connection.ts'
import { explainStartError } from '../../server/start-errors.ts'
import { type Finding, fail, measureRoundTrip, ok, STEP_LIMIT_MS, warn } from './finding.ts'
import { checkStoredState } from './stored-state.ts'

const MIN_VERSION = 15
const MAX_SKEW_MS = 1000
const BAD_SKEW_MS = 30_000
const SLOW_MS = 20
/** SQLSTATE too_many_connections. */
const NO_CONNECTION = '53300'

async function checkServer(query: Query): Promise<Finding[]> {
  const [row] = await query<{ version: string; number: number; encoding: string; hasIcu: boolean }>(
    `SELECT current_setting('server_version') AS "version", current_setting('server_version_num')::int / 10000 AS "number",
      current_setting('server_encoding') AS "encoding",
      EXISTS (SELECT FROM pg_collation WHERE collname = 'und-x-icu') AS "hasIcu"`,
  )
  if (!row) return []
  const { version, number, encoding, hasIcu } = row
  return [
    number < MIN_VERSION
      ? fail('database.version', `PostgreSQL ${version}`, `Upgrade to PostgreSQL ${MIN_VERSION} or newer.`)
      : ok('database.version', `PostgreSQL ${version}`),
    encoding === 'UTF8' && hasIcu
      ? ok('database.collation', 'UTF8 with ICU')
      : fail(
          'database.collation',
          `encoding ${encoding}, ${hasIcu ? 'with' : 'without'} ICU`,
          'Use a server that was built with ICU, and a database that was created with ENCODING UTF8.',
        ),
  ]
}

const DURABLE = ['fsync', 'full_page_writes', 'synchronous_commit']

async function checkSettings(query: Query): Promise<Finding[]> {
  const off = await query<{ name: string }>(
    `SELECT name FROM pg_settings WHERE name = ANY($1) AND setting = 'off'`,
    [DURABLE],
  )
  if (off.length === 0) return [ok('database.durability', 'commits survive a crash')]
  const names = off.map(({ name }) => name).join(', ')
  return [
    fail(
      'database.durability',
      `${names} off: a crash loses commits or the database`,
      `Set ${names} to on in postgresql.conf.`,
    ),
  ]
}

/** The round trip of a statement, and the clock of the server against that of this process. */
async function checkClock(query: Query): Promise<Finding[]> {
  const latency = await measureRoundTrip(() => query('SELECT 1'))
  const before = Date.now()
  const [row] = await query<{ now: number }>(
    'SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS "now"',
  )
  const skew = Math.round((row?.now ?? before) - before - latency / 2)
  const found = `${Math.abs(skew)} ms ${skew < 0 ? 'behind' : 'ahead of'} this machine`
  const action = 'Synchronize both machines by NTP.'
  return [
    latency > SLOW_MS
      ? warn('database.latency', `${latency.toFixed(1)} ms`, 'Run the server near its database.')
      : ok('database.latency', `${latency.toFixed(1)} ms`),
    Math.abs(skew) > BAD_SKEW_MS
      ? fail('database.clock', found, action)
      : Math.abs(skew) > MAX_SKEW_MS
        ? warn('database.clock', found, action)
        : ok('database.clock', found),
  ]
}

/** The connections that are free, and those that all processes of this server may open besides those that are open. */
async function checkConnections(query: Query, config: Env): Promise<Finding[]> {
  const [row] = await query<{ max: number; others: number }>(
    `SELECT least(
        current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
          - coalesce(current_setting('reserved_connections', true), '0')::int,
        (SELECT nullif(datconnlimit, -1) FROM pg_database WHERE datname = current_database()),
        (SELECT nullif(rolconnlimit, -1) FROM pg_roles WHERE rolname = current_user)
      ) AS "max",
      (SELECT count(*)::int FROM pg_stat_activity
        WHERE backend_type = 'client backend' AND datname IS DISTINCT FROM current_database()) AS "others"`,
  )
  const { max, others } = row ?? { max: 0, others: 0 }
  const needed = countConnections(config)
  const found = `${needed} needed by ${config.workers} process${config.workers === 1 ? '' : 'es'}, ${max} allowed, ${others} used by other databases`
  return [
    needed + others > max && !config.databasePooler
      ? fail(
          'database.connections',
          found,
          'Lower DATABASE_CONNECTIONS or WORKERS, raise max_connections, or use a pooler (DATABASE_POOLER=1).',
        )
      : ok('database.connections', found),
  ]
}

/** The migrations, and where they are complete the state that the database stores. */
async function checkMigrations(
  query: Query,
  compared: Awaited<ReturnType<typeof compareMigrations>>,
): Promise<Finding[]> {
  const { pending, changed, unknown } = compared
  const check = 'database.migrations'
  if (changed.length > 0)
    return [
      fail(
        check,
        `changed after they were applied: ${changed.join(', ')}`,
        'Run the version that applied them.',
      ),
    ]
  if (pending[0])
    return [
      fail(
        check,
        `${pending.length} pending, from ${pending[0].name}`,
        'Run vestibule migrate, or start the server.',
      ),
    ]
  const found =
    unknown.length > 0
      ? warn(
          check,
          `${unknown.length} of a newer version, from ${unknown[0]}`,
          'Run the version of the other processes.',
        )
      : ok(check, 'all applied')
  return [found, ...(await checkStoredState(query))]
}

/** The history of a database without one is empty: SQLSTATE undefined_table. */
const toNoHistory = (error: unknown) => {
  if ((error as { code?: string }).code !== '42P01') throw error
  return { pending: [{ name: 'the first' }], changed: [], unknown: [] }
}

/** Connects to the database and reads its server, its settings and what the server of Vestibule stores in it. */
export async function checkDatabase(config: Env): Promise<Finding[]> {
  try {
    const settings = config.databaseUrl
      ? { connectionString: config.databaseUrl }
      : await resolveConnectionSettings({ canCreate: false })
    return await withConnection(settings, STEP_LIMIT_MS, async (query, client) => [
      ok('database', 'accepts the user'),
      ...(await checkServer(query)),
      ...(await checkSettings(query)),
      ...(await checkClock(query)),
      ...(await checkConnections(query, config)),
      ...(await checkMigrations(query, (await compareMigrations(client).catch(toNoHistory)) as never)),
    ])
  } catch (error) {
    if ((error as { code?: string }).code === NO_CONNECTION)
      return [
        fail(
          'database.connections',
          `no connection is free: ${errorMessage(error)}`,
          'Raise the limit, or lower DATABASE_CONNECTIONS and WORKERS of what uses it.',
        ),
      ]
    const sentence = explainStartError(error, config) ?? errorMessage(error)
    return [
      fail('database', sentence, 'Correct DATABASE_URL, or start the database and let it accept this user.'),
    ]
  } finally {
    if (!config.databaseUrl) await closeEmbedded()
  }
}
