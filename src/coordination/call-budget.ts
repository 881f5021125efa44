import type { Ctx } from '../context/context.ts'
import { env } from '../core/env.ts'
import { RateLimited } from '../core/errors.ts'
import { toNetwork } from '../core/network/ip.ts'
import { type CountedUse, createBackgroundCounts } from './background-counts.ts'

const WINDOW_SECONDS = 60
/** Callers of one minute: the limit bounds the memory that unauthenticated networks can take. */
const MAX_CALLERS = 50_000

/** The calls of each caller to the management API (REST and GraphQL together) per minute. */
const countCall = createBackgroundCounts('calls', {
  limit: env.rateLimit,
  seconds: WINDOW_SECONDS,
  maxKeys: MAX_CALLERS,
})

/**
 * The budget of a caller after a call. `isExhausted` is true when the call exceeded it; the call is to be
 * rejected.
 */
export type CallBudget = CountedUse & { limit: number }

/**
 * A client, user or API key of the tenant has a budget for each tenant that it calls; unauthenticated callers share the budget of
 * their network.
 */
export function resolveCallerKey({ tenant, actor, ip }: Pick<Ctx, 'tenant' | 'actor' | 'ip'>): string {
  if (actor.kind === 'user') return `${tenant}:${actor.tenant}:${actor.userId}`
  if (actor.kind === 'client') return `${tenant}:${actor.tenant}:${actor.clientId}`
  if (actor.kind === 'key') return `${tenant}:${actor.tenant}:${actor.apiKeyId}`
  return `network:${toNetwork(ip)}`
}

/** Counts one call, unless the budget is exhausted. Does not wait and never throws. See docs/decisions/0020. */
export function chargeCall(caller: Pick<Ctx, 'tenant' | 'actor' | 'ip'>, now = Date.now()): CallBudget {
  const { remaining, resetSeconds, isExhausted } = countCall(resolveCallerKey(caller), now)
  return { limit: env.rateLimit, remaining, resetSeconds, isExhausted }
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
