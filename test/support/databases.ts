import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'

const CONNECT_TIMEOUT_MS = 2000
/** SQLSTATE object_in_use: another session uses the database. */
const OBJECT_IN_USE = '55006'
/** The server itself waits 5 s in each attempt. */
const ATTEMPTS = 6
const PAUSE_MS = 250

/** Opens one connection for `use` and closes it. */
export async function withConnection<T>(url: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS })
  client.on('error', () => {}) // a lost connection: `use` rejects
  await client.connect()
  try {
    return await use(client)
  } finally {
    await client.end()
  }
}

/** Copies `template`, to which no client is connected. */
export const createDatabase = (admin: pg.ClientBase, name: string, template = 'template1'): Promise<void> =>
  retryWhileInUse(() => admin.query(`CREATE DATABASE "${name}" TEMPLATE "${template}"`))

/**
 * Drops a database, if it exists, after ending the sessions of this role in it. WITH (FORCE) is no
 * substitute: it also ends sessions of autovacuum, which PostgreSQL permits to superusers only. Without FORCE
 * the server asks autovacuum to leave.
 */
export const dropDatabase = (admin: pg.ClientBase, name: string): Promise<void> =>
  retryWhileInUse(async () => {
    await admin.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND usename = current_user AND pid <> pg_backend_pid()',
      [name],
    )
    await admin.query(`DROP DATABASE IF EXISTS "${name}"`)
  })

async function retryWhileInUse(work: () => Promise<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await work()
      return
    } catch (error) {
      if ((error as { code?: string }).code !== OBJECT_IN_USE || attempt === ATTEMPTS) throw error
      await sleep(PAUSE_MS)
    }
  }
}
