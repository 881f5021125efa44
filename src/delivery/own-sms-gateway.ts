import { FetchError, guardedFetch } from '../core/network/fetcher.ts'
import { connectGuarded } from '../core/network/guarded-connect.ts'
import { ConversationError, converse, type OwnServers, unsealServerSecret } from './own-servers.ts'

const FAULTS: Record<FetchError['kind'], string> = {
  refused: 'The host is not on a public address.',
  redirected: 'The gateway redirects elsewhere.',
  unreachable: 'The gateway could not be reached.',
  slow: 'The gateway did not answer within 10 seconds.',
  'too-large': 'The answer of the gateway is too large.',
}

const toConversationError = (error: unknown): ConversationError =>
  new ConversationError(FAULTS[error instanceof FetchError ? error.kind : 'unreachable'])

/** What a gateway answers to each message while it fails; other statuses may be about the number. */
const isFault = (status: number): boolean => status >= 500 || [401, 403, 404, 429].includes(status)

/**
 * Sends a text message through the gateway of the tenant. The answer is not read, because it may quote the message. Resolves
 * with the outcome in words. Throws ConversationError.
 */
export const sendByOwnGateway = (
  servers: OwnServers,
  message: { to: string; body: string },
): Promise<string> =>
  converse(servers, 'sms', async (signal) => {
    const { ok, status } = await guardedFetch(servers.smsGatewayUrl ?? '', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${unsealServerSecret(servers, 'smsGatewayToken')}`,
      },
      body: JSON.stringify(message),
      readBody: false,
      signal,
    }).catch((error: unknown) => {
      throw toConversationError(error)
    })
    const outcome = `The gateway answered with status ${status}.`
    if (!ok) throw new ConversationError(outcome, isFault(status))
    return outcome
  })

/** Connects to the gateway of the tenant, without a request. Throws ConversationError. */
export const connectOwnGateway = (servers: OwnServers): Promise<string> =>
  converse(servers, 'sms', async (signal) => {
    const { hostname, port, protocol } = new URL(servers.smsGatewayUrl ?? '')
    const host = hostname.replace(/^\[|\]$/g, '')
    const socket = await connectGuarded(
      host,
      Number(port) || (protocol === 'https:' ? 443 : 80),
      signal,
    ).catch((error: unknown) => {
      throw toConversationError(error)
    })
    socket.destroy()
    return 'The gateway accepted the connection.'
  })
