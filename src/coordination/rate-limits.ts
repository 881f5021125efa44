import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'
import { errorMessage } from '../core/error-message.ts'
import { RateLimited } from '../core/errors.ts'
import { toNetwork } from '../core/ip.ts'
import { log } from '../core/log.ts'
import { getRedis } from './bus.ts'

/** `points` requests in `seconds`, for each tenant and network. */
type RateLimit = { points: number; seconds: number }

/** Limits that are counted outside the database, per network; all transports and processes share them. */
export const RATE_LIMITS = {
  /** Passcodes sent. The limit of an address is in passcodes.sql.ts. */
  sendPasscode: { points: 30, seconds: 3600 },
  /** Guesses at passcodes, over all addresses. */
  authenticatePasscode: { points: 100, seconds: 3600 },
  /** Passkeys that were not accepted. */
  rejectPasskey: { points: 100, seconds: 3600 },
  /** Steps of enrollments, three for each: many users of one office may enroll in an hour. */
  enrollCredential: { points: 600, seconds: 3600 },
  /** Sign-ins at identity providers that are verified: each sends a request to the provider. */
  linkIdentity: { points: 100, seconds: 3600 },
  /** Failed client authentications. */
  clientAuthentication: { points: 100, seconds: 60 },
  /** Requests to the registration and configuration endpoints (RFC 7591, RFC 7592). */
  registerClient: { points: 300, seconds: 3600 },
  /** Client metadata documents that are fetched. */
  fetchDocument: { points: 120, seconds: 3600 },
  /** User codes that are entered, valid or not; there are 20^8 user codes. */
  enterUserCode: { points: 100, seconds: 3600 },
} as const satisfies Record<string, RateLimit>
export type LimitName = keyof typeof RATE_LIMITS

const limiters = new Map<LimitName, RateLimiterMemory | RateLimiterRedis>()

function getLimiter(name: LimitName) {
  let limiter = limiters.get(name)
  if (!limiter) {
    const { points, seconds } = RATE_LIMITS[name]
    const memory = new RateLimiterMemory({ keyPrefix: name, points, duration: seconds })
    const store = getRedis()
    limiter = store
      ? // While Redis is unavailable, each process counts separately.
        new RateLimiterRedis({
          storeClient: store,
          keyPrefix: `vestibule:${name}`,
          points,
          duration: seconds,
          insuranceLimiter: memory,
        })
      : memory
    limiters.set(name, limiter)
  }
  return limiter
}

/** Drops the limiters, so that the next use reads the Redis connection again. */
export const resetLimiters = (): void => limiters.clear()

/**
 * Counts one request of a network. Throws RateLimited with the seconds to wait when the limit is exceeded; a
 * request that cannot be counted is permitted.
 */
export async function consumeLimit(name: LimitName, tenant: string, ip: string | null): Promise<void> {
  try {
    await getLimiter(name).consume(`${tenant}:${toNetwork(ip)}`)
  } catch (error) {
    if (error instanceof RateLimiterRes)
      throw new RateLimited(Math.max(1, Math.ceil(error.msBeforeNext / 1000)))
    log.warn({ err: errorMessage(error) }, `limit ${name} could not be counted`)
  }
}
