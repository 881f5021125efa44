import type { Socket } from 'node:net'
import type pg from 'pg'
import { log } from '../core/log.ts'

/** Waiting for a connection, and connecting. */
export const CONNECT_TIMEOUT_MS = 5000
const IDLE_TIMEOUT_MS = 10_000
/**
 * PostgreSQL ends statements and idle transactions after 10 s, and the pool closes idle connections after 10 s.
 * A connection that is silent for longer has lost its server: a fail-over or a firewall leaves it without an
 * error.
 */
const SILENCE_LIMIT_MS = 11_000
/** An idle connection that is silent for as long is asked whether its server is there, and has as long to answer. */
const IDLE_CHECK_MS = 2000
const KEEP_ALIVE_MS = 10_000
/** A generic plan is kept with its connection. A new connection plans with the statistics of its time. */
const LIFETIME_SECONDS = 30 * 60
/** A connection that is in use for longer has leaked. */
const STUCK_MS = 60_000

/** The connections that are in use, with the time since when. */
const useByPool = new WeakMap<pg.Pool, Map<pg.ClientBase, number>>()

const getSocket = (client: pg.PoolClient): Socket => client.connection.stream as Socket

/** Sets how long a connection may be silent. */
export function limitSilence(client: pg.PoolClient, limitMs: number): void {
  getSocket(client).setTimeout(limitMs)
}

/** Settings of a pool that recovers by itself. */
export const RECOVERY_SETTINGS = {
  connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  idleTimeoutMillis: IDLE_TIMEOUT_MS,
  keepAlive: true,
  keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  maxLifetimeSeconds: LIFETIME_SECONDS,
} as const satisfies pg.PoolConfig

/**
 * Makes a pool of these settings recover: a lost connection does not end the process; a silent one is closed,
 * and the idle ones with it, because they have lost the same server. Idle connections are checked, so that the
 * first requests after a quiet time do not get connections that were lost during it. See docs/decisions/0059.
 */
export function watchPool(
  pool: pg.Pool,
  { silenceMs = SILENCE_LIMIT_MS, idleCheckMs = IDLE_CHECK_MS } = {},
): void {
  const idle = new Set<pg.PoolClient>()
  const checked = new WeakSet<pg.PoolClient>()
  const inUse = new Map<pg.ClientBase, number>()
  useByPool.set(pool, inUse)

  function closeAllSilent(client: pg.PoolClient): void {
    log.warn({ idle: idle.size }, 'a database connection is silent; it and the idle ones are closed')
    for (const each of new Set([client, ...idle])) closeSilent(getSocket(each))
    idle.clear()
  }

  /** The empty statement is answered by every server that is there, at once. */
  async function checkIdle(client: pg.PoolClient): Promise<void> {
    checked.add(client)
    // Sending begins the time for the answer.
    await client.query('').catch(() => undefined)
    checked.delete(client)
    if (inUse.has(client)) limitSilence(client, silenceMs)
  }

  pool.on('acquire', (client) => {
    idle.delete(client)
    inUse.set(client, performance.now())
    if (!checked.has(client)) limitSilence(client, silenceMs)
  })
  pool.on('release', (_error, client) => {
    inUse.delete(client)
    idle.add(client)
    limitSilence(client, idleCheckMs)
  })
  pool.on('remove', (client) => idle.delete(client))
  pool.on('connect', (client) => {
    // pg-pool listens to idle connections only: the end of another one would end the process.
    client.on('error', () => {})
    const socket = getSocket(client)
    socket.on('timeout', () => {
      const { bytesRead } = socket
      const isUnchecked = idle.has(client) && !checked.has(client)
      // After a stall of this process, an answer may have arrived that was not read yet. A connection that was
      // acquired meanwhile has a limit of its own.
      setImmediate(() => {
        if (socket.bytesRead > bytesRead) return
        if (!isUnchecked) closeAllSilent(client)
        else if (idle.has(client) && !checked.has(client)) void checkIdle(client)
      })
    })
  })
  pool.on('error', (error) => log.warn({ err: error.message }, 'an idle database connection was lost'))
}

function closeSilent(stream: Socket): void {
  stream.destroy(Object.assign(new Error('The database connection is silent'), { code: 'ETIMEDOUT' }))
}

/** True when the pool cannot recover by itself: every connection is in use for a minute, so that all leaked. */
export function isPoolStuck(pool: pg.Pool, now = performance.now()): boolean {
  const since = [...(useByPool.get(pool)?.values() ?? [])]
  return since.length >= (pool.options.max ?? 1) && since.every((start) => now - start > STUCK_MS)
}
