import pg from 'pg'
import { env } from '../core/env.ts'
import { log } from '../core/log.ts'
import { StartError } from '../core/start-error.ts'

/**
 * Settings of every connection: UTC, because adapter-pg reads timestamps in the time zone of the process
 * otherwise; no JIT, because compiling takes longer than any statement here; no parallel workers, because
 * each of them takes a core from others; and timeouts.
 */
const listSessionSettings = (statementTimeoutMs: number): Record<string, string> => ({
  timezone: 'UTC',
  jit: 'off',
  max_parallel_workers_per_gather: '0',
  statement_timeout: String(statementTimeoutMs),
  lock_timeout: '3000',
  idle_in_transaction_session_timeout: '10000',
})

/**
 * Settings of connections for lists. A list is read in the order of its index up to the end of the page. In a tenant with
 * far more rows than most, the planner expects that a page has all rows, and would sort those of a bitmap.
 */
export const LIST_SETTINGS: Record<string, string> = { enable_bitmapscan: 'off' }

/** The settings as a startup parameter; a pooler does not pass it on, so that the role has them there. */
export function buildSessionOptions(
  statementTimeoutMs: number,
  more: Record<string, string> = {},
): { options?: string } {
  if (env.databasePooler) return {}
  const settings = Object.entries({ ...listSessionSettings(statementTimeoutMs), ...more })
  return { options: settings.map(([name, value]) => `-c ${name}=${value}`).join(' ') }
}

/**
 * Throws StartError, with the statements that set them, unless connections of the role have these settings:
 * without its timeouts, a lost connection holds its locks for good. See docs/decisions/0068.
 */
export async function assertRoleSettings(
  connection: pg.ClientConfig,
  settings: Record<string, string>,
): Promise<void> {
  const client = new pg.Client(connection)
  client.on('error', () => {}) // a lost connection: the statement that waits for it rejects
  await client.connect()
  try {
    const { rows } = await client.query<{ name: string; setting: string; role: string }>(
      'SELECT lower(name) AS "name", setting, quote_ident(current_user) AS "role" FROM pg_settings WHERE lower(name) = ANY($1)',
      [Object.keys(settings)],
    )
    const wrong = rows.filter(({ name, setting }) => setting !== settings[name])
    if (wrong.length === 0) return
    const statements = wrong.map(({ name, role }) => `ALTER ROLE ${role} SET ${name} = '${settings[name]}';`)
    throw new StartError(
      `DATABASE_POOLER: a pooler passes on no settings. Run these statements, and have the pooler reconnect: ${statements.join(' ')}`,
    )
  } finally {
    await client.end()
  }
}

/** How connections to the database are made. */
export type ConnectionSettings = pg.PoolConfig

export const STATEMENT_TIMEOUT_MS = 10_000

let closeOpened: (() => Promise<void>) | undefined

/** Closes the embedded database if `resolveConnectionSettings` opened it. */
export async function closeEmbedded(): Promise<void> {
  await closeOpened?.()
  closeOpened = undefined
}

/**
 * Connection settings of DATABASE_URL, or of the embedded database, which is started unless another process
 * runs it. Throws StartError with `canCreate: false` instead of creating an embedded database, with `isServer` when
 * another process runs it, and behind a pooler when the role does not have the settings.
 */
export async function resolveConnectionSettings({
  canCreate = true,
  isServer = false,
} = {}): Promise<ConnectionSettings> {
  const options = buildSessionOptions(STATEMENT_TIMEOUT_MS)
  if (env.databaseUrl) {
    const settings = { connectionString: env.databaseUrl, ...options }
    if (env.databasePooler) await assertRoleSettings(settings, listSessionSettings(STATEMENT_TIMEOUT_MS))
    return settings
  }
  const { hasEmbedded, openEmbedded } = await import('./embedded/open.ts')
  if (!canCreate && !hasEmbedded(env.dataDir))
    throw new StartError(
      `There is no database in ${env.dataDir}. Set DATABASE_URL, or run this where that directory is. Only the server creates a database.`,
    )
  const embedded = await openEmbedded(env.dataDir, {
    isShared: !isServer,
    onRestart: () => log.error('the embedded database ended and is started again'),
  })
  closeOpened = embedded.close
  return { ...embedded.connection, ...options }
}
