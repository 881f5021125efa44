import type pg from 'pg'
import { takeTurn } from '../core/turns.ts'
import type { Workload } from '../core/workload.ts'
import { type Connections, getMainConnections, selectConnections } from './connections.ts'
import { readRows, type SqlQuery, type SqlValues, toPreparedQuery } from './prepared-query.ts'
import { BoundedQuery } from './rows/bounded-query.ts'
import { KnownQuery } from './rows/known-query.ts'
import type { RowStyle } from './rows/row-reader.ts'
import { isSharedRead } from './shared-reads.ts'
import { runWithin } from './statement-gate.ts'
import { getGuardedClient, type TenantPrisma } from './tenant-prisma.ts'
import { runTransaction, type TransactionOptions } from './transaction.ts'

/**
 * Prisma for one tenant, within the limits of a context; without limits for the name of a tenant. An operation that
 * does not name this tenant as a plain string throws before it is sent.
 */
export const dbFor = (target: string | Workload): TenantPrisma =>
  getGuardedClient(typeof target === 'string' ? { tenant: target } : target)

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
const sendShared = (query: KnownQuery): Promise<never[]> => readRows(query, getMainConnections().sendShared)

/**
 * Sends one prepared statement outside any transaction, without limits: for the protocol, jobs, and what callers
 * share.
 */
export const sql: Sql = async (text, values, style) => {
  const query = toPreparedQuery(text, values, style)
  if (query instanceof KnownQuery && isSharedRead(text)) return sendShared(query)
  const { rows } = await getMainConnections().pool.query<never>(query as pg.QueryConfig)
  return rows
}

/**
 * Sends a statement of a management call. What follows its result waits for a turn, and the next statement of the
 * workload until then: results that wait take memory. A shared statement holds no connection of its own, which the gate
 * would limit.
 */
async function sendInTurns(workload: Workload, query: SqlQuery): Promise<never[]> {
  if (query instanceof KnownQuery && isSharedRead(query.text)) {
    const rows = await sendShared(query)
    await takeTurn(workload)
    return rows
  }
  const { pool, gate } = selectConnections(workload)
  // pg's pool sets the callback of a query object, and returns a promise for it too.
  return runWithin(gate, workload, async () => {
    const { rows } = await pool.query<never>(query as pg.QueryConfig)
    await takeTurn(workload)
    return rows
  })
}

/** Sends prepared statements outside any transaction, within the limits of the context. */
export const sqlFor = (workload: Workload): Sql =>
  workload.workload
    ? (text, values, style) => sendInTurns(workload, toPreparedQuery(text, values, style))
    : sql

async function sendOn(client: pg.PoolClient, query: SqlQuery): Promise<never[]> {
  if (query instanceof KnownQuery || query instanceof BoundedQuery)
    return readRows(query, (sent) => client.query(sent as pg.Submittable))
  return (await client.query<never>(query)).rows
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

/**
 * Runs `work` in one transaction on its own connection, within the limits of the context. What `work` reads elsewhere must not be limited: it would wait for a
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
