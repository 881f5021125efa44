import { once } from 'node:events'
import { connect } from 'node:net'
import { type Env, env } from '../core/env.ts'
import { Unavailable } from '../core/errors.ts'
import { log } from '../core/log.ts'
import { addInboxMessage } from './inbox.ts'
import { DELIVERY_TIMEOUT_MS } from './mail.ts'

/** Whether this deployment sends text messages. In development, the inbox receives them. */
export const canSendSms = (): boolean => env.sms !== undefined || !env.isProduction

/** `to` is a number in E.164. */
export type Sms = { to: string; body: string }

/**
 * Sends a text message to the gateway (SMS_URL: POST JSON {to, body} with a bearer token) and waits for a 2xx
 * status, at most 10 s. Throws Unavailable otherwise. Without SMS_URL the message is stored in the
 * development inbox.
 */
export async function deliverSms({ to, body }: Sms): Promise<void> {
  if (!canSendSms()) throw new Unavailable('Text messages are not configured.')
  if (!env.sms) {
    return addInboxMessage({ to, channel: 'sms', sentAt: new Date(), body })
  }
  const response = await fetch(env.sms.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${env.sms.token}` },
    body: JSON.stringify({ to, body }),
    // The token and the code must not be sent to another host.
    redirect: 'error',
    signal: AbortSignal.timeout(DELIVERY_TIMEOUT_MS),
  }).catch((error: unknown) => throwDeliveryError(error instanceof Error ? error.name : 'unknown'))
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
  throw new Unavailable('The message could not be delivered; try again.')
}
