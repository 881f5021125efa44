import { env } from '../env.ts'
import { Unavailable } from '../errors.ts'
import { log } from '../log.ts'
import { keepMessage } from './inbox.ts'
import { DELIVERY_LIMIT_MS } from './mail.ts'

/** `to` is a number in E.164. */
export type Sms = { to: string; body: string }

/**
 * Hands a text message to the gateway (SMS_URL: POST JSON {to, body} with a bearer token) and waits for its 2xx, 10 s
 * at most. Throws Unavailable otherwise. Without SMS_URL it goes to the console and the inbox of development.
 */
export async function deliverSms({ to, body }: Sms): Promise<void> {
  if (!env.sms) {
    if (env.isProduction) throw new Unavailable('Text messages are not configured.')
    return keepMessage({ to, channel: 'sms', sentAt: new Date(), body })
  }
  const response = await fetch(env.sms.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${env.sms.token}` },
    body: JSON.stringify({ to, body }),
    // Elsewhere the token and the code have no business.
    redirect: 'error',
    signal: AbortSignal.timeout(DELIVERY_LIMIT_MS),
  }).catch((error: unknown) => refuse(error instanceof Error ? error.name : 'unknown'))
  await response.body?.cancel()
  if (!response.ok) refuse(`status ${response.status}`)
}

/** What the gateway says stays out of the log: it may quote the message. */
function refuse(reason: string): never {
  log.error({ reason }, 'a text message could not be delivered')
  throw new Unavailable('The message could not be delivered; try again.')
}
