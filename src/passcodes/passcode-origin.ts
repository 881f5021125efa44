import { toNetwork } from '../core/network/ip.ts'
import { SHARED_BUDGET } from './passcode-budgets.sql.ts'

const NETWORK_PREFIX = 'network:'

/**
 * Where a code is requested and entered. Each origin has a code of its own, so that none replaces or uses up
 * the code of another. `budget` counts sent codes and wrong guesses, `network` the codes that one network
 * requests from the shared budget.
 */
export type PasscodeOrigin = { origin: string; budget: string; network: string | null }

/** Whether it is a browser or device in which the address signed in before. */
export const isKnownBrowser = ({ budget }: Pick<PasscodeOrigin, 'budget'>): boolean =>
  budget !== SHARED_BUDGET

/** The network that requested the code; null if it is not counted, as for a known browser. */
export const getRequestNetwork = ({ network }: Pick<PasscodeOrigin, 'network'>): string | null =>
  network?.slice(NETWORK_PREFIX.length) ?? null

/** The management API: its callers share the codes that they send. `ip` is the address of their user. */
export const toApiOrigin = (ip: string | null): PasscodeOrigin => ({
  origin: 'api',
  budget: SHARED_BUDGET,
  network: ip && `${NETWORK_PREFIX}${toNetwork(ip)}`,
})

/** A device in which the address was proven before, whose backend calls the management API. */
export const toDeviceOrigin = (deviceId: string): PasscodeOrigin => ({
  origin: `api:${deviceId}`,
  budget: `device:${deviceId}`,
  network: null,
})

/**
 * A sign-in on the hosted pages. A browser in which the address has signed in before has a budget of its own,
 * which others cannot use up.
 */
export const toSignInOrigin = (
  interactionId: string,
  ip: string | null,
  knownBrowser: string | null,
): PasscodeOrigin => ({
  origin: `interaction:${interactionId}`,
  ...(knownBrowser
    ? { budget: `browser:${knownBrowser}`, network: null }
    : { budget: SHARED_BUDGET, network: `${NETWORK_PREFIX}${toNetwork(ip)}` }),
})
