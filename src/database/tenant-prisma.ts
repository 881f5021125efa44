import type pg from 'pg'
import { SYSTEM_TENANT } from '../core/scopes.ts'
import type { Workload } from '../core/workload.ts'
import { Prisma, type PrismaClient } from '../generated/prisma/client.ts'
import { type Connections, selectConnections } from './connections.ts'
import { JOINED_ISOLATION_LEVEL, offerConnection } from './prisma-adapter.ts'
import { runWithin, type StatementGate } from './statement-gate.ts'
import { createTenantGuard } from './tenant-guard.ts'

/** Prisma without the methods that bypass the tenant guard or send SQL. */
export type TenantPrisma = Omit<GuardedClient, '$transaction'>
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

/** Those of each pool, by tenant and workload. */
const guardedClients = new WeakMap<Connections, Map<string, GuardedClient>>()
/** A client takes about 10 KB, and creating one costs less than a query. */
const MAX_GUARDED_CLIENTS = 1000

/** Prisma extension that runs each operation within the limits of a workload. */
const createLimits = (gate: StatementGate, workload: Workload) =>
  Prisma.defineExtension({
    name: 'limits',
    query: { $allOperations: ({ args, query }) => runWithin(gate, workload, () => query(args)) },
  })

/**
 * Prisma for one tenant, within the limits of a workload. An operation that does not name this tenant as a plain string
 * throws TenantGuardError before it is sent.
 */
export function getGuardedClient({ tenant, workload }: Workload): GuardedClient {
  const connections = selectConnections({ tenant, workload })
  const clients = guardedClients.get(connections) ?? new Map<string, GuardedClient>()
  guardedClients.set(connections, clients)
  const key = `${tenant} ${workload}`
  let client = clients.get(key)
  if (!client) {
    if (clients.size >= MAX_GUARDED_CLIENTS) clients.clear()
    const { getPrisma, gate } = connections
    const guarded = getPrisma().$extends(createTenantGuard(tenant, SYSTEM_TENANT))
    client = (workload
      ? guarded.$extends(createLimits(gate, { tenant, workload }))
      : guarded) as unknown as GuardedClient
    clients.set(key, client)
  }
  return client
}

/** Prisma on the connection of a transaction. `leave` ends its part; its statements are committed with the others. */
export type JoinedPrisma = { prisma: TenantPrisma; leave: () => Promise<void> }

/**
 * Prisma on the connection of a transaction that has begun, for one tenant. Prisma's part of the transaction begins
 * without a round trip, and ends after `timeoutMs` at the latest.
 */
export function joinPrisma(tenant: string, client: pg.PoolClient, timeoutMs: number): JoinedPrisma {
  let leave = (): void => {}
  const left = new Promise<void>((resolve) => {
    leave = resolve
  })
  let ended: Promise<void> = Promise.resolve()
  const begun = offerConnection(
    client,
    () =>
      new Promise<Models>((resolve, reject) => {
        ended = getGuardedClient({ tenant }).$transaction(
          (tx) => {
            resolve(tx as unknown as Models)
            return left
          },
          { timeout: timeoutMs, isolationLevel: JOINED_ISOLATION_LEVEL },
        )
        ended.catch(reject)
      }),
  )
  begun.catch(() => {})
  const prisma = createMembers((model) =>
    createMembers((operation) => async (args: unknown) => (await begun)[model]?.[operation]?.(args)),
  )
  return {
    prisma: prisma as TenantPrisma,
    leave: async () => {
      leave()
      await begun
      await ended
    },
  }
}
type Models = Record<string, Record<string, (args: unknown) => Promise<unknown>>>

/** An object whose members are created by name. */
const createMembers = (create: (name: string) => unknown): object =>
  new Proxy({}, { get: (_, name) => create(String(name)) })
