import { issuerOf } from '../../core/issuer.ts'
import { toErrorDescription } from '../../http/redirects.ts'
import { RESPONSE_MODES, type ResponseMode, type ResponseTarget } from '../model/authorize-request.ts'
import { readParameter } from '../model/request-parameters.ts'

/** An authorization response with its target. Null parameters are omitted. */
export type AuthorizationResponse = ResponseTarget & {
  tenant: string
  parameters: Record<string, string | null>
}

/** The origin of an http or https URI; null for other schemes. */
export function toWebOrigin(uri: string): string | null {
  const { protocol, origin } = URL.canParse(uri) ? new URL(uri) : { protocol: '', origin: '' }
  return protocol === 'https:' || protocol === 'http:' ? origin : null
}

/**
 * The requested response mode, `query` by default. Null for an unsupported mode, and for form_post with a
 * redirect URI that is not a web address.
 */
export function parseResponseMode(params: URLSearchParams, redirectUri: string): ResponseMode | null {
  const requested = readParameter(params, 'response_mode')
  if (requested === null) return 'query'
  if (requested === 'form_post' && toWebOrigin(redirectUri) === null) return null
  return RESPONSE_MODES.find((mode) => mode === requested) ?? null
}

/**
 * The only origin that may receive a web_message response (draft-sakimura-oauth-wmrm): that of the
 * redirect_uri, if it is among the client's webOrigins; null otherwise. An origin contains more pages than
 * the registered one, hence the separate list.
 */
export function selectMessageOrigin(
  client: { webOrigins: readonly string[] },
  redirectUri: string,
): string | null {
  const origin = toWebOrigin(redirectUri)
  return origin !== null && client.webOrigins.includes(origin) ? origin : null
}

const buildResponse = (
  tenant: string,
  { clientId, redirectUri, state, responseMode }: ResponseTarget,
  parameters: Record<string, string>,
): AuthorizationResponse => ({
  tenant,
  clientId,
  redirectUri,
  state,
  responseMode,
  parameters: { ...parameters, state, iss: issuerOf(tenant) },
})

/** The successful response (RFC 6749, section 4.1.2; RFC 9207). */
export const buildCodeResponse = (
  tenant: string,
  target: ResponseTarget,
  code: string,
): AuthorizationResponse => buildResponse(tenant, target, { code })

/** The error response (RFC 6749, section 4.1.2.1; RFC 9207). */
export const buildErrorResponse = (
  tenant: string,
  target: ResponseTarget,
  error: string,
  description: string,
): AuthorizationResponse =>
  buildResponse(tenant, target, { error, error_description: toErrorDescription(description) })
