import type { ResponseTarget } from '../model/authorize-request.ts'
import { diagnoseUnregisteredUri } from '../model/redirect-diagnostics.ts'
import { isRegisteredRedirect } from '../model/redirect-uris.ts'
import { createUnredirectableError, readParameter } from '../model/request-parameters.ts'
import { addRequestObjectTarget } from './request-object.ts'
import { parseResponseMode, selectMessageOrigin } from './response-modes.ts'

/** The members of a client that authorize requests are validated against. */
export type RequestingClient = {
  id: string
  appType: string
  registeredBy: string
  callbacks: string[]
  webOrigins: string[]
  scopes: string[]
  requirePushedRequests: boolean
  requirePkce: boolean
}

/**
 * Validates where the response may be sent. Throws OAuthError, not redirected (RFC 6749, section 4.1.2.1).
 */
export function validateResponseTarget(
  sent: URLSearchParams,
  client: RequestingClient | null,
): ResponseTarget {
  const params = addRequestObjectTarget(sent)
  // PostgreSQL cannot store U+0000.
  if ([...params].some(([name, value]) => name.includes('\u0000') || value.includes('\u0000')))
    throw createUnredirectableError('A parameter contains U+0000.')
  const clientId = readParameter(params, 'client_id')
  if (!clientId) throw createUnredirectableError('client_id is missing or repeated.')
  if (!client || client.id !== clientId)
    throw createUnredirectableError('The client_id is unknown.', { client_id: clientId })
  const redirectUri = readParameter(params, 'redirect_uri')
  if (!redirectUri) throw createUnredirectableError('redirect_uri is missing or repeated.')
  if (!isRegisteredRedirect(client, redirectUri))
    throw createUnredirectableError(
      'The redirect_uri is not registered for this client.',
      diagnoseUnregisteredUri(client, redirectUri, client.callbacks, 'callbacks'),
    )
  // The error about an unsupported mode is sent by the default mode.
  const responseMode = parseResponseMode(params, redirectUri) ?? 'query'
  // The application waits for a message and would not receive a redirect.
  if (responseMode === 'web_message' && selectMessageOrigin(client, redirectUri) === null)
    throw createUnredirectableError(
      'The origin of the redirect_uri is not one of the webOrigins of this client.',
      {
        given: redirectUri,
        webOrigins: client.webOrigins.join(' '),
      },
    )
  return { clientId, redirectUri, state: readParameter(params, 'state'), responseMode }
}
