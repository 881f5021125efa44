import pg from 'pg'
import { onTestFinished } from 'vitest'
import { Tx } from '../../src/database/handle.ts'

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

/** Sends statements of a tenant on a connection. What follows a commit is not done. */
export const toTx = (client: pg.Client, tenant: string): Tx =>
  new Tx(tenant, { client: client as unknown as pg.PoolClient, effects: new Map(), parts: new Map() })
