import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { inTransaction, type Sql } from '../../src/db.ts'

const LIMIT_MS = 20_000
const WAITING = `
  SELECT count(*)::int AS "waiting" FROM pg_locks JOIN pg_stat_activity USING ("pid")
  WHERE NOT "granted" AND "datname" = current_database()`

/** Resolves once so many statements of this file's PostgreSQL wait for locks of others; throws when that takes 20 s. */
export async function untilWaiting(expected: number): Promise<void> {
  // A connection of its own: those of the pool may all be waiting, and a transaction sees the list as it was.
  const client = new pg.Client({ connectionString: process.env.DATABASE_URL })
  await client.connect()
  const deadline = Date.now() + LIMIT_MS
  try {
    for (;;) {
      const { waiting } = (await client.query<{ waiting: number }>(WAITING)).rows[0] ?? { waiting: 0 }
      if (waiting >= expected) return
      if (Date.now() > deadline) throw new Error(`${waiting} of ${expected} wait for a lock`)
      await sleep(5)
    }
  } finally {
    await client.end()
  }
}

/** Starts `work` while another transaction has done `first`, and lets that commit once so many statements wait for it. */
export async function whileHeld<T>(
  first: (sql: Sql) => Promise<unknown>,
  work: () => Promise<T>,
  expected = 1,
): Promise<T> {
  let started: Promise<T> | undefined
  await inTransaction(async (sql) => {
    await first(sql)
    started = work()
    await untilWaiting(expected)
  })
  return started as Promise<T>
}
