import { RateLimited, Unavailable } from '../core/errors.ts'
import { isTransientError } from '../core/transient-errors.ts'
import type { Workload } from '../core/workload.ts'

/**
 * How many connections management calls may hold at once: all of them, and those of one tenant. The latter may
 * change with the load.
 */
export type GateLimits = { total: number; perTenant: number | (() => number) }

/** A statement that has waited so long is rejected: its caller has stopped waiting, or soon will. */
const WAIT_LIMIT_MS = 5000
/** When the database has answered nothing for so long, it is away, and the callers are not too many. */
const SILENCE_MS = 2500

type Waiting = { start: () => void }
/** Gives a connection back; `isAnswered` says whether the database answered. */
export type Release = (isAnswered?: boolean) => void

/**
 * Limits the connections that management calls hold. Callers wait in the order of their arrival, and tenants
 * take turns, so that a tenant with a thousand waiting statements delays another by one statement.
 */
export function createStatementGate({ total, perTenant }: GateLimits) {
  let running = 0
  let lastAnswerAt = Number.NEGATIVE_INFINITY
  const runningByTenant = new Map<string, number>()
  /** Tenants in the order of their turns. */
  const queues = new Map<string, Waiting[]>()

  const getShare = (): number => (typeof perTenant === 'function' ? perTenant() : perTenant)
  const isFree = (tenant: string): boolean =>
    running < total && (runningByTenant.get(tenant) ?? 0) < getShare()

  function occupy(tenant: string): Release {
    running += 1
    runningByTenant.set(tenant, (runningByTenant.get(tenant) ?? 0) + 1)
    let isReleased = false
    return (isAnswered = true) => {
      if (isReleased) return
      isReleased = true
      if (isAnswered) lastAnswerAt = performance.now()
      running -= 1
      const remaining = (runningByTenant.get(tenant) ?? 1) - 1
      if (remaining > 0) runningByTenant.set(tenant, remaining)
      else runningByTenant.delete(tenant)
      startNext()
    }
  }

  function startNext(): void {
    for (const [tenant, queue] of queues) {
      if (running >= total) return
      if (!isFree(tenant)) continue
      queues.delete(tenant)
      const next = queue.shift()
      // The tenant goes to the end of the turns, which this loop reaches.
      if (queue.length > 0) queues.set(tenant, queue)
      next?.start()
    }
  }

  function leaveQueue(tenant: string, waiting: Waiting): void {
    const queue = queues.get(tenant)
    const index = queue?.indexOf(waiting) ?? -1
    if (index < 0) return
    queue?.splice(index, 1)
    if (queue?.length === 0) queues.delete(tenant)
  }

  return {
    /**
     * Waits for a connection of the tenant's share, and returns the function that releases it. Throws
     * RateLimited after 5 s, or Unavailable while the database does not answer.
     */
    acquire: (tenant: string): Promise<Release> => {
      if (!queues.has(tenant) && isFree(tenant)) return Promise.resolve(occupy(tenant))
      return new Promise((resolve, reject) => {
        const waiting: Waiting = {
          start: () => {
            clearTimeout(limit)
            resolve(occupy(tenant))
          },
        }
        const limit = setTimeout(() => {
          leaveQueue(tenant, waiting)
          reject(
            performance.now() - lastAnswerAt > SILENCE_MS
              ? new Unavailable('The service is busy; try again.')
              : new RateLimited(1, 'Too many operations of this tenant at once.'),
          )
        }, WAIT_LIMIT_MS)
        limit.unref()
        const queue = queues.get(tenant) ?? []
        queues.set(tenant, queue)
        queue.push(waiting)
      })
    },
  }
}
export type StatementGate = ReturnType<typeof createStatementGate>

/** Runs `work`, which holds one connection, within the limits of a workload; at once without one. */
export async function runWithin<Result>(
  gate: StatementGate,
  { tenant, workload }: Workload,
  work: () => Promise<Result>,
): Promise<Result> {
  if (!workload) return work()
  const leave = await gate.acquire(tenant)
  let isAnswered = true
  try {
    return await work()
  } catch (error) {
    isAnswered = !isTransientError(error)
    throw error
  } finally {
    leave(isAnswered)
  }
}
