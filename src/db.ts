import { PrismaPg } from '@prisma/adapter-pg'
import pg from 'pg'
import { sha256Base64url } from './crypto.ts'
import { SYSTEM_TENANT } from './ctx.ts'
import { openEmbedded } from './embedded.ts'
import { env } from './env.ts'
import { PrismaClient } from './generated/prisma/client.ts'
import { log } from './log.ts'
import { assertTenantStatement, guardTenant } from './tenant-guard.ts'

/**
 * What every connection sets: UTC (adapter-pg reads timestamps hours off otherwise), no compiling of statements (it takes
 * longer than any of ours) and limits on waiting.
 */
const SESSION_SETTINGS = [
  '-c timezone=UTC',
  '-c jit=off',
  '-c statement_timeout=10000',
  '-c lock_timeout=3000',
  '-c idle_in_transaction_session_timeout=10000',
].join(' ')

const POOL_SIZE = 10
/** The embedded database has one session: whoever waits for it longer than this has deadlocked itself. */
const MAX_WAIT_MS = 10_000

let pool: pg.Pool | undefined
let prisma: PrismaClient | undefined
let closeEmbedded: (() => Promise<void>) | undefined

/** How this process reaches its database: by DATABASE_URL, else the embedded one (started here when nobody serves it). */
export async function connectionSettings(): Promise<pg.PoolConfig> {
  if (env.databaseUrl) return { connectionString: env.databaseUrl, options: SESSION_SETTINGS, max: POOL_SIZE }
  const embedded = await openEmbedded(env.dataDir)
  closeEmbedded = embedded.close
  return { ...embedded.connection, options: SESSION_SETTINGS, max: 1 }
}

/** Opens the pool and Prisma on it; call once, before any service. */
export async function openDatabase(settings: pg.PoolConfig): Promise<void> {
  pool = new pg.Pool({ ...settings, connectionTimeoutMillis: MAX_WAIT_MS })
  pool.on('error', (error) => log.warn({ err: error.message }, 'an idle database connection was lost'))
  const adapter = new PrismaPg(pool, {
    statementNameGenerator: (query: { sql: string }) => statementName(query.sql),
    disposeExternalPool: false,
  })
  prisma = new PrismaClient({ adapter, transactionOptions: { maxWait: MAX_WAIT_MS, timeout: MAX_WAIT_MS } })
}

/** Closes what `openDatabase` and `connectionSettings` opened. */
export async function closeDatabase(): Promise<void> {
  guarded.clear()
  await prisma?.$disconnect()
  await pool?.end()
  await closeEmbedded?.()
  pool = prisma = closeEmbedded = undefined
}

const opened = <T>(value: T | undefined): T => {
  if (!value) throw new Error('the database is not open')
  return value
}

/** Each connection keeps what was prepared by name until it ends. */
const STATEMENT_LIMIT = 1000
const statementNames = new Map<string, string>()
/**
 * Plans are reused by name. No value is ever spliced into a text, but callers choose what GraphQL selects: beyond the
 * limit, statements go without a name and leave nothing behind.
 */
function statementName(text: string): string {
  let name = statementNames.get(text)
  if (name === undefined && statementNames.size < STATEMENT_LIMIT) {
    name = `v_${sha256Base64url(text).slice(0, 32)}`
    statementNames.set(text, name)
  }
  return name ?? ''
}

/** The wall that the guard is for Prisma: a statement that does not ask for a tenant is not sent. */
function prepared(text: string, values: SqlValues): pg.QueryConfig {
  if (!statementNames.has(text)) assertTenantStatement(text)
  return { name: statementName(text), text, values }
}

const guarded = new Map<string, TenantDb>()
/** Each holds about 10 KB, and a new one costs less than a query. */
const GUARDED_LIMIT = 1000

/** Prisma for one tenant: every operation must name that tenant as a plain string, or it is refused before it is sent. */
export function dbFor(tenant: string): TenantDb {
  let client = guarded.get(tenant)
  if (!client) {
    if (guarded.size >= GUARDED_LIMIT) guarded.clear()
    client = opened(prisma).$extends(guardTenant(tenant, SYSTEM_TENANT)) as unknown as TenantDb
    guarded.set(tenant, client)
  }
  return client
}

/** Prisma without the means to leave the tenant or to send SQL. */
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
export type Tx = Omit<TenantDb, '$transaction'>

/** Values of a statement. The first is the tenant: every statement in a *.sql.ts file says `"tenantId" = $1`. */
export type SqlValues = [tenant: string, ...values: unknown[]]
/** Sends one statement. Services pass it on, so that a function works inside and outside a transaction. */
export type Sql = <Row extends pg.QueryResultRow>(text: string, values: SqlValues) => Promise<Row[]>

/** One prepared statement outside any transaction; for *.sql.ts files only. */
export const sql: Sql = async (text, values) => {
  const result = await opened(pool).query<never>(prepared(text, values))
  return result.rows
}

/**
 * The same, planned anew for its values. For lists: tenants differ by orders of magnitude, and the plan that PostgreSQL
 * settles on for a prepared statement is one for the average of them, which would sort a large tenant's rows.
 */
export const plannedSql: Sql = async (text, values) => {
  assertTenantStatement(text)
  const result = await opened(pool).query<never>({ text, values })
  return result.rows
}

/** Runs `work` in one transaction of its own connection, for operations that are all SQL. */
export async function inTransaction<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
  const client = await opened(pool).connect()
  let broken: Error | undefined
  try {
    await client.query('BEGIN')
    const result = await work(async (text, values) => {
      const answer = await client.query<never>(prepared(text, values))
      return answer.rows
    })
    await client.query('COMMIT')
    return result
  } catch (error) {
    await client.query('ROLLBACK').catch((failure: Error) => {
      broken = failure // the connection is gone: take it out of the pool
    })
    throw error
  } finally {
    client.release(broken)
  }
}

/** SQL inside a Prisma transaction. Dates, bigint and json come back as Prisma reads them: cast where it matters. */
export const sqlOf =
  (tx: Tx): Sql =>
  (text, values) =>
    (tx as unknown as PrismaClient).$queryRawUnsafe(text, ...values)

/** True when the database answers; the reason otherwise. */
export async function databaseFault(): Promise<string | null> {
  try {
    await opened(pool).query('SELECT 1')
    return null
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
