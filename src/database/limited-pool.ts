import pg from 'pg'
import { takeTurn } from '../core/turns.ts'
import { getWorkload } from '../core/workload.ts'
import type { KnownQuery } from './rows/known-query.ts'
import { createStatementGate, type GateLimits, type StatementGate } from './statement-gate.ts'

type ConnectCallback = Parameters<pg.Pool['connect']>[0]

/**
 * A pool whose connections management calls take only within limits. The rest is left to the protocol. A
 * transaction counts as one connection, however long it takes.
 */
export class LimitedPool extends pg.Pool {
  readonly #gate: StatementGate

  constructor(settings: pg.PoolConfig, limits: GateLimits) {
    super(settings)
    this.#gate = createStatementGate(limits)
  }

  override connect(): Promise<pg.PoolClient>
  override connect(callback: ConnectCallback): void
  override connect(callback?: ConnectCallback): Promise<pg.PoolClient> | undefined {
    const workload = getWorkload()
    if (!workload) return callback ? void super.connect(callback) : super.connect()
    const connected = this.#connectWithin(workload.tenant)
    if (!callback) return connected
    connected.then(
      (client) => callback(undefined, client, client.release),
      (error: Error) => callback(error, undefined, () => {}),
    )
  }

  /** Runs a statement of a management call. What follows its result waits for a turn. */
  async queryInTurns<Row extends pg.QueryResultRow>(
    query: pg.QueryConfig | KnownQuery,
  ): Promise<{ rows: Row[] }> {
    // pg's pool sets the callback of a query object, and returns a promise for it too.
    const result = await this.query<Row>(query as pg.QueryConfig)
    await takeTurn()
    return result
  }

  async #connectWithin(tenant: string): Promise<pg.PoolClient> {
    const leave = await this.#gate.acquire(tenant)
    try {
      const client = await super.connect()
      // The pool sets `release` anew whenever it hands out the client.
      const { release } = client
      client.release = (error) => {
        release(error)
        leave()
      }
      return client
    } catch (error) {
      leave()
      throw error
    }
  }
}
