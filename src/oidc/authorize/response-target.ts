import type { ResponseMode } from '../model/authorize-request.ts'
import { diagnoseUnregisteredUri } from '../model/redirect-diagnostics.ts'
import { isRegisteredRedirect } from '../model/redirect-uris.ts'
import { createUnredirectableError, readParameter } from '../model/request-parameters.ts'
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

/** PostgreSQL cannot store U+0000. */
export function rejectUnstorable(params: URLSearchParams): void {
  if ([...params].some(([name, value]) => name.includes('\u0000') || value.includes('\u0000')))
    throw createUnredirectableError('A parameter contains U+0000.')
}

export function requireClient(params: URLSearchParams, client: RequestingClient | null): RequestingClient {
  const clientId = readParameter(params, 'client_id')
  if (!clientId) throw createUnredirectableError('client_id is missing or repeated.')
  if (!client || client.id !== clientId)
    throw createUnredirectableError('The client_id is unknown.', { client_id: clientId })
  return client
}

export function requireRegisteredRedirect(params: URLSearchParams, client: RequestingClient): string {
  const redirectUri = readParameter(params, 'redirect_uri')
  if (!redirectUri) throw createUnredirectableError('redirect_uri is missing or repeated.')
  if (!isRegisteredRedirect(client, redirectUri))
    throw createUnredirectableError(
      'The redirect_uri is not registered for this client.',
      diagnoseUnregisteredUri(client, redirectUri, client.callbacks, 'callbacks'),
    )
  return redirectUri
}

/**
 * The response mode, `query` for an unsupported one. Rejects web_message for an origin that is not registered: the
 * application waits for a message and would not receive a redirect.
 */
export function requireReachableMode(
  params: URLSearchParams,
  client: RequestingClient,
  redirectUri: string,
): ResponseMode {
  const responseMode = parseResponseMode(params, redirectUri) ?? 'query'
  if (responseMode === 'web_message' && selectMessageOrigin(client, redirectUri) === null)
    throw createUnredirectableError(
      'The origin of the redirect_uri is not one of the webOrigins of this client.',
      {
        given: redirectUri,
        webOrigins: client.webOrigins.join(' '),
      },
    )
  return responseMode
}
