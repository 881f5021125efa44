import { AsyncLocalStorage } from 'node:async_hooks'
import { PrismaPg } from '@prisma/adapter-pg'
import type pg from 'pg'
import { getStatementName } from './statement-names.ts'

type Adapter = Awaited<ReturnType<PrismaPg['connect']>>
type BegunTransaction = Awaited<ReturnType<Adapter['startTransaction']>>

/** The connection of the transaction that a transaction of Prisma joins. */
const joined = new AsyncLocalStorage<pg.PoolClient>()

/** Calls `begin`; the transaction of Prisma that it begins uses `client` and sends neither BEGIN nor COMMIT. */
export const joinConnection = <Result>(client: pg.PoolClient, begin: () => Result): Result =>
  joined.run(client, begin)

/** The adapter with another connection, on which a transaction has begun, and which others commit. */
const createJoinedTransaction = (adapter: Adapter, client: pg.PoolClient): BegunTransaction =>
  Object.assign(Object.create(adapter, { client: { value: client } }), {
    options: { usePhantomQuery: true },
    commit: async () => {},
    rollback: async () => {},
  })

/** Connects Prisma to a pool, or to the connection that `joinConnection` names. */
class PrismaAdapter extends PrismaPg {
  override async connect(): Promise<Adapter> {
    const adapter = await super.connect()
    const begin = adapter.startTransaction.bind(adapter)
    adapter.startTransaction = async (isolationLevel) => {
      const client = joined.getStore()
      return client ? createJoinedTransaction(adapter, client) : begin(isolationLevel)
    }
    return adapter
  }
}

export const createPrismaAdapter = (pool: pg.Pool): PrismaPg =>
  new PrismaAdapter(pool, {
    statementNameGenerator: ({ sql }) => getStatementName(sql),
    disposeExternalPool: false,
  })
