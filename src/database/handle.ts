import type pg from 'pg'
import type { ReadLimit } from '../core/network/read-limit.ts'
import { SYSTEM_TENANT } from '../core/scopes.ts'
import { takeTurn } from '../core/turns.ts'
import type { Workload, WorkloadKind } from '../core/workload.ts'
import { getMainConnections, selectConnections, TRANSACTION_TIMEOUT_MS } from './connections.ts'
import { announceInsertion } from './insertions.ts'
import { observed } from './observed.ts'
import { readRows, type SqlQuery, toPlainQuery, toPreparedQuery } from './prepared-query.ts'
import { BoundedQuery } from './rows/bounded-query.ts'
import { KnownQuery } from './rows/known-query.ts'
import { isSharedRead } from './shared-reads.ts'
import type { BoundStatement, Row, Shape, SqlStatement, StatementArguments } from './statement.ts'
import { runWithin } from './statement-gate.ts'
import { assertTenantStatement, TenantGuardError } from './tenant-guard.ts'
import { getGuardedClient, type JoinedPrisma, joinPrisma, type TenantPrisma } from './tenant-prisma.ts'
import { runTransaction, type TransactionOptions } from './transaction.ts'

/** The text that pg's query objects have, too. */
const readText = (query: SqlQuery): string => (query as { text: string }).text
const getRows = ({ rows }: pg.QueryResult<never>): never[] => rows

/**
 * The database for one tenant, outside of transactions (`Handle`) or inside one (`Tx`). A function that takes a `Db`
 * works in both.
 */
export abstract class Db {
  readonly tenant: string

  constructor(tenant: string) {
    this.tenant = tenant
  }

  /** Prisma for the tenant: an operation that does not name it as a plain string throws TenantGuardError. */
  abstract readonly prisma: TenantPrisma

  /**
   * Calls `effect` once the changes are committed: after the COMMIT of the transaction, once for each `key`, or at once
   * outside of transactions. It must not throw. After a ROLLBACK, it is not called.
   */
  abstract afterCommit(key: string, effect: () => void): void

  protected abstract send(query: SqlQuery): Promise<never[]>

  /**
   * Sends a statement and returns its rows. What it inserts is announced to the listeners of the tables after the
   * commit.
   */
  async many<Takes extends Shape, Returns extends Shape>(
    statement: SqlStatement<Takes, Returns>,
    ...given: StatementArguments<Takes>
  ): Promise<Row<Returns>[]> {
    const rows: Row<Returns>[] = await this.#send(statement, given)
    if (statement.inserts.length > 0) this.#announce(statement, rows)
    return rows
  }

  /** Sends a statement and returns the first row, or null when there is none. */
  async one<Takes extends Shape, Returns extends Shape>(
    statement: SqlStatement<Takes, Returns>,
    ...given: StatementArguments<Takes>
  ): Promise<Row<Returns> | null> {
    // Without `many` in between: each asynchronous function costs a hot path a microsecond.
    const rows: Row<Returns>[] = await this.#send(statement, given)
    if (statement.inserts.length > 0) this.#announce(statement, rows)
    return rows[0] ?? null
  }

  #send<Takes extends Shape, Returns extends Shape>(
    { text, bind }: SqlStatement<Takes, Returns>,
    [values, limit]: [object?, ReadLimit?],
  ): Promise<never[]> {
    return this.send(toPreparedQuery(text, bind(this.tenant, values), limit && { limit }))
  }

  #announce<Takes extends Shape, Returns extends Shape>(
    { inserts, hasInserted }: SqlStatement<Takes, Returns>,
    rows: Row<Returns>[],
  ): void {
    if (hasInserted?.(rows) === false) return
    for (const table of inserts)
      this.afterCommit(`insert ${table}`, () => announceInsertion(table, this.tenant))
  }

  /** Sends a statement for its effect. */
  async run<Takes extends Shape, Returns extends Shape>(
    statement: SqlStatement<Takes, Returns>,
    ...values: StatementArguments<Takes>
  ): Promise<void> {
    await this.many(statement, ...values)
  }

  /** Reads the rows of a list, those beyond the limit excepted. */
  async list<Returns extends Shape>(
    { text, values, style, isPrepared }: BoundStatement<Returns>,
    limit?: ReadLimit,
  ): Promise<Row<Returns>[]> {
    const [tenant] = values
    if (tenant !== this.tenant) throw new TenantGuardError('SQL', 'SELECT', 'it names another tenant')
    if (!isPrepared) assertTenantStatement(text)
    return this.send((isPrepared ? toPreparedQuery : toPlainQuery)(text, values, { ...style, limit }))
  }
}

/**
 * The database for one tenant, within the limits of a workload; without limits where there is none, as for the protocol
 * and jobs.
 */
export class Handle extends Db {
  readonly workload: WorkloadKind | undefined

  constructor({ tenant, workload }: Workload) {
    super(tenant)
    this.workload = workload
  }

  override get prisma(): TenantPrisma {
    return getGuardedClient(this)
  }

  override afterCommit(_key: string, effect: () => void): void {
    effect()
  }

  /**
   * Runs `work` in one transaction on a connection of its own, and then what `afterCommit` has collected. What `work`
   * reads outside of it must not be limited: it would wait for a connection that the transaction itself may hold.
   */
  async transaction<Result>(
    work: (tx: Tx) => Promise<Result>,
    options: TransactionOptions = {},
  ): Promise<Result> {
    const { pool, gate } = selectConnections(this)
    const effects = new Map<string, () => void>()
    const run = async (client: pg.PoolClient): Promise<Result> => {
      const parts = new Map<string, JoinedPrisma>()
      const leave = () => Promise.all([...parts.values()].map((part) => part.leave()))
      try {
        const result = await work(new Tx(this.tenant, { client, effects, parts, ...options }))
        await leave()
        return result
      } catch (error) {
        leave().catch(() => {})
        throw error
      }
    }
    const result = await runWithin(gate, this, () => runTransaction(pool, run, options))
    for (const effect of effects.values()) effect()
    return result
  }

  protected override send(query: SqlQuery): Promise<never[]> {
    return this.workload ? this.#sendInTurns(query) : this.#sendAtOnce(query)
  }

  #sendAtOnce(query: SqlQuery): Promise<never[]> {
    const { pool, sendShared } = getMainConnections()
    if (query instanceof KnownQuery && isSharedRead(query.text))
      return observed(query.text, readRows(query, sendShared))
    // pg's pool sets the callback of a query object, and returns a promise for it too.
    return observed(readText(query), pool.query<never>(query as pg.QueryConfig)).then(getRows)
  }

  /**
   * Sends a statement of a management call. What follows its result waits for a turn, and the next statement of the
   * workload until then: results that wait take memory. A shared statement holds no connection of its own, which the
   * gate would limit.
   */
  async #sendInTurns(query: SqlQuery): Promise<never[]> {
    if (query instanceof KnownQuery && isSharedRead(query.text)) {
      const rows = await this.#sendAtOnce(query)
      await takeTurn(this)
      return rows
    }
    const { pool, gate } = selectConnections(this)
    return runWithin(gate, this, async () => {
      const { rows } = await observed(readText(query), pool.query<never>(query as pg.QueryConfig))
      await takeTurn(this)
      return rows
    })
  }
}

type TransactionState = TransactionOptions & {
  client: pg.PoolClient
  effects: Map<string, () => void>
  /** Prisma on the connection, by tenant. */
  parts: Map<string, JoinedPrisma>
}

/** One transaction of one tenant. */
export class Tx extends Db {
  readonly #state: TransactionState

  constructor(tenant: string, state: TransactionState) {
    super(tenant)
    this.#state = state
  }

  /** Prisma on the connection of the transaction. */
  override get prisma(): TenantPrisma {
    const { client, parts, longestMs = TRANSACTION_TIMEOUT_MS } = this.#state
    const part = parts.get(this.tenant) ?? joinPrisma(this.tenant, client, longestMs)
    parts.set(this.tenant, part)
    return part.prisma
  }

  override afterCommit(key: string, effect: () => void): void {
    this.#state.effects.set(`${this.tenant} ${key}`, effect)
  }

  /**
   * The database of a function that makes transactions, all within this one: each is a savepoint, so that one that throws
   * leaves the others.
   */
  join(): Handle {
    const { client, effects } = this.#state
    return new JoinedHandle(this, {
      send: (query) => this.send(query),
      runPart: async (work) => {
        const known = new Map(effects)
        await client.query('SAVEPOINT part')
        try {
          const result = await work(this)
          await client.query('RELEASE SAVEPOINT part')
          return result
        } catch (error) {
          await client.query('ROLLBACK TO SAVEPOINT part')
          effects.clear()
          for (const [key, effect] of known) effects.set(key, effect)
          throw error
        }
      },
    })
  }

  /** The transaction for another tenant, which tenant `system` creates or deletes. */
  forTenant(tenant: string): Tx {
    if (this.tenant !== SYSTEM_TENANT) throw new TenantGuardError('Tx', 'forTenant', 'it is not of system')
    return new Tx(tenant, this.#state)
  }

  protected override async send(query: SqlQuery): Promise<never[]> {
    const { client } = this.#state
    if (query instanceof KnownQuery || query instanceof BoundedQuery)
      return observed(
        readText(query),
        readRows(query, (sent) => client.query(sent as pg.Submittable)),
      )
    return (await observed(query.text, client.query<never>(query))).rows
  }
}

type JoinedTransaction = {
  send: (query: SqlQuery) => Promise<never[]>
  runPart: <Result>(work: (tx: Tx) => Promise<Result>) => Promise<Result>
}

class JoinedHandle extends Handle {
  readonly #tx: Tx
  readonly #joined: JoinedTransaction

  constructor(tx: Tx, joined: JoinedTransaction) {
    super({ tenant: tx.tenant })
    this.#tx = tx
    this.#joined = joined
  }

  override get prisma(): TenantPrisma {
    return this.#tx.prisma
  }

  override afterCommit(key: string, effect: () => void): void {
    this.#tx.afterCommit(key, effect)
  }

  override transaction<Result>(work: (tx: Tx) => Promise<Result>): Promise<Result> {
    return this.#joined.runPart(work)
  }

  protected override send(query: SqlQuery): Promise<never[]> {
    return this.#joined.send(query)
  }
}
