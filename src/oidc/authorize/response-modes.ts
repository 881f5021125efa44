import { issuerOf } from '../keys/keys.ts'
import { single } from './parameters.ts'
import { describable } from './redirect-uris.ts'

/** How an authorization response travels (OAuth 2.0 Multiple Response Types, section 2.1). */
export const RESPONSE_MODES = ['query', 'form_post', 'web_message'] as const
export type ResponseMode = (typeof RESPONSE_MODES)[number]

/** Where an authorization response goes, good or bad. */
export type ResponseTarget = {
  clientId: string
  redirectUri: string
  state: string | null
  responseMode: ResponseMode
}

/** An authorization response: what goes where. Null parameters are left out. */
export type AuthorizationAnswer = ResponseTarget & {
  tenant: string
  parameters: Record<string, string | null>
}

/** The origin of a web address; null for the address of a native application. */
function webOriginOf(uri: string): string | null {
  const { protocol, origin } = URL.canParse(uri) ? new URL(uri) : { protocol: '', origin: '' }
  return protocol === 'https:' || protocol === 'http:' ? origin : null
}

/**
 * The response mode that a request asks for, query unless it does. Null for one that there is not, and for a form that
 * would have to be posted to a native application.
 */
export function requestedMode(params: URLSearchParams, redirectUri: string): ResponseMode | null {
  const asked = single(params, 'response_mode')
  if (asked === null) return 'query'
  if (asked === 'form_post' && webOriginOf(redirectUri) === null) return null
  return RESPONSE_MODES.find((mode) => mode === asked) ?? null
}

/**
 * The one origin that a web_message is for (draft-sakimura-oauth-wmrm): that of the redirect_uri, if it is among the
 * client's webOrigins; null otherwise. An origin is more than the page that was registered, hence the second list.
 */
export function messageOriginOf(
  client: { webOrigins: readonly string[] },
  redirectUri: string,
): string | null {
  const origin = webOriginOf(redirectUri)
  return origin !== null && client.webOrigins.includes(origin) ? origin : null
}

const answerOf = (
  tenant: string,
  { clientId, redirectUri, state, responseMode }: ResponseTarget,
  parameters: Record<string, string>,
): AuthorizationAnswer => ({
  tenant,
  clientId,
  redirectUri,
  state,
  responseMode,
  parameters: { ...parameters, state, iss: issuerOf(tenant) },
})

/** The successful response (RFC 6749, section 4.1.2; RFC 9207). */
export const codeAnswer = (tenant: string, target: ResponseTarget, code: string): AuthorizationAnswer =>
  answerOf(tenant, target, { code })

/** The error response (RFC 6749, section 4.1.2.1; RFC 9207). */
export const errorAnswer = (
  tenant: string,
  target: ResponseTarget,
  error: string,
  description: string,
): AuthorizationAnswer => answerOf(tenant, target, { error, error_description: describable(description) })
