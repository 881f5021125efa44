import pg from 'pg'
import { KnownQuery } from './rows/known-query.ts'
import { QueryBatch } from './rows/query-batch.ts'

const texts = new Set<string>()
const LOCKS_ROWS = /\bFOR\s+(NO\s+KEY\s+)?(UPDATE|SHARE|KEY\s+SHARE)\b/i

/**
 * Declares a statement that only reads a few rows by their keys. Throws for one that writes or locks.
 * See docs/decisions/0101.
 */
export function declareSharedRead(text: string): void {
  if (!/^\s*SELECT\b/i.test(text) || LOCKS_ROWS.test(text))
    throw new Error(`a statement that writes or locks cannot share a round trip: ${text}`)
  texts.add(text)
}

export const isSharedRead = (text: string): boolean => texts.has(text)

/** Each statement of a batch waits for those before it: a batch takes the server about a millisecond. */
const MAX_BATCH = 32

/** An error of one statement, after which the connection can be used. */
const isStatementError = (error: Error): boolean =>
  error instanceof pg.DatabaseError && error.severity === 'ERROR'

/** Sends a statement and calls its callback. */
export type SendShared = (query: KnownQuery) => void

/**
 * Sends the statements of one round of the event loop on one connection, in one round trip: the system calls and the
 * wake-up of the server's process take as long as such a statement. At most `connections` are in use at once;
 * statements that wait for them are sent together. A statement that is skipped after the error of another one is sent
 * again alone.
 */
export function createSharedReads(pool: pg.Pool, connections: number): SendShared {
  const waiting: KnownQuery[] = []
  let inUse = 0
  let isScheduled = false

  function schedule(): void {
    if (isScheduled || waiting.length === 0 || inUse >= connections) return
    isScheduled = true
    setImmediate(sendWaiting)
  }

  function sendWaiting(): void {
    isScheduled = false
    const queries = waiting.splice(0, MAX_BATCH)
    inUse += 1
    const [first, ...others] = queries
    if (first && others.length === 0) void sendAlone(first).then(finish)
    else
      pool.connect((error, client) => {
        if (client) return sendBatch(client, queries)
        finish()
        for (const query of queries) query.handleError(error as Error)
      })
    schedule()
  }

  function sendBatch(client: pg.PoolClient, queries: KnownQuery[]): void {
    client.query(
      new QueryBatch(queries, (error, skipped) => {
        finish()
        client.release(error !== null && !isStatementError(error) ? error : undefined)
        for (const query of skipped)
          if (error instanceof pg.DatabaseError) void sendAlone(query)
          else query.handleError(error as Error)
      }),
    )
  }

  function sendAlone({ name, text, values, style, callback }: KnownQuery): Promise<void> {
    const query = new KnownQuery(name, text, values, style) as unknown as pg.QueryConfig
    return pool.query<never>(query).then((result) => callback?.(null, result), callback)
  }

  function finish(): void {
    inUse -= 1
    schedule()
  }

  return (query) => {
    waiting.push(query)
    schedule()
  }
}
