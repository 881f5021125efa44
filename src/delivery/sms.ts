import { once } from 'node:events'
import { connect } from 'node:net'
import { type Env, env } from '../core/env.ts'
import { Unavailable } from '../core/errors.ts'
import { log } from '../core/log.ts'
import { tracedCall } from '../core/requests/spans.ts'
import { addInboxMessage } from './inbox.ts'
import { DELIVERY_TIMEOUT_MS, UNDELIVERED } from './mail.ts'
import { ConversationError, type OwnServers } from './own-servers.ts'
import { sendByOwnGateway } from './own-sms-gateway.ts'

/**
 * Whether text messages are sent: by the gateway of the tenant, or of this deployment. In development, the inbox receives
 * them.
 */
export const canSendSms = (own?: { smsGatewayUrl?: string | null | undefined }): boolean =>
  Boolean(own?.smsGatewayUrl) || env.sms !== undefined || !env.isProduction

/** `to` is a number in E.164; `servers` are those of the tenant that the message is from. */
export type Sms = { to: string; body: string; servers?: OwnServers | undefined }

/**
 * Sends a text message of a tenant through its own gateway, and through no other while that fails. Resolves with the outcome
 * in words; null for a tenant without one. Throws ConversationError.
 */
export const sendSmsByTenant = async ({ servers, ...message }: Sms): Promise<string | null> =>
  servers?.smsGatewayUrl ? sendByOwnGateway(servers, message) : null

/**
 * Sends a text message to the gateway of the tenant, or to that of the deployment (SMS_URL), and waits for a 2xx
 * status, at most 10 s. Throws Unavailable otherwise. Without SMS_URL the message is stored in the
 * development inbox.
 */
export async function deliverSms(sms: Sms): Promise<void> {
  const { to, body } = sms
  try {
    if ((await sendSmsByTenant(sms)) !== null) return
  } catch (error) {
    if (error instanceof ConversationError) throw new Unavailable(UNDELIVERED)
    throw error
  }
  if (!canSendSms()) throw new Unavailable('Text messages are not configured.')
  if (!env.sms) {
    return addInboxMessage({ to, channel: 'sms', sentAt: new Date(), body })
  }
  const { url, token } = env.sms
  const headers = new Headers({ 'content-type': 'application/json', authorization: `Bearer ${token}` })
  const response = await tracedCall({ method: 'POST', url: new URL(url), headers }, () =>
    fetch(url, {
      method: 'POST',
      headers,
      body: JSON.stringify({ to, body }),
      // The token and the code must not be sent to another host.
      redirect: 'error',
      signal: AbortSignal.timeout(DELIVERY_TIMEOUT_MS),
    }),
  ).catch((error: unknown) => throwDeliveryError(error instanceof Error ? error.name : 'unknown'))
  await response.body?.cancel()
  if (!response.ok) throwDeliveryError(`status ${response.status}`)
}

/**
 * Connects to the gateway, without a request. Throws when that fails or takes longer than `limitMs`. Does nothing without
 * SMS_URL.
 */
export async function connectSmsGateway(
  { sms }: Pick<Env, 'sms'> = env,
  limitMs = DELIVERY_TIMEOUT_MS,
): Promise<void> {
  if (!sms) return
  const { hostname, port, protocol } = new URL(sms.url)
  const socket = connect({
    // A URL has IPv6 addresses in brackets.
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(port) || (protocol === 'https:' ? 443 : 80),
    signal: AbortSignal.timeout(limitMs),
  })
  await once(socket, 'connect').finally(() => socket.destroy())
}

/** The response of the gateway is not logged, because it may quote the message. */
function throwDeliveryError(reason: string): never {
  log.error({ reason }, 'a text message could not be delivered')
  throw new Unavailable(UNDELIVERED)
}
