import { LRUCache } from 'lru-cache'
import { redis } from './bus.ts'
import type { Ctx } from './ctx.ts'
import { env } from './env.ts'
import { RateLimited } from './errors.ts'
import { networkOf } from './limits.ts'

/**
 * How many calls of the management surface (REST and GraphQL together) a caller may make a minute, on all processes.
 *
 * A call is counted in this process and told to Redis behind its back, together with others of the same caller: no call
 * waits for Redis, or depends on it. Until the processes have heard of each other, a caller may get away with a hundredth
 * more for each process. Without Redis, each process counts for itself.
 */
const WINDOW_SECONDS = 60
const WINDOW_MS = WINDOW_SECONDS * 1000
/** Callers of one minute; far more than there are, yet bounded for networks that nobody identified. */
const MAX_CALLERS = 50_000
const TOLD_AT_ONCE = Math.max(1, Math.ceil(env.rateLimit / 100))

export type Budget = { limit: number; remaining: number; resetSeconds: number; isSpent: boolean }

type Count = {
  /** Calls of all processes, as Redis last said. */
  told: number
  /** Calls of this process that Redis does not know of. */
  own: number
  isTelling: boolean
  hasHeard: boolean
}

const counts = new LRUCache<string, Count>({ max: MAX_CALLERS })
let countedWindow = 0

/** Who pays: client or person, for each tenant that they call about; who is not identified, for their network. */
function payerOf({ tenant, actor, ip }: Pick<Ctx, 'tenant' | 'actor' | 'ip'>): string {
  if (actor.kind === 'user') return `${tenant}:${actor.tenant}:${actor.userId}`
  if (actor.kind === 'client') return `${tenant}:${actor.tenant}:${actor.clientId}`
  return `network:${networkOf(ip)}`
}

function tell(key: string, count: Count): void {
  const store = redis()
  if (!store) return
  const { own } = count
  count.isTelling = true
  store
    .pipeline()
    .incrby(`vestibule:calls:${key}`, own)
    .expire(`vestibule:calls:${key}`, 2 * WINDOW_SECONDS)
    .exec()
    .then((results) => {
      const total = results?.[0]?.[1]
      if (typeof total !== 'number') return
      count.told = total
      count.own -= own
      count.hasHeard = true
    })
    .catch(() => undefined) // told later; the connection's own error was logged
    .finally(() => {
      count.isTelling = false
    })
}

/** Counts one call. One that is refused is not counted. Never waits, and never fails. */
export function chargeCall(caller: Pick<Ctx, 'tenant' | 'actor' | 'ip'>, now = Date.now()): Budget {
  const window = Math.floor(now / WINDOW_MS)
  if (window !== countedWindow) {
    counts.clear()
    countedWindow = window
  }
  const payer = payerOf(caller)
  let count = counts.get(payer)
  if (!count) {
    count = { told: 0, own: 0, isTelling: false, hasHeard: false }
    counts.set(payer, count)
  }
  const isSpent = count.told + count.own >= env.rateLimit
  if (!isSpent) {
    count.own += 1
    if (!count.isTelling && (count.own >= TOLD_AT_ONCE || !count.hasHeard)) tell(`${payer}:${window}`, count)
  }
  return {
    limit: env.rateLimit,
    remaining: Math.max(0, env.rateLimit - count.told - count.own),
    resetSeconds: Math.max(1, Math.ceil(((window + 1) * WINDOW_MS - now) / 1000)),
    isSpent,
  }
}

/** What a call that nothing is left for is refused with. */
export const budgetSpent = ({ limit, resetSeconds }: Budget): RateLimited =>
  new RateLimited(resetSeconds, `Too many calls: ${limit} are allowed in ${WINDOW_SECONDS} seconds.`)

/** The budget as answers tell it; the reset in seconds from now. */
export const budgetHeaders = ({ limit, remaining, resetSeconds }: Budget): Record<string, string> => ({
  'ratelimit-limit': String(limit),
  'ratelimit-remaining': String(remaining),
  'ratelimit-reset': String(resetSeconds),
})
