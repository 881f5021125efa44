import { findTenant } from '../access/tenant-cache.ts'
import {
  consumeLimit,
  RATE_LIMITS,
  requireWithinLimit,
  returnToNetwork,
  toNetworkOwner,
} from '../coordination/rate-limits.ts'
import { requireStorage } from '../coordination/storage-budgets.ts'
import { toNetwork } from '../core/network/ip.ts'
import type { LimitSetting } from '../model/limit-settings.ts'
import { getRequestNetwork, isKnownBrowser, type PasscodeOrigin } from './passcode-origin.ts'
import type { PasscodeAddress } from './passcodes.fields.ts'
import { returnSmsPrefix } from './sms-limits.ts'

/** A code with its counters and events, or the events of a guess. */
const PASSCODE_BYTES = 1000

/** What a network may do in a tenant. Each limit has a setting. */
const SETTINGS = {
  sendPasscode: 'networkCodeLimit',
  authenticatePasscode: 'networkFailureLimit',
  enterPassword: 'networkFailureLimit',
  rejectPasskey: 'networkFailureLimit',
  rejectIdentity: 'networkFailureLimit',
} as const satisfies Record<string, LimitSetting>
type NetworkLimit = keyof typeof SETTINGS

/**
 * Counts a code that is requested or entered, or a passkey or identity that was not accepted, in the limit of
 * the network for the tenant: the same for known and unknown addresses. What proves right is returned by
 * `returnProvenCode`. Throws RateLimited.
 */
export async function limitNetwork(name: NetworkLimit, tenant: string, ip: string | null): Promise<void> {
  const settings = await findTenant(tenant)
  await consumeLimit(name, tenant, ip, settings?.[SETTINGS[name]])
}

/** Throws RateLimited when the network has used up its limit, before work for which it would be counted. */
export async function requireNetworkWithinLimit(
  name: NetworkLimit,
  { tenant, ip }: { tenant: string; ip: string | null },
): Promise<void> {
  const points = (await findTenant(tenant))?.[SETTINGS[name]] ?? RATE_LIMITS[name].points
  await requireWithinLimit(name, toNetworkOwner(tenant, toNetwork(ip)), points)
}

/**
 * Counts as limitNetwork on a hosted page, and in what the network may store in all tenants. In a browser in which the
 * address signed in before (`isKnown`), only the latter: the budget of that browser limits it. A call of the
 * management API counts in the limit only: its caller says which network the user has, and could use up the
 * budget of any. Throws RateLimited.
 */
export async function limitUnauthenticated(
  name: NetworkLimit,
  { tenant, ip }: { tenant: string; ip: string | null },
  { isKnown = false } = {},
): Promise<void> {
  if (!isKnown) await limitNetwork(name, tenant, ip)
  await requireStorage('passcode', { tenant, ip }, { bytes: PASSCODE_BYTES })
}

/**
 * Returns a right code to the limits: the guess by `ip`, and the `codes` that were requested for it. Many users
 * of one network sign in this way, and a right code is what no guesser has.
 */
export async function returnProvenCode(
  tenant: string,
  ip: string | null,
  { origin, address, codes = 1 }: { origin: PasscodeOrigin; address: PasscodeAddress; codes?: number },
): Promise<void> {
  if (isKnownBrowser(origin)) return
  const requestedIn = getRequestNetwork(origin)
  await Promise.all([
    address.channel === 'sms' && returnSmsPrefix(tenant, address.key, codes),
    requestedIn !== null && returnToNetwork('sendPasscode', tenant, requestedIn, codes),
    requestedIn !== null && returnToNetwork('authenticatePasscode', tenant, toNetwork(ip)),
  ])
}
