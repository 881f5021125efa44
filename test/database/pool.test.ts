import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { toAppError } from '../../src/core/to-app-error.ts'
import { isPoolStuck, RECOVERY_SETTINGS, watchPool } from '../../src/database/pool.ts'
import { runTransaction } from '../../src/database/transaction.ts'
import { databaseUrl } from '../support/connections.ts'
import { startTcpProxy, throughProxy } from '../support/tcp-proxy.ts'

const SILENCE_MS = 300
const IDLE_CHECK_MS = 200

function openPool(connectionString: string, max: number, limits = {}, settings: pg.PoolConfig = {}): pg.Pool {
  const pool = new pg.Pool({ ...RECOVERY_SETTINGS, connectionString, max, ...settings })
  watchPool(pool, { silenceMs: SILENCE_MS, ...limits })
  onTestFinished(() => pool.end())
  return pool
}

async function openProxiedPool(max = 3, limits = {}) {
  const { port, hostname, searchParams } = new URL(databaseUrl())
  if (!hostname && searchParams.has('host')) return null // the embedded server has a socket, and no port
  const proxy = await startTcpProxy(Number(port || 5432))
  return { pool: openPool(throughProxy(databaseUrl(), proxy), max, limits), proxy }
}

describe('a pool', () => {
  test('replaces each connection after half an hour, so that its plans age', () => {
    expect(RECOVERY_SETTINGS.maxLifetimeSeconds).toBe(1800)
  })

  test('replaces a connection at the end of its life after the transaction that uses it', async () => {
    const pool = openPool(databaseUrl(), 1, { silenceMs: 5000 }, { maxLifetimeSeconds: 0.4 })
    const readProcessId = async (client: pg.Pool | pg.PoolClient) =>
      (await client.query('SELECT pg_backend_pid() AS id')).rows[0].id
    const client = await pool.connect()
    await client.query('BEGIN')
    const first = await readProcessId(client)
    await sleep(600)
    expect(await readProcessId(client)).toBe(first)
    await client.query('COMMIT')
    client.release()
    const second = await readProcessId(pool)
    expect(second).not.toBe(first)
    // The second connection is idle when its life ends.
    await sleep(600)
    expect(pool.totalCount).toBe(0)
    expect(await readProcessId(pool)).not.toBe(second)
    expect(isPoolStuck(pool, performance.now() + 61_000)).toBe(false)
  })

  test('closes a silent connection and the idle ones, and answers again once the server does', async ({
    skip,
  }) => {
    const opened = await openProxiedPool()
    if (!opened) return skip()
    const { pool, proxy } = opened
    await Promise.all([1, 2, 3].map(() => pool.query('SELECT pg_sleep(0.05)')))
    expect(pool.totalCount).toBe(3)
    proxy.freeze()
    const start = performance.now()
    const error = await pool.query('SELECT 1').catch((thrown: unknown) => thrown)
    expect(toAppError(error)).toMatchObject({ status: 503, headers: { 'retry-after': '5' } })
    expect(performance.now() - start).toBeLessThan(SILENCE_MS + 1000)
    await expect.poll(() => pool.totalCount).toBe(0)
    proxy.thaw()
    expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
  })

  test('closes idle connections that fall silent, before a statement gets one', async ({ skip }) => {
    const opened = await openProxiedPool(3, { silenceMs: 60_000, idleCheckMs: IDLE_CHECK_MS })
    if (!opened) return skip()
    const { pool, proxy } = opened
    await Promise.all([1, 2, 3].map(() => pool.query('SELECT pg_sleep(0.05)')))
    proxy.freeze()
    await expect.poll(() => pool.totalCount).toBe(0)
    proxy.thaw()
    expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
  })

  test('keeps idle connections whose server is there, and statements that take longer than their check', async ({
    skip,
  }) => {
    const opened = await openProxiedPool(1, { silenceMs: 60_000, idleCheckMs: IDLE_CHECK_MS })
    if (!opened) return skip()
    const { pool } = opened
    const readPid = async () => (await pool.query('SELECT pg_backend_pid() AS pid')).rows
    const before = await readPid()
    await sleep(4 * IDLE_CHECK_MS)
    await pool.query('SELECT pg_sleep(0.5)')
    expect(await readPid()).toEqual(before)
  })

  test('keeps a connection that a statement gets at the moment of its check', async () => {
    const pool = openPool(databaseUrl(), 1)
    const client = await pool.connect()
    const socket = client.connection.stream as Socket
    client.release()
    socket.emit('timeout')
    const acquired = await pool.connect()
    const answer = await acquired.query('SELECT 1 AS one')
    acquired.release()
    expect(answer.rows).toEqual([{ one: 1 }])
    expect(acquired).toBe(client)
  })

  test('rolls a transaction back when its connection falls silent, and does not use the connection again', async ({
    skip,
  }) => {
    const opened = await openProxiedPool()
    if (!opened) return skip()
    const { pool, proxy } = opened
    const lost = runTransaction(pool, async (client) => {
      proxy.freeze()
      await client.query('SELECT 1')
    })
    expect(toAppError(await lost.catch((thrown: unknown) => thrown)).status).toBe(503)
    proxy.thaw()
    expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
  })

  test('is stuck once every connection is in use for more than a minute', async ({ skip }) => {
    const opened = await openProxiedPool(2)
    if (!opened) return skip()
    const { pool } = opened
    const clients = [await pool.connect(), await pool.connect()]
    const later = performance.now() + 61_000
    expect(isPoolStuck(pool)).toBe(false)
    expect(isPoolStuck(pool, later)).toBe(true)
    clients.pop()?.release()
    expect(isPoolStuck(pool, later)).toBe(false)
    clients.pop()?.release()
  })
})

describe('a transaction', () => {
  test('throws when a statement failed and its error was not thrown, because COMMIT then rolls back', async () => {
    const pool = openPool(databaseUrl(), 1)
    const swallowed = runTransaction(pool, (client) => client.query('SELECT 1/0').catch(() => 'done'))
    await expect(swallowed).rejects.toThrow('the transaction was rolled back')
  })

  test('is committed when the server ends the connection after it has confirmed COMMIT', async () => {
    const pool = openPool(databaseUrl(), 1)
    const result = await runTransaction(pool, async (client) => {
      // The end follows the confirmation before the answer to COMMIT is complete.
      client.connection.once('commandComplete', () => {
        client.connection.stream.destroy(new Error('ended'))
      })
      return 'result'
    })
    expect(result).toBe('result')
    expect(pool.totalCount).toBe(0)
  })
})
