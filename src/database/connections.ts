import pg from 'pg'
import { type Env, env } from '../core/env.ts'
import { errorMessage } from '../core/error-message.ts'
import { isProtocolActive } from '../core/turns.ts'
import type { Workload } from '../core/workload.ts'
import { PrismaClient } from '../generated/prisma/client.ts'
import { CONNECT_TIMEOUT_MS, isPoolStuck, RECOVERY_SETTINGS, watchPool } from './pool.ts'
import { readPlainRows } from './prepared-query.ts'
import { createPrismaAdapter } from './prisma-adapter.ts'
import { BoundedClient } from './rows/bounded-query.ts'
import type { Connection } from './rows/known-query.ts'
import { buildSessionOptions, closeEmbedded, LIST_SETTINGS, STATEMENT_TIMEOUT_MS } from './settings.ts'
import { createSharedReads, type SendShared } from './shared-reads.ts'
import { createStatementGate, type GateLimits, type StatementGate } from './statement-gate.ts'
import { limitPreparedStatements } from './statement-names.ts'

const toTenantShare = (total: number): number => Math.max(1, total - 1)

/** Statements that only read by keys share connections, so that few of them are enough. */
const SHARED_READ_CONNECTIONS = Math.max(1, Math.floor(env.databaseConnections / 4))

const CHANGE_CONNECTIONS = Math.floor(env.databaseConnections / 2)
const countListConnections = (main: number): number => Math.max(2, Math.floor(main * 0.3))
const LIST_CONNECTIONS = countListConnections(env.databaseConnections)

/**
 * Changes hold at most half of the main connections, so that the protocol always has the rest. While the protocol is in
 * use, those of one tenant run two at a time: more take the cores that it needs. See docs/decisions/0048.
 */
const CHANGE_LIMITS: GateLimits = {
  total: CHANGE_CONNECTIONS,
  perTenant: () => Math.min(toTenantShare(CHANGE_CONNECTIONS), isProtocolActive() ? 2 : CHANGE_CONNECTIONS),
}

/**
 * Lists have connections of their own. A list takes a core of the database: while the protocol is in use, those
 * of one tenant run one at a time.
 */
const LIST_LIMITS: GateLimits = {
  total: LIST_CONNECTIONS,
  perTenant: () => (isProtocolActive() ? 1 : toTenantShare(LIST_CONNECTIONS)),
}

/** The connections that all processes of a server may open. */
export const countConnections = ({ databaseConnections: main, workers }: Env): number =>
  workers * (main + countListConnections(main))

/** The statement timeout of lists, counts and exports. */
const LIST_TIMEOUT_MS = 2000
/** The longest transaction of Prisma. */
export const TRANSACTION_TIMEOUT_MS = 10_000

/**
 * A pool, the limits of management calls, and Prisma on the pool, which is created when it is first used: it takes
 * about 8 MB.
 */
export type Connections = {
  pool: pg.Pool
  sendShared: SendShared
  gate: StatementGate
  getPrisma: () => PrismaClient
  disconnect: () => Promise<void>
}
let main: Connections | undefined
let lists: Connections | undefined

/** Opens a pool of `max` connections, which management calls take within limits. */
function openConnections(
  settings: pg.PoolConfig,
  max: number,
  limits: GateLimits,
  options: { options?: string },
  Client: typeof pg.Client = pg.Client,
): Connections {
  const pool = new pg.Pool({
    ...settings,
    Client,
    ...RECOVERY_SETTINGS,
    max,
    ...options,
  })
  watchPool(pool)
  pool.on('connect', ({ connection }) => limitPreparedStatements(connection as unknown as Connection))
  let prisma: PrismaClient | undefined
  return {
    pool,
    sendShared: createSharedReads(pool, SHARED_READ_CONNECTIONS),
    gate: createStatementGate(limits),
    getPrisma: () => {
      prisma ??= createPrisma(pool)
      return prisma
    },
    disconnect: async () => prisma?.$disconnect(),
  }
}

const createPrisma = (pool: pg.Pool): PrismaClient =>
  new PrismaClient({
    adapter: createPrismaAdapter(pool),
    transactionOptions: { maxWait: CONNECT_TIMEOUT_MS, timeout: TRANSACTION_TIMEOUT_MS },
  })

/**
 * Opens the connection pools and Prisma on them. Called once, before any service. With `plainRows`, pg reads
 * the rows of statements instead of the generated readers of `rows/`.
 */
export async function openDatabase(settings: pg.PoolConfig, { plainRows = false } = {}): Promise<void> {
  readPlainRows(plainRows)
  const options = buildSessionOptions(STATEMENT_TIMEOUT_MS)
  main = openConnections(settings, env.databaseConnections, CHANGE_LIMITS, options)
  const listOptions = buildSessionOptions(LIST_TIMEOUT_MS, LIST_SETTINGS)
  lists = openConnections(settings, LIST_LIMITS.total, LIST_LIMITS, listOptions, BoundedClient)
}

/** Closes what `openDatabase` and `resolveConnectionSettings` opened. */
export async function closeDatabase(): Promise<void> {
  await Promise.all([main, lists].map((connections) => connections?.disconnect()))
  await Promise.all([main, lists].map((connections) => connections?.pool.end()))
  await closeEmbedded()
  main = lists = undefined
}

const requireOpen = (connections: Connections | undefined): Connections => {
  if (!connections) throw new Error('the database is not open')
  return connections
}

/** The connections of the protocol, jobs and changes. */
export const getMainConnections = (): Connections => requireOpen(main)

/** The connections that a workload uses. */
export const selectConnections = ({ workload }: Workload): Connections =>
  requireOpen(workload === 'list' ? lists : main)

/** Null when the database answers, otherwise the error message. */
export async function checkDatabase(): Promise<string | null> {
  try {
    await getMainConnections().pool.query('SELECT 1')
    return null
  } catch (error) {
    return errorMessage(error)
  }
}

/** True when only a restart gets the database back: all connections have leaked. */
export const isDatabaseStuck = (): boolean =>
  [main, lists].some((connections) => connections !== undefined && isPoolStuck(connections.pool))
