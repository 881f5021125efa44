import { issuerOf } from './keys.ts'
import { invalid, single } from './parameters.ts'
import { describable } from './redirect-uris.ts'

/** How an authorization response travels (OAuth 2.0 Multiple Response Types, section 2.1). */
export const RESPONSE_MODES = ['query'] as const
export type ResponseMode = (typeof RESPONSE_MODES)[number]

/** Where an authorization response goes, good or bad. */
export type ResponseTarget = { redirectUri: string; state: string | null; responseMode: ResponseMode }

/** An authorization response: what goes where. Null parameters are left out. */
export type AuthorizationAnswer = ResponseTarget & { parameters: Record<string, string | null> }

/** The response mode that a request asks for. Throws OAuthError invalid_request for one that there is not. */
export function requestedMode(params: URLSearchParams): ResponseMode {
  const asked = single(params, 'response_mode')
  if (asked === null) return 'query'
  const mode = RESPONSE_MODES.find((known) => known === asked)
  if (!mode)
    throw invalid(`Supported response_modes: ${RESPONSE_MODES.join(', ')}.`, { response_mode: asked })
  return mode
}

const answerOf = (
  tenant: string,
  { redirectUri, state, responseMode }: ResponseTarget,
  parameters: Record<string, string>,
): AuthorizationAnswer => ({
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
