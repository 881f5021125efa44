import pg from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { KnownQuery } from '../../src/database/rows/known-query.ts'
import { createSharedReads, declareSharedRead } from '../../src/database/shared-reads.ts'
import { databaseUrl } from '../support/connections.ts'
import { recordStatements } from '../support/statements.ts'

/** Opens a pool, and returns a function that reads by shared connections. */
function openReads(connections: number) {
  const pool = new pg.Pool({ connectionString: databaseUrl(), max: 5 })
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  onTestFinished(() => pool.end())
  const send = createSharedReads(pool, connections)
  const read = (text: string, ...values: unknown[]) =>
    new Promise<unknown>((resolve, reject) => {
      send(
        new KnownQuery(text.slice(0, 40), text, values, {}, (error, result) =>
          error ? reject(error) : resolve(result?.rows[0]?.value),
        ),
      )
    })
  return { pool, read }
}

const ECHO = 'SELECT $1::int AS value'
const INVERT = 'SELECT 10 / $1::int AS value'
const NUMBERS = Array.from({ length: 100 }, (_, index) => index)

describe('shared reads', () => {
  test('of one round of the event loop are sent in one round trip, and each gets its own rows', async () => {
    const { read } = openReads(2)
    await read(ECHO, 0)
    let values: unknown[] = []
    const sent = await recordStatements(async () => {
      values = await Promise.all(NUMBERS.slice(0, 20).map((number) => read(ECHO, number)))
    })
    expect(values).toEqual(NUMBERS.slice(0, 20))
    expect(sent).toHaveLength(1)
  })

  test('use at most the given connections, and those that wait are sent together', async () => {
    const { pool, read } = openReads(2)
    const sent = await recordStatements(async () => {
      const slow = [read('SELECT 1 AS value, pg_sleep(0.2)'), undefined]
      await new Promise((resolve) => setImmediate(resolve))
      slow[1] = read('SELECT 2 AS value, pg_sleep(0.2)')
      await new Promise((resolve) => setImmediate(resolve))
      const waiting: Promise<unknown>[] = []
      for (const number of NUMBERS.slice(0, 10)) {
        waiting.push(read(ECHO, number))
        await new Promise((resolve) => setImmediate(resolve))
      }
      expect(await Promise.all([...slow, ...waiting])).toEqual([1, 2, ...NUMBERS.slice(0, 10)])
    })
    expect(sent).toHaveLength(3)
    expect(pool.totalCount).toBe(2)
  })

  test('get their rows when another one of the same round trip fails', async () => {
    const { read } = openReads(1)
    const results = await Promise.allSettled(
      [5, 0, 2, 0, 10].flatMap((number) => [read(INVERT, number), read(ECHO, number)]),
    )
    const outcomes = results.map((result) =>
      result.status === 'fulfilled' ? result.value : (result.reason as { code: string }).code,
    )
    expect(outcomes).toEqual([2, 5, '22012', 0, 5, 2, '22012', 0, 1, 10])
  })

  test('get their own rows under load, also when statements fail', async () => {
    const { read } = openReads(2)
    const results = await Promise.allSettled(
      NUMBERS.map(async (number) => {
        await new Promise((resolve) => setTimeout(resolve, number % 7))
        return number % 9 === 0 ? read(INVERT, 0) : read(ECHO, number)
      }),
    )
    results.forEach((result, number) => {
      if (number % 9 === 0) expect(result).toMatchObject({ status: 'rejected', reason: { code: '22012' } })
      else expect(result).toEqual({ status: 'fulfilled', value: number })
    })
  })

  test('fail when the connection is lost, and later ones use another', async () => {
    const { read } = openReads(1)
    const results = await Promise.allSettled([
      read(ECHO, 1),
      read('SELECT pg_terminate_backend(pg_backend_pid()) AS value'),
      read(ECHO, 2),
    ])
    expect(results[1]?.status).toBe('rejected')
    expect(await read(ECHO, 3)).toBe(3)
  })

  test('fail when the pool is closed', async () => {
    const { pool, read } = openReads(1)
    const closed = new pg.Pool({ connectionString: databaseUrl() })
    expect(await read(ECHO, 1)).toBe(1)
    await closed.end()
    const send = createSharedReads(closed, 1)
    const error = await new Promise((resolve) => send(new KnownQuery('echo', ECHO, [1], {}, resolve)))
    expect(error).toBeInstanceOf(Error)
    expect(pool.totalCount).toBe(1)
  })

  test.each([
    'UPDATE "User" SET "name" = $2 WHERE "tenantId" = $1',
    'WITH changed AS (DELETE FROM "User" WHERE "tenantId" = $1) SELECT 1',
    'SELECT * FROM "User" WHERE "tenantId" = $1 FOR UPDATE',
    'SELECT * FROM "User" WHERE "tenantId" = $1 FOR NO KEY UPDATE SKIP LOCKED',
    'SELECT * FROM "User" WHERE "tenantId" = $1 FOR KEY SHARE',
  ])('cannot be declared for a statement that writes or locks: %s', (text) => {
    expect(() => declareSharedRead(text)).toThrow('cannot share')
  })
})
