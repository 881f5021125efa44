import { PrismaPg } from '@prisma/adapter-pg'
import type pg from 'pg'
import { sha256Base64url } from '../core/crypto.ts'
import { env } from '../core/env.ts'
import { errorMessage } from '../core/error-message.ts'
import { log } from '../core/log.ts'
import { SYSTEM_TENANT } from '../core/scopes.ts'
import { StartError } from '../core/start-error.ts'
import { getWorkload, runUnlimited } from '../core/workload.ts'
import { PrismaClient } from '../generated/prisma/client.ts'
import { CHANGE_LIMITS, LIST_LIMITS } from './connection-limits.ts'
import { LimitedPool } from './limited-pool.ts'
import { CONNECT_TIMEOUT_MS, isPoolStuck, RECOVERY_SETTINGS, watchPool } from './pool.ts'
import { assertRoleSettings } from './role-settings.ts'
import { KnownQuery } from './rows/known-query.ts'
import type { GateLimits } from './statement-gate.ts'
import { assertTenantStatement, createTenantGuard } from './tenant-guard.ts'
import { runTransaction, type TransactionOptions } from './transaction.ts'

/**
 * Settings of every connection: UTC, because adapter-pg reads timestamps in the time zone of the process
 * otherwise; no JIT, because compiling takes longer than any statement here; no parallel workers, because
 * each of them takes a core from others; and timeouts.
 */
const listSessionSettings = (statementTimeoutMs: number): Record<string, string> => ({
  timezone: 'UTC',
  jit: 'off',
  max_parallel_workers_per_gather: '0',
  statement_timeout: String(statementTimeoutMs),
  lock_timeout: '3000',
  idle_in_transaction_session_timeout: '10000',
})

/** The same as a startup parameter; a pooler does not pass it on, so that the role has them there. */
function buildSessionOptions(statementTimeoutMs: number): { options?: string } {
  if (env.databasePooler) return {}
  const settings = Object.entries(listSessionSettings(statementTimeoutMs))
  return { options: settings.map(([name, value]) => `-c ${name}=${value}`).join(' ') }
}

const STATEMENT_TIMEOUT_MS = 10_000
/** The statement timeout of lists, counts and exports. */
export const LIST_TIMEOUT_MS = 2000
/** The longest transaction of Prisma. */
const TRANSACTION_TIMEOUT_MS = 10_000

/** A pool and Prisma on it, which is created when it is first used: it takes about 8 MB. */
type Connections = { pool: LimitedPool; getPrisma: () => PrismaClient; disconnect: () => Promise<void> }
let main: Connections | undefined
let lists: Connections | undefined
let readsPlainRows = false
let closeEmbedded: (() => Promise<void>) | undefined

/**
 * Connection settings of DATABASE_URL, or of the embedded database, which is started unless another process
 * runs it. Throws StartError with `canCreate: false` instead of creating an embedded database, and behind a
 * pooler when the role does not have the settings.
 */
export async function resolveConnectionSettings({ canCreate = true } = {}): Promise<pg.PoolConfig> {
  const options = buildSessionOptions(STATEMENT_TIMEOUT_MS)
  if (env.databaseUrl) {
    const settings = { connectionString: env.databaseUrl, ...options }
    if (env.databasePooler) await assertRoleSettings(settings, listSessionSettings(STATEMENT_TIMEOUT_MS))
    return settings
  }
  const { hasEmbedded, openEmbedded } = await import('./embedded/open.ts')
  if (!canCreate && !(await hasEmbedded(env.dataDir)))
    throw new StartError(
      `There is no database in ${env.dataDir}. Set DATABASE_URL, or run this where that directory is. Only the server creates a database.`,
    )
  const embedded = await openEmbedded(env.dataDir, {
    onRestart: () => log.error('the embedded database ended and is started again'),
  })
  closeEmbedded = embedded.close
  return { ...embedded.connection, ...options }
}

/** Opens a pool of `max` connections, which management calls take within limits. */
function openConnections(
  settings: pg.PoolConfig,
  max: number,
  limits: GateLimits,
  timeoutMs: number,
): Connections {
  const pool = new LimitedPool(
    { ...settings, ...RECOVERY_SETTINGS, max, ...buildSessionOptions(timeoutMs) },
    limits,
  )
  watchPool(pool)
  let prisma: PrismaClient | undefined
  return {
    pool,
    getPrisma: () => {
      prisma ??= createPrisma(pool)
      return prisma
    },
    disconnect: async () => prisma?.$disconnect(),
  }
}

const createPrisma = (pool: LimitedPool): PrismaClient =>
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
  await closeEmbedded?.()
  main = lists = closeEmbedded = undefined
}

const requireOpen = <T>(value: T | undefined): T => {
  if (!value) throw new Error('the database is not open')
  return value
}

const isListing = (): boolean => getWorkload()?.kind === 'list'
/** The connections of the current workload. */
const selectConnections = (): Connections => requireOpen(isListing() ? lists : main)

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
function toPreparedQuery(text: string, values: SqlValues): pg.QueryConfig | KnownQuery {
  if (!statementNames.has(text)) assertTenantStatement(text)
  const name = getStatementName(text)
  return readsPlainRows || name === '' ? { name, text, values } : new KnownQuery(name, text, values)
}

async function sendOn(client: pg.PoolClient, query: pg.QueryConfig | KnownQuery): Promise<never[]> {
  if (!(query instanceof KnownQuery)) return (await client.query<never>(query)).rows
  return new Promise((resolve, reject) => {
    query.callback = (error, result) => (error ? reject(error) : resolve((result?.rows ?? []) as never[]))
    client.query(query)
  })
}

const guardedClients = new Map<string, TenantDb>()
/** A client takes about 10 KB, and creating one costs less than a query. */
const MAX_GUARDED_CLIENTS = 1000

/**
 * Prisma for one tenant. An operation that does not name this tenant as a plain string throws before it is
 * sent.
 */
export function dbFor(tenant: string): TenantDb {
  const key = isListing() ? `list:${tenant}` : tenant
  let client = guardedClients.get(key)
  if (!client) {
    if (guardedClients.size >= MAX_GUARDED_CLIENTS) guardedClients.clear()
    client = selectConnections()
      .getPrisma()
      .$extends(createTenantGuard(tenant, SYSTEM_TENANT)) as unknown as TenantDb
    guardedClients.set(key, client)
  }
  return client
}

/** Prisma without the methods that bypass the tenant guard or send SQL. */
export type TenantDb = Omit<
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
/** The same inside `$transaction`. */
export type TenantTransaction = Omit<TenantDb, '$transaction'>

/**
 * Values of a statement. The first is the tenant: every statement of a *.sql.ts file contains `"tenantId" =
 * $1`.
 */
export type SqlValues = [tenant: string, ...values: unknown[]]
/**
 * Sends one statement. Services pass it as an argument, so that a function works inside and outside a
 * transaction.
 */
export type Sql = <Row extends pg.QueryResultRow>(text: string, values: SqlValues) => Promise<Row[]>

/** Sends one prepared statement outside any transaction. For *.sql.ts files only. */
export const sql: Sql = async (text, values) => {
  const result = await selectConnections().pool.queryInTurns<never>(toPreparedQuery(text, values))
  return result.rows
}

/**
 * The same, planned for its values each time. For lists: tenants differ in size by orders of magnitude, and
 * the generic plan of a prepared statement suits an average tenant; it would sort all rows of a large one.
 */
export const unpreparedSql: Sql = async (text, values) => {
  assertTenantStatement(text)
  const result = await selectConnections().pool.queryInTurns<never>({ text, values })
  return result.rows
}

/** Runs `work` in one transaction on its own connection, for operations without Prisma. */
export const inTransaction = <T>(work: (sql: Sql) => Promise<T>, options?: TransactionOptions): Promise<T> =>
  runTransaction(
    selectConnections().pool,
    (client) => {
      const send: Sql = (text, values) => sendOn(client, toPreparedQuery(text, values))
      // What the transaction reads elsewhere must not wait for a connection that it may itself hold.
      return runUnlimited(() => work(send))
    },
    options,
  )

/**
 * SQL inside a Prisma transaction. Dates, bigint and json are read as Prisma reads them, so cast where it
 * matters.
 */
export const toSql =
  (tx: TenantTransaction): Sql =>
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
