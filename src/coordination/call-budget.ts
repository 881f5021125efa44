import { LRUCache } from 'lru-cache'
import type { Ctx } from '../core/context.ts'
import { env } from '../core/env.ts'
import { RateLimited } from '../core/errors.ts'
import { toNetwork } from '../core/ip.ts'
import { getRedis } from './bus.ts'

/**
 * Counts the calls of each caller to the management API (REST and GraphQL together) per minute, over all
 * processes.
 *
 * A call is counted in this process; counts are sent to Redis in the background, several calls of a caller at
 * a time. No call waits for Redis. Until the processes have synchronized, a caller may exceed the limit by
 * one percent for each process. Without Redis, each process counts separately.
 */
const WINDOW_SECONDS = 60
const WINDOW_MS = WINDOW_SECONDS * 1000
/** Callers of one minute: the limit bounds the memory that unauthenticated networks can take. */
const MAX_CALLERS = 50_000
const FLUSH_THRESHOLD = Math.max(1, Math.ceil(env.rateLimit / 100))

/**
 * The budget of a caller after a call. `isExhausted` is true when the call exceeded it; the call is to be
 * rejected.
 */
export type CallBudget = { limit: number; remaining: number; resetSeconds: number; isExhausted: boolean }

type CallCount = {
  /** Calls of all processes when Redis last answered. */
  shared: number
  /** Calls of this process that were not sent to Redis. */
  unflushed: number
  isFlushing: boolean
  isSynchronized: boolean
}

const counts = new LRUCache<string, CallCount>({ max: MAX_CALLERS })
let countedWindow = 0

/**
 * A client or user has a budget for each tenant that it calls; unauthenticated callers share the budget of
 * their network.
 */
export function resolveCallerKey({ tenant, actor, ip }: Pick<Ctx, 'tenant' | 'actor' | 'ip'>): string {
  if (actor.kind === 'user') return `${tenant}:${actor.tenant}:${actor.userId}`
  if (actor.kind === 'client') return `${tenant}:${actor.tenant}:${actor.clientId}`
  return `network:${toNetwork(ip)}`
}

function flushCount(key: string, count: CallCount): void {
  const store = getRedis()
  if (!store) return
  const { unflushed: sent } = count
  count.isFlushing = true
  store
    .pipeline()
    .incrby(`calls:${key}`, sent)
    .expire(`calls:${key}`, 2 * WINDOW_SECONDS)
    .exec()
    .then((results) => {
      const total = results?.[0]?.[1]
      if (typeof total !== 'number') return
      count.shared = total
      count.unflushed -= sent
      count.isSynchronized = true
    })
    .catch(() => undefined) // sent with a later call; the connection has logged its error
    .finally(() => {
      count.isFlushing = false
    })
}

/** Counts one call, unless the budget is exhausted. Does not wait and never throws. */
export function chargeCall(caller: Pick<Ctx, 'tenant' | 'actor' | 'ip'>, now = Date.now()): CallBudget {
  const window = Math.floor(now / WINDOW_MS)
  if (window !== countedWindow) {
    counts.clear()
    countedWindow = window
  }
  const key = resolveCallerKey(caller)
  let count = counts.get(key)
  if (!count) {
    count = { shared: 0, unflushed: 0, isFlushing: false, isSynchronized: false }
    counts.set(key, count)
  }
  const isExhausted = count.shared + count.unflushed >= env.rateLimit
  if (!isExhausted) {
    count.unflushed += 1
    if (!count.isFlushing && (count.unflushed >= FLUSH_THRESHOLD || !count.isSynchronized))
      flushCount(`${key}:${window}`, count)
  }
  return {
    limit: env.rateLimit,
    remaining: Math.max(0, env.rateLimit - count.shared - count.unflushed),
    resetSeconds: Math.max(1, Math.ceil(((window + 1) * WINDOW_MS - now) / 1000)),
    isExhausted,
  }
}

/** The error of a call that exceeds the budget. */
export const createBudgetError = ({ limit, resetSeconds }: CallBudget): RateLimited =>
  new RateLimited(resetSeconds, `Too many calls: ${limit} are allowed in ${WINDOW_SECONDS} seconds.`)

/** The response headers of a budget; `ratelimit-reset` is in seconds from now. */
export const toBudgetHeaders = ({ limit, remaining, resetSeconds }: CallBudget): Record<string, string> => ({
  'ratelimit-limit': String(limit),
  'ratelimit-remaining': String(remaining),
  'ratelimit-reset': String(resetSeconds),
})
