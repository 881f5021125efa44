import { type CachedClient, findClient } from '../../clients/client-cache.ts'
import { unproven } from '../authorize/parameters.ts'
import { whyNotRegistered } from '../authorize/redirect-difference.ts'
import { isRegisteredRedirect, withParameters } from '../authorize/redirect-uris.ts'
import { readIdTokenHint } from '../token/id-tokens.ts'

/** A checked logout request (RP-Initiated Logout 1.0, section 2). */
export type LogoutRequest = {
  client: CachedClient | null
  /** The session that the id_token_hint was issued in. */
  hintedSessionId: string | null
  /** Where to go afterwards, with its state; null when the request names no place. */
  returnTo: string | null
}

/** Compared as callbacks are: a native application listens on whatever port it was given, when it signs out, too. */
const mayReturnTo = ({ appType, allowedLogoutUrls }: CachedClient, uri: string): boolean =>
  isRegisteredRedirect({ appType, callbacks: allowedLogoutUrls }, uri)

/**
 * Checks a logout request. Throws OAuthError, which is never redirected, for a hint that is not ours or is another
 * client's, an unknown client, and a post_logout_redirect_uri that the client did not register, byte for byte (but for
 * the port of a native application's loopback address). logout_hint and ui_locales may be given; the session that ends is
 * the browser's, and there is one language.
 */
export async function parseLogoutRequest(
  tenant: string,
  params: Record<string, string>,
): Promise<LogoutRequest> {
  if (Object.values(params).some((value) => value.includes('\u0000')))
    throw unproven('A parameter contains U+0000.')
  const hint = params.id_token_hint ? await readIdTokenHint(tenant, params.id_token_hint) : null
  if (hint && params.client_id && params.client_id !== hint.clientId)
    throw unproven('The id_token_hint was issued to another client.', { issued_to: hint.clientId })
  const clientId = hint?.clientId ?? params.client_id
  const client = clientId ? await findClient(tenant, clientId) : null
  if (params.client_id && !client) throw unproven('The client_id is not known.')
  const target = params.post_logout_redirect_uri
  if (target && !(client && mayReturnTo(client, target)))
    throw unproven(
      'The post_logout_redirect_uri is not registered for this client.',
      client
        ? { client_id: client.id, ...whyNotRegistered(target, client.allowedLogoutUrls, 'allowedLogoutUrls') }
        : { reason: 'neither id_token_hint nor client_id says whose address it is', given: target },
    )
  return {
    client,
    hintedSessionId: hint?.sessionId ?? null,
    returnTo: target ? withParameters(target, { state: params.state ?? null }) : null,
  }
}
