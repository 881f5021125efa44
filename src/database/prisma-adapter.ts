import { PrismaPg } from '@prisma/adapter-pg'
import type pg from 'pg'
import { observed, observesStatements } from './observed.ts'
import { getStatementName } from './statement-names.ts'

type Adapter = Awaited<ReturnType<PrismaPg['connect']>>
type BegunTransaction = Awaited<ReturnType<Adapter['startTransaction']>>

/** The isolation level that a transaction of Prisma names to join the connection that is offered. No other names one. */
export const JOINED_ISOLATION_LEVEL = 'ReadCommitted'

let offered: pg.PoolClient | undefined
let lastOffer: Promise<unknown> = Promise.resolve()

/**
 * Calls `begin`, which begins a transaction of Prisma with JOINED_ISOLATION_LEVEL: it uses `client` and sends neither
 * BEGIN nor COMMIT. One begins at a time, without a round trip. An AsyncLocalStorage would cost Node 20 a call for every
 * promise of the process.
 */
export function offerConnection<Result>(
  client: pg.PoolClient,
  begin: () => Promise<Result>,
): Promise<Result> {
  const offer = lastOffer.then(() => {
    offered = client
    return begin()
  })
  lastOffer = offer
    .catch(() => {})
    .then(() => {
      offered = undefined
    })
  return offer
}

/** The adapter with another connection, on which a transaction has begun, and which others commit. */
const createJoinedTransaction = (adapter: Adapter, client: pg.PoolClient): BegunTransaction =>
  Object.assign(Object.create(adapter, { client: { value: client } }), {
    options: { usePhantomQuery: true },
    commit: async () => {},
    rollback: async () => {},
  })

/** Has the statements of Prisma noted, those of joined transactions included: they inherit from the adapter. */
function observeQueries(adapter: Adapter): void {
  const { queryRaw, executeRaw } = adapter
  adapter.queryRaw = function (query) {
    return observed(query.sql, queryRaw.call(this, query))
  }
  adapter.executeRaw = function (query) {
    return observed(query.sql, executeRaw.call(this, query))
  }
}

/** Connects Prisma to a pool, or to the connection that is offered. */
class PrismaAdapter extends PrismaPg {
  override async connect(): Promise<Adapter> {
    const adapter = await super.connect()
    if (observesStatements) observeQueries(adapter)
    const begin = adapter.startTransaction.bind(adapter)
    adapter.startTransaction = async (isolationLevel) => {
      if (!isolationLevel) return begin()
      if (!offered) throw new Error('no connection is offered to the transaction of Prisma')
      const client = offered
      offered = undefined
      return createJoinedTransaction(adapter, client)
    }
    return adapter
  }
}

export const createPrismaAdapter = (pool: pg.Pool): PrismaPg =>
  new PrismaAdapter(pool, {
    statementNameGenerator: ({ sql }) => getStatementName(sql),
    disposeExternalPool: false,
  })
