import { LRUCache } from 'lru-cache'
import { sha256Base64url } from '../core/crypto.ts'
import { Unavailable } from '../core/errors.ts'
import { connectMailServer } from './mail.ts'
import { verifyOwnMailServer } from './own-mail-server.ts'
import type { DeliveryChannel, OwnServers } from './own-servers.ts'
import { connectOwnGateway } from './own-sms-gateway.ts'
import { canSendSms, connectSmsGateway } from './sms.ts'

/**
 * Finds outages of mail and text messages, per tenant and channel, for pages that must not reveal which
 * addresses are known. An outage is counted from attempts to connect, which are made for every address that a
 * page is given, known or not. The delivery of a message never counts: only known addresses have one, and
 * a rejected mailbox concerns its owner alone.
 */

/** One address, requested again and again, does not make an outage. */
const OUTAGE_ADDRESSES = 3
const FAILURE_WINDOW_MS = 60_000
/** How long pages report an outage before the next address is tried. */
const OUTAGE_MS = 10_000
/** A successful connection counts for all addresses of this time. */
const CONNECTED_MS = 5000
const MAX_TENANTS = 10_000

/** `failures` has the time of the last failed attempt for each address, as a hash. */
type TransportState = { failures: Map<string, number>; outageUntil: number }

const states = new LRUCache<string, TransportState>({ max: MAX_TENANTS })
/** The last successful connections to the server of a tenant, or to that of the deployment. */
const connectedAt = new LRUCache<string, number>({ max: MAX_TENANTS })

const toStateKey = (tenant: string, channel: DeliveryChannel): string => `${tenant}:${channel}`

/**
 * Throws Unavailable, for every address, while messages of this tenant and channel are known to fail, and for
 * text messages without a gateway. An outage does not last longer when the clock is set back.
 */
export function assertDeliveryAvailable(
  tenant: string,
  channel: DeliveryChannel,
  servers: OwnServers | undefined,
): void {
  if (channel === 'sms' && !canSendSms(servers)) throw new Unavailable('Text messages are not configured.')
  const leftMs = (states.get(toStateKey(tenant, channel))?.outageUntil ?? 0) - Date.now()
  if (leftMs > 0 && leftMs <= OUTAGE_MS)
    throw new Unavailable('Messages cannot be delivered at the moment; try again.')
}

function countFailure(tenant: string, channel: DeliveryChannel, address: string, now: number): void {
  const key = toStateKey(tenant, channel)
  const state = states.get(key) ?? { failures: new Map(), outageUntil: 0 }
  states.set(key, state)
  for (const [failed, time] of state.failures)
    if (time < now - FAILURE_WINDOW_MS) state.failures.delete(failed)
  if (state.failures.size < OUTAGE_ADDRESSES) state.failures.set(sha256Base64url(address), now)
  if (state.failures.size >= OUTAGE_ADDRESSES) state.outageUntil = now + OUTAGE_MS
}

const connecting = new Map<string, Promise<void>>()

async function connectServer(channel: DeliveryChannel, own: OwnServers | null): Promise<void> {
  if (own) await (channel === 'email' ? verifyOwnMailServer : connectOwnGateway)(own)
  else await (channel === 'email' ? connectMailServer : connectSmsGateway)()
}

/** Connects to the server of a channel, that of the tenant if it has one; concurrent callers share one attempt. */
function shareConnection(channel: DeliveryChannel, own: OwnServers | null, key: string): Promise<void> {
  const shared =
    connecting.get(key) ??
    connectServer(channel, own)
      .then(() => void connectedAt.set(key, Date.now()))
      .finally(() => connecting.delete(key))
  connecting.set(key, shared)
  return shared
}

/**
 * Checks the server of a channel, for an address that a page was given. Call it for known and unknown
 * addresses alike, in the background; it never throws. See docs/decisions/0047.
 */
export async function checkDelivery(
  tenant: string,
  channel: DeliveryChannel,
  address: string,
  servers: OwnServers | undefined,
): Promise<void> {
  const own = servers?.[channel === 'email' ? 'mailServer' : 'smsGatewayUrl'] ? servers : null
  const key = toStateKey(own ? tenant : '', channel)
  try {
    if (Math.abs(Date.now() - (connectedAt.get(key) ?? 0)) > CONNECTED_MS)
      await shareConnection(channel, own, key)
    states.delete(toStateKey(tenant, channel))
  } catch {
    countFailure(tenant, channel, address, Date.now())
  }
}
