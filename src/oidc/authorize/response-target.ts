import { decodeJwt } from 'jose'
import type { ClaimMapping } from '../../model/claim-mappings.ts'
import type { OrganizationMode } from '../../model/organization-mode.ts'
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
  claimMappings: ClaimMapping[]
  groupsClaim: boolean
  codeGeneration: number
  organization: OrganizationMode
  requirePushedRequests: boolean
  requirePkce: boolean
}

/** PostgreSQL cannot store U+0000. */
export function rejectUnstorable(params: URLSearchParams): void {
  params.forEach((value, name) => {
    if (name.includes('\u0000') || value.includes('\u0000'))
      throw createUnredirectableError('A parameter contains U+0000.')
  })
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

/** The parameters that say where and how a response is sent. */
const TARGET_PARAMETERS = ['redirect_uri', 'response_mode', 'state']

/** The claims of a request object, unverified; none when it is encrypted or malformed. */
function decodeRequestObject(object: string): Record<string, unknown> {
  try {
    return decodeJwt(object)
  } catch {
    return {}
  }
}

/**
 * The parameters of a request, with those of its request object (OIDC Core, section 6.1) that say where and
 * how the error about the object is sent, each only where the request itself has none. A client that uses
 * request objects may send them nowhere else. The object is not verified, like the parameters of the request:
 * the target is validated afterwards in either case.
 */
export function addRequestObjectTarget(params: URLSearchParams): URLSearchParams {
  const object = params.get('request')
  if (!object) return params
  const claims = decodeRequestObject(object)
  const added = TARGET_PARAMETERS.flatMap((name) => {
    const value = claims[name]
    return typeof value === 'string' && !params.has(name) ? [[name, value]] : []
  })
  return new URLSearchParams([...params, ...added])
}
