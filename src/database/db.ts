import { PrismaPg } from '@prisma/adapter-pg'
import pg from 'pg'
import { sha256Base64url } from '../core/crypto.ts'
import { env } from '../core/env.ts'
import { errorMessage } from '../core/error-message.ts'
import { SYSTEM_TENANT } from '../core/scopes.ts'
import { takeTurn } from '../core/turns.ts'
import type { Workload } from '../core/workload.ts'
import { Prisma, PrismaClient } from '../generated/prisma/client.ts'
import { CHANGE_LIMITS, LIST_LIMITS, SHARED_READ_CONNECTIONS } from './connection-limits.ts'
import { CONNECT_TIMEOUT_MS, isPoolStuck, RECOVERY_SETTINGS, watchPool } from './pool.ts'
import { KnownQuery } from './rows/known-query.ts'
import { type RowStyle, TEXT_DATES } from './rows/row-reader.ts'
import { buildSessionOptions, closeEmbedded, STATEMENT_TIMEOUT_MS } from './settings.ts'
import { createSharedReads, isSharedRead, type SendShared } from './shared-reads.ts'
import { createStatementGate, type GateLimits, runWithin, type StatementGate } from './statement-gate.ts'
import { assertTenantStatement, createTenantGuard } from './tenant-guard.ts'
import { runTransaction, type TransactionOptions } from './transaction.ts'

/** The statement timeout of lists, counts and exports. */
export const LIST_TIMEOUT_MS = 2000
/** The longest transaction of Prisma. */
const TRANSACTION_TIMEOUT_MS = 10_000

/**
 * A pool, the limits of management calls, and Prisma on the pool, which is created when it is first used: it takes
 * about 8 MB.
 */
type Connections = {
  pool: pg.Pool
  sendShared: SendShared
  gate: StatementGate
  getPrisma: () => PrismaClient
  disconnect: () => Promise<void>
}
let main: Connections | undefined
let lists: Connections | undefined
let readsPlainRows = false

/** Opens a pool of `max` connections, which management calls take within limits. */
function openConnections(
  settings: pg.PoolConfig,
  max: number,
  limits: GateLimits,
  timeoutMs: number,
): Connections {
  const pool = new pg.Pool({ ...settings, ...RECOVERY_SETTINGS, max, ...buildSessionOptions(timeoutMs) })
  watchPool(pool)
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
    adapter: new PrismaPg(pool, {
      statementNameGenerator: (query: { sql: string }) => getStatementName(query.sql),
      disposeExternalPool: false,
    }),
    transactionOptions: { maxWait: CONNECT_TIMEOUT_MS, timeout: TRANSACTION_TIMEOUT_MS },
  })

/**
 * Opens the connection pools and Prisma on them. Called once, before any service. With `plainRows`, pg reads
 * the rows of statements instead of the generated readers of `rows/`.
 */
export async function openDatabase(settings: pg.PoolConfig, { plainRows = false } = {}): Promise<void> {
  readsPlainRows = plainRows
  main = openConnections(settings, env.databaseConnections, CHANGE_LIMITS, STATEMENT_TIMEOUT_MS)
  lists = openConnections(settings, LIST_LIMITS.total, LIST_LIMITS, LIST_TIMEOUT_MS)
}

/** Closes what `openDatabase` and `resolveConnectionSettings` opened. */
export async function closeDatabase(): Promise<void> {
  guardedClients.clear()
  await Promise.all([main, lists].map((connections) => connections?.disconnect()))
  await Promise.all([main, lists].map((connections) => connections?.pool.end()))
  await closeEmbedded()
  main = lists = undefined
}

const requireOpen = <T>(value: T | undefined): T => {
  if (!value) throw new Error('the database is not open')
  return value
}

/** The connections that a workload uses. */
const selectConnections = ({ workload }: Workload): Connections =>
  requireOpen(workload === 'list' ? lists : main)

/** A connection keeps its named prepared statements until it is closed. */
const MAX_PREPARED_STATEMENTS = 1000
const statementNames = new Map<string, string>()
/**
 * PostgreSQL reuses plans by statement name. Texts contain no values, but GraphQL selections produce many
 * texts: beyond the limit, a statement is sent without a name and is not kept.
 */
function getStatementName(text: string): string {
  if (env.databasePooler) return ''
  let name = statementNames.get(text)
  if (name === undefined && statementNames.size < MAX_PREPARED_STATEMENTS) {
    name = `v_${sha256Base64url(text).slice(0, 32)}`
    statementNames.set(text, name)
  }
  return name ?? ''
}

/** Raw-SQL counterpart of the Prisma tenant guard: throws for a statement without a tenant condition. */
function toPreparedQuery(text: string, values: SqlValues, style?: RowStyle): pg.QueryConfig | KnownQuery {
  if (!statementNames.has(text)) assertTenantStatement(text)
  const name = getStatementName(text)
  return readsPlainRows || name === ''
    ? { ...toPlainQuery(text, values, style), name }
    : new KnownQuery(name, text, values, style)
}

/** A statement that pg reads. */
const toPlainQuery = (text: string, values: SqlValues, style?: RowStyle): pg.QueryConfig => ({
  text,
  values,
  ...(style?.datesAsText && { types: TEXT_DATES }),
})

async function sendOn(client: pg.PoolClient, query: pg.QueryConfig | KnownQuery): Promise<never[]> {
  if (!(query instanceof KnownQuery)) return (await client.query<never>(query)).rows
  return new Promise((resolve, reject) => {
    query.callback = (error, result) => (error ? reject(error) : resolve((result?.rows ?? []) as never[]))
    client.query(query)
  })
}

const guardedClients = new Map<string, GuardedClient>()
/** A client takes about 10 KB, and creating one costs less than a query. */
const MAX_GUARDED_CLIENTS = 1000

/** Prisma extension that runs each operation within the limits of a workload. */
const createLimits = (gate: StatementGate, workload: Workload) =>
  Prisma.defineExtension({
    name: 'limits',
    query: { $allOperations: ({ args, query }) => runWithin(gate, workload, () => query(args)) },
  })

function getGuardedClient({ tenant, workload }: Workload): GuardedClient {
  const key = `${tenant} ${workload}`
  let client = guardedClients.get(key)
  if (!client) {
    if (guardedClients.size >= MAX_GUARDED_CLIENTS) guardedClients.clear()
    const { getPrisma, gate } = selectConnections({ tenant, workload })
    const guarded = getPrisma().$extends(createTenantGuard(tenant, SYSTEM_TENANT))
    client = (workload
      ? guarded.$extends(createLimits(gate, { tenant, workload }))
      : guarded) as unknown as GuardedClient
    guardedClients.set(key, client)
  }
  return client
}

/**
 * Prisma for one tenant, within the limits of a context; without limits for the name of a tenant. An operation that
 * does not name this tenant as a plain string throws before it is sent.
 */
export const dbFor = (target: string | Workload): TenantDb =>
  getGuardedClient(typeof target === 'string' ? { tenant: target } : target)

/** Runs `work` in one transaction of Prisma. */
export const inPrismaTransaction = <T>(
  { tenant, workload }: Workload,
  work: (tx: TenantDb) => Promise<T>,
): Promise<T> =>
  runWithin(requireOpen(main).gate, { tenant, workload }, () =>
    getGuardedClient({ tenant }).$transaction(work),
  )

/** Prisma without the methods that bypass the tenant guard or send SQL. */
export type TenantDb = Omit<GuardedClient, '$transaction'>
type GuardedClient = Omit<
  PrismaClient,
  | '$queryRaw'
  | '$executeRaw'
  | '$queryRawUnsafe'
  | '$executeRawUnsafe'
  | '$extends'
  | '$on'
  | '$connect'
  | '$disconnect'
>

/**
 * Values of a statement. The first is the tenant: every statement of a *.sql.ts file contains `"tenantId" =
 * $1`.
 */
export type SqlValues = [tenant: string, ...values: unknown[]]
/**
 * Sends one statement. Services pass it as an argument, so that a function works inside and outside a
 * transaction.
 */
export type Sql = <Row extends pg.QueryResultRow>(
  text: string,
  values: SqlValues,
  style?: RowStyle,
) => Promise<Row[]>

/** Sends a statement that only reads by keys, together with those of other requests. */
function sendShared(query: KnownQuery): Promise<never[]> {
  return new Promise((resolve, reject) => {
    query.callback = (error, result) => (error ? reject(error) : resolve((result?.rows ?? []) as never[]))
    requireOpen(main).sendShared(query)
  })
}

/**
 * Sends one prepared statement outside any transaction, without limits: for the protocol, jobs, and what callers
 * share.
 */
export const sql: Sql = async (text, values, style) => {
  const query = toPreparedQuery(text, values, style)
  if (query instanceof KnownQuery && isSharedRead(text)) return sendShared(query)
  const { rows } = await requireOpen(main).pool.query<never>(query as pg.QueryConfig)
  return rows
}

/**
 * Sends a statement of a management call. What follows its result waits for a turn. A shared statement holds no
 * connection of its own, which the gate would limit.
 */
async function sendInTurns(workload: Workload, query: pg.QueryConfig | KnownQuery): Promise<never[]> {
  if (query instanceof KnownQuery && isSharedRead(query.text)) {
    const rows = await sendShared(query)
    await takeTurn(workload)
    return rows
  }
  const { pool, gate } = selectConnections(workload)
  // pg's pool sets the callback of a query object, and returns a promise for it too.
  const { rows } = await runWithin(gate, workload, () => pool.query<never>(query as pg.QueryConfig))
  await takeTurn(workload)
  return rows
}

/** Sends prepared statements outside any transaction, within the limits of the context. */
export const sqlFor = (workload: Workload): Sql =>
  workload.workload
    ? (text, values, style) => sendInTurns(workload, toPreparedQuery(text, values, style))
    : sql

/**
 * The same, planned for its values each time. For lists: tenants differ in size by orders of magnitude, and
 * the generic plan of a prepared statement suits an average tenant; it would sort all rows of a large one.
 */
export const unpreparedSqlFor =
  (workload: Workload): Sql =>
  async (text, values, style) => {
    assertTenantStatement(text)
    return sendInTurns(workload, toPlainQuery(text, values, style))
  }

const runOn = <T>(
  { pool }: Connections,
  work: (sql: Sql) => Promise<T>,
  options?: TransactionOptions,
): Promise<T> =>
  runTransaction(
    pool,
    (client) => work((text, values, style) => sendOn(client, toPreparedQuery(text, values, style))),
    options,
  )

/** Runs `work` in one transaction on its own connection, without limits and without Prisma. */
export const inTransaction = <T>(work: (sql: Sql) => Promise<T>, options?: TransactionOptions): Promise<T> =>
  runOn(requireOpen(main), work, options)

/**
 * The same within the limits of the context. What `work` reads elsewhere must not be limited: it would wait for a
 * connection that the transaction itself may hold.
 */
export const inTransactionFor = <T>(
  workload: Workload,
  work: (sql: Sql) => Promise<T>,
  options?: TransactionOptions,
): Promise<T> => {
  const connections = selectConnections(workload)
  return runWithin(connections.gate, workload, () => runOn(connections, work, options))
}

/**
 * SQL inside a Prisma transaction. Dates, bigint and json are read as Prisma reads them, so cast where it
 * matters.
 */
export const toSql =
  (tx: TenantDb): Sql =>
  (text, values) =>
    (tx as unknown as PrismaClient).$queryRawUnsafe(text, ...values)

/** Null when the database answers, otherwise the error message. */
export async function checkDatabase(): Promise<string | null> {
  try {
    await requireOpen(main).pool.query('SELECT 1')
    return null
  } catch (error) {
    return errorMessage(error)
  }
}

/** True when only a restart gets the database back: all connections have leaked. */
export const isDatabaseStuck = (): boolean =>
  [main, lists].some((connections) => connections !== undefined && isPoolStuck(connections.pool))
