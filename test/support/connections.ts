import pg from 'pg'
import { onTestFinished } from 'vitest'
import type { Sql } from '../../src/database/db.ts'

/** The database of this process. */
export const databaseUrl = (): string => process.env.DATABASE_URL ?? ''

/**
 * Opens a connection in addition to the pool, to this process's database by default; it closes after the
 * test.
 */
export async function connectToDatabase(url = databaseUrl()): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

/** Sends statements of `src` by a connection. */
export const toSql =
  (client: pg.Client): Sql =>
  async (text, values) =>
    (await client.query<never>(text, values)).rows
