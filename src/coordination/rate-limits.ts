import { LRUCache } from 'lru-cache'
import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible'
import { errorMessage } from '../core/error-message.ts'
import { RateLimited } from '../core/errors.ts'
import { log } from '../core/log.ts'
import { countLimited } from '../core/metrics.ts'
import { toNetwork } from '../core/network/ip.ts'
import { LIMIT_SETTINGS } from '../model/limit-settings.ts'
import { getRedis } from './bus.ts'

/** `points` uses in `seconds`, for each tenant and network. Where a tenant has a setting, that is the number. */
type RateLimit = { points: number; seconds: number }

/** Limits that are counted outside the database, per network; all transports and processes share them. */
export const RATE_LIMITS = {
  /** Passcodes requested and not used. The limit of an address is in passcodes.sql.ts. */
  sendPasscode: { points: LIMIT_SETTINGS.networkCodeLimit.standard, seconds: 3600 },
  /** Wrong guesses at passcodes, over all addresses. */
  authenticatePasscode: { points: LIMIT_SETTINGS.networkFailureLimit.standard, seconds: 3600 },
  /** Text messages with codes, of a tenant. */
  smsDay: { points: LIMIT_SETTINGS.smsDailyLimit.standard, seconds: 86_400 },
  /** Text messages with codes that are not used, to a range of numbers. */
  smsPrefix: { points: LIMIT_SETTINGS.smsPrefixLimit.standard, seconds: 3600 },
  /** Passkeys that were not accepted. */
  rejectPasskey: { points: LIMIT_SETTINGS.networkFailureLimit.standard, seconds: 3600 },
  /** Wrong guesses at old passwords, over all addresses. */
  enterPassword: { points: LIMIT_SETTINGS.networkFailureLimit.standard, seconds: 3600 },
  /** Sign-ins at identity providers that were not accepted. */
  rejectIdentity: { points: LIMIT_SETTINGS.networkFailureLimit.standard, seconds: 3600 },
  /** Steps of enrollments, three for each: many users of one office may enroll in an hour. */
  enrollCredential: { points: 600, seconds: 3600 },
  /** Invitations that are opened or accepted: many people of one office may be invited at a time. */
  openInvitation: { points: 600, seconds: 3600 },
  /** Messages to administrators who test the servers of their tenant. */
  testDelivery: { points: 30, seconds: 3600 },
  /** Links for the set-up of organizations that are opened, and forms of the set-up, which ask the DNS or a provider. */
  useSetupLink: { points: 300, seconds: 3600 },
  /** Look-ups of the TXT records of an organization's domains that callers ask for. A slow DNS server takes ten seconds. */
  lookUpDomain: { points: 120, seconds: 3600 },
  /** Messages of a webhook that callers send for a test or again, one at a time. */
  sendMessage: { points: 600, seconds: 3600 },
  /** Ranges of events or failed messages that callers let a webhook send again. */
  repeatMessages: { points: 12, seconds: 3600 },
  /** Sign-ins at identity providers that are verified: each sends a request to the provider. */
  linkIdentity: { points: 100, seconds: 3600 },
  /** Shared signals of an identity provider, which repeats those that are rejected. */
  receiveSignal: { points: 1200, seconds: 60 },
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

/**
 * The counters in this process, of all limits, by limit and owner: about 25 MB. Strangers have any number of networks, so
 * that the counter that was used least recently is forgotten.
 */
const counters = new LRUCache<string, { limiter: ProcessLimiter; owner: string }>({
  max: 50_000,
  dispose: ({ limiter, owner }, _key, reason) => {
    if (reason === 'evict') void limiter.delete(owner)
  },
})

/** Counts in this process. */
class ProcessLimiter extends RateLimiterMemory {
  override penalty(owner: string, uses?: number): ReturnType<RateLimiterMemory['penalty']> {
    this.#keep(owner)
    return super.penalty(owner, uses)
  }

  override reward(owner: string, uses?: number): ReturnType<RateLimiterMemory['reward']> {
    this.#keep(owner)
    return super.reward(owner, uses)
  }

  #keep(owner: string): void {
    counters.set(`${this.keyPrefix}:${owner}`, { limiter: this, owner })
  }
}

const limiters = new Map<LimitName, RateLimiterMemory | RateLimiterRedis>()

function getLimiter(name: LimitName) {
  let limiter = limiters.get(name)
  if (!limiter) {
    const { points, seconds } = RATE_LIMITS[name]
    const memory = new ProcessLimiter({ keyPrefix: name, points, duration: seconds })
    const store = getRedis()
    limiter = store
      ? // While Redis is unavailable, each process counts separately.
        new RateLimiterRedis({
          storeClient: store,
          keyPrefix: name,
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
 * Counts one use by `owner`, which starts with the tenant. Throws RateLimited with the seconds to wait when
 * there are more than `points`; then it is not counted. A use that cannot be counted is permitted.
 */
export async function takeFromLimit(name: LimitName, owner: string, points: number): Promise<void> {
  const limiter = getLimiter(name)
  const used = await limiter.penalty(owner).catch((error: unknown) => warnUncounted(name, error))
  if (!used || used.consumedPoints <= points) return
  await limiter.reward(owner).catch((error: unknown) => warnUncounted(name, error))
  countLimited(name)
  throw new RateLimited(Math.max(1, Math.ceil(used.msBeforeNext / 1000)))
}

/** Throws RateLimited when `points` uses were counted for the owner. Counts nothing. */
export async function requireWithinLimit(name: LimitName, owner: string, points: number): Promise<void> {
  const used = await getLimiter(name)
    .get(owner)
    .catch((error: unknown) => warnUncounted(name, error))
  if (!used || used.consumedPoints < points) return
  countLimited(name)
  throw new RateLimited(Math.max(1, Math.ceil(used.msBeforeNext / 1000)))
}

/** Gives uses back that proved to be no abuse. */
export async function returnToLimit(name: LimitName, owner: string, uses = 1): Promise<void> {
  try {
    const limiter = getLimiter(name)
    const { consumedPoints } = await limiter.reward(owner, uses)
    // The period has passed since, or others have returned the same uses: none may remain for later.
    if (consumedPoints < 0) await limiter.penalty(owner, Math.min(uses, -consumedPoints))
  } catch (error) {
    warnUncounted(name, error)
  }
}

function warnUncounted(name: LimitName, error: unknown): null {
  log.warn({ err: errorMessage(error) }, `limit ${name} could not be counted`)
  return null
}

/** Counts one use by the network of an IP address, as takeFromLimit. */
export const consumeLimit = (
  name: LimitName,
  tenant: string,
  ip: string | null,
  points: number = RATE_LIMITS[name].points,
): Promise<void> => takeFromLimit(name, toNetworkOwner(tenant, toNetwork(ip)), points)

/** Gives uses of a network back. */
export const returnToNetwork = (
  name: LimitName,
  tenant: string,
  network: string,
  uses?: number,
): Promise<void> => returnToLimit(name, toNetworkOwner(tenant, network), uses)

/** The owner of the uses of a network. */
export const toNetworkOwner = (tenant: string, network: string): string => `${tenant}:${network}`
