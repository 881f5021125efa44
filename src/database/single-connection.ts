import pg from 'pg'

/** Sends one statement. Resolves with its rows. */
export type Query = <Row extends object>(text: string, values?: unknown[]) => Promise<Row[]>

/**
 * Opens a connection outside the pools, which changes nothing and applies no migration, for `use`, and closes it. Connecting
 * and each statement take `limitMs` at most.
 */
export async function withConnection<T>(
  settings: pg.ClientConfig,
  limitMs: number,
  use: (query: Query, client: pg.ClientBase) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({
    ...settings,
    connectionTimeoutMillis: limitMs,
    query_timeout: limitMs,
    statement_timeout: limitMs,
  })
  client.on('error', () => {}) // a lost connection: the statement that waits for it rejects
  try {
    await client.connect()
    return await use(async (text, values) => (await client.query(text, values)).rows, client)
  } finally {
    await client.end().catch(() => {})
  }
}
