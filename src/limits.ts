import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'
import { redis } from './bus.ts'
import { RateLimited } from './errors.ts'
import { log } from './log.ts'

/** How often something may happen: `points` in `seconds`, for each key. */
type Limit = { points: number; seconds: number }

/** Budgets that are counted beside the database: by caller's address, shared by all transports and processes. */
export const LIMITS = {
  /** Passcodes sent from one network; the budget of an address is in passcodes.ts. */
  sendPasscode: { points: 30, seconds: 3600 },
  /** Guesses from one network, at whatever address. */
  authenticatePasscode: { points: 100, seconds: 3600 },
  /** Steps of an enrolment, three for each, from one network: a whole office may enrol in an hour. */
  enrolCredential: { points: 600, seconds: 3600 },
  /** Proofs that people have checked with an identity provider, from one network: each asks the provider as our client. */
  linkIdentity: { points: 100, seconds: 3600 },
  /** Failed client authentications from one network. */
  clientAuthentication: { points: 100, seconds: 60 },
  /** Registrations, and calls about one's own, from one network: each new one takes a token that an administrator issued. */
  registerClient: { points: 300, seconds: 3600 },
  /** Metadata documents of clients that requests from one network have us fetch. */
  fetchDocument: { points: 120, seconds: 3600 },
  /** Codes of devices that are entered from one network, right and wrong ones: of 20^8, at whatever devices. */
  enterUserCode: { points: 100, seconds: 3600 },
  /** Sign-ins that are begun, devices and pushed requests of clients that cannot prove themselves, from one network: each
   *  is a row that stays for up to an hour. */
  keepRequest: { points: 600, seconds: 60 },
  /** Refused requests from one network that the log tells of. */
  refusedRequest: { points: 120, seconds: 60 },
} as const satisfies Record<string, Limit>
export type LimitName = keyof typeof LIMITS

const limiters = new Map<LimitName, RateLimiterMemory | RateLimiterRedis>()

function limiterOf(name: LimitName) {
  let limiter = limiters.get(name)
  if (!limiter) {
    const { points, seconds } = LIMITS[name]
    const memory = new RateLimiterMemory({ keyPrefix: name, points, duration: seconds })
    const store = redis()
    limiter = store
      ? // Without Redis, each process counts for itself rather than letting everything or nothing pass.
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

/** Forgets the stores, so that the next use takes the bus as it is then. */
export const closeLimits = (): void => limiters.clear()

/**
 * The network that an address belongs to: all of IPv6's /64 is one customer's, and an IPv4-mapped address is the
 * IPv4 one (security: rate limit keyed by raw IP).
 */
export function networkOf(ip: string | null): string {
  if (!ip) return 'unknown'
  if (!ip.includes(':')) return ip
  const hostname = URL.canParse(`http://[${ip}]`) ? new URL(`http://[${ip}]`).hostname.slice(1, -1) : ip
  // The one form that every spelling of a mapped address comes to.
  const mapped = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/.exec(hostname)
  if (mapped) {
    const [high, low] = [Number.parseInt(mapped[1] ?? '', 16), Number.parseInt(mapped[2] ?? '', 16)]
    return [high >> 8, high & 255, low >> 8, low & 255].join('.')
  }
  const [head = '', tail = ''] = hostname.split('::')
  const left = head ? head.split(':') : []
  const right = tail ? tail.split(':') : []
  const full = hostname.includes('::')
    ? [...left, ...Array(8 - left.length - right.length).fill('0'), ...right]
    : left
  return `${full.slice(0, 4).join(':')}::/64`
}

/** Spends one point; throws RateLimited with the seconds to wait when there is none left. */
export async function spend(name: LimitName, tenant: string, ip: string | null): Promise<void> {
  try {
    await limiterOf(name).consume(`${tenant}:${networkOf(ip)}`)
  } catch (refusal) {
    if (refusal instanceof RateLimiterRes)
      throw new RateLimited(Math.max(1, Math.ceil(refusal.msBeforeNext / 1000)))
    log.warn(
      { err: refusal instanceof Error ? refusal.message : String(refusal) },
      `limit ${name} could not be counted`,
    )
  }
}
