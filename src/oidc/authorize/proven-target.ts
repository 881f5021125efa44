import { single, unproven } from './parameters.ts'
import { whyNotRegistered } from './redirect-difference.ts'
import { isRegisteredRedirect } from './redirect-uris.ts'
import { messageOriginOf, type ResponseTarget, requestedMode } from './response-modes.ts'

/** What a request is checked against. */
export type RequestingClient = {
  id: string
  appType: string
  callbacks: string[]
  webOrigins: string[]
  scopes: string[]
  requirePushedRequests: boolean
}

/** Proves where the answer may go. Throws OAuthError that must not be redirected (RFC 6749, section 4.1.2.1). */
export function provenTarget(params: URLSearchParams, client: RequestingClient | null): ResponseTarget {
  // No text column holds U+0000, and no honest client sends it.
  if ([...params].some(([name, value]) => name.includes('\u0000') || value.includes('\u0000')))
    throw unproven('A parameter contains U+0000.')
  const clientId = single(params, 'client_id')
  if (!clientId) throw unproven('client_id is missing or repeated.')
  if (!client || client.id !== clientId)
    throw unproven('The client_id is not known.', { client_id: clientId })
  const redirectUri = single(params, 'redirect_uri')
  if (!redirectUri) throw unproven('redirect_uri is missing or repeated.')
  if (!isRegisteredRedirect(client, redirectUri))
    throw unproven(
      'The redirect_uri is not registered for this client.',
      whyNotRegistered(redirectUri, client.callbacks, 'callbacks'),
    )
  // A mode that there is not is told of by the default one.
  const responseMode = requestedMode(params, redirectUri) ?? 'query'
  // A redirect instead would put the answer where the application does not listen: it waits for a message.
  if (responseMode === 'web_message' && messageOriginOf(client, redirectUri) === null)
    throw unproven('The origin of the redirect_uri is not one of the webOrigins of this client.', {
      given: redirectUri,
      webOrigins: client.webOrigins.join(' '),
    })
  return { clientId, redirectUri, state: single(params, 'state'), responseMode }
}
