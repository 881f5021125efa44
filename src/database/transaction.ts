import type pg from 'pg'
import { observed } from './observed.ts'
import { limitSilence } from './pool.ts'

/** How long the reply to a statement may take after its timeout. */
const REPLY_MS = 1000

/** `longestMs`: how long one of its statements may take, where that is longer than usual. */
export type TransactionOptions = { longestMs?: number }

/**
 * Runs `work` in one transaction on its own connection. When the connection is lost before the server has
 * confirmed COMMIT, it throws, and the transaction is rolled back unless the answer to COMMIT was lost.
 */
export async function runTransaction<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
  { longestMs }: TransactionOptions = {},
): Promise<T> {
  const client = await pool.connect()
  let broken: Error | undefined
  try {
    await observed('BEGIN', client.query('BEGIN'))
    if (longestMs) limitSilence(client, longestMs + REPLY_MS)
    const result = await work(client)
    broken = await commit(client)
    return result
  } catch (error) {
    await observed('ROLLBACK', client.query('ROLLBACK')).catch((failure: Error) => {
      broken = failure // the connection is lost: remove it from the pool
    })
    throw error
  } finally {
    client.release(broken)
  }
}

/**
 * Commits. A server that shuts down, or is told to end the connection, may do so between the confirmation of
 * COMMIT and the end of its answer: the transaction is committed then, and the error is returned.
 */
async function commit(client: pg.PoolClient): Promise<Error | undefined> {
  let confirmed = ''
  const note = ({ text }: { text: string }) => {
    confirmed = text
  }
  client.connection.on('commandComplete', note)
  try {
    await observed('COMMIT', client.query('COMMIT'))
  } catch (error) {
    if (confirmed !== 'COMMIT') throw error
    return error as Error
  } finally {
    client.connection.off('commandComplete', note)
  }
  // PostgreSQL answers ROLLBACK when a statement has failed and `work` did not throw its error.
  if (confirmed !== 'COMMIT') throw new Error('the transaction was rolled back')
}
