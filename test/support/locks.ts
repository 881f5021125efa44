import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { inTransaction, type Sql } from './database.ts'

const LIMIT_MS = 20_000
const WAITING = `
  SELECT count(*)::int AS "waiting" FROM pg_locks JOIN pg_stat_activity USING ("pid")
  WHERE NOT "granted" AND "datname" = current_database()`

/** Resolves once so many statements of this process's database wait for locks; throws after 20 s. */
export async function untilWaiting(expected: number): Promise<void> {
  // A separate connection: those of the pool may all wait, and a transaction sees an old list.
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

/** Runs `first` in a transaction, starts `work`, and commits once so many statements wait for the locks. */
export async function whileLocked<T>(
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

/** Locks the row of a user until the transaction ends. */
export const lockUserRow =
  (tenant: string, userId: string) =>
  (sql: Sql): Promise<unknown> =>
    sql('SELECT 1 FROM "User" WHERE "tenantId" = $1 AND "id" = $2 FOR UPDATE', [tenant, userId])

/** Locks a user by changing only the row. */
export const setLocked =
  (tenant: string, userId: string) =>
  (sql: Sql): Promise<unknown> =>
    sql('UPDATE "User" SET "locked" = true WHERE "tenantId" = $1 AND "id" = $2', [tenant, userId])
