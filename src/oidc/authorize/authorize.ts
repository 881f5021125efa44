import { OAuthError } from '../../errors.ts'
import { repeatedNames } from '../../params.ts'
import { requestableScopes, toScopes } from '../scopes.ts'
import { askedResources, requireAllowed } from '../token/asked-resources.ts'
import { requestedClaims } from './claims-parameter.ts'
import type { ClaimsRequest } from './claims-request.ts'
import { invalid, single } from './parameters.ts'
import { provenTarget, type RequestingClient } from './proven-target.ts'
import { RESPONSE_MODES, type ResponseTarget, requestedMode } from './response-modes.ts'

export const PROMPTS = ['none', 'login', 'consent', 'select_account'] as const
export type Prompt = (typeof PROMPTS)[number]

/** How pages are shown (OIDC Core, section 3.1.2.1). Every page is one for fingers, so that touch is page. */
export const DISPLAYS = ['page', 'popup', 'touch'] as const
export type Display = (typeof DISPLAYS)[number]

/** A checked authorize request; plain JSON, so that an interaction can keep it. */
export type AuthorizeRequest = ResponseTarget & {
  /** Known ones that the client may ask for; always with openid. */
  scopes: string[]
  nonce: string | null
  /** S256 (RFC 7636). */
  codeChallenge: string | null
  prompt: Prompt[]
  display: Display
  maxAgeSeconds: number | null
  loginHint: string | null
  idTokenHint: string | null
  /** The audiences that the client wants (RFC 8707). */
  resources: string[]
  /** Claims that are asked for one by one. */
  claims: ClaimsRequest | null
  /** Thumbprint of the DPoP key that the code is to be bound to (RFC 9449, section 10). */
  dpopJkt: string | null
}

/**
 * Checks an authorize request (RFC 6749, section 4.1.1; OIDC Core, section 3.1.2.2). The client and the redirect_uri
 * come first: only then may an error be sent anywhere. Throws OAuthError, with `redirect` false until both are proven.
 * `resources` are the audiences that may be asked for; `isPushed` says that the client itself brought the request (RFC 9126).
 */
export function parseAuthorizeRequest(
  params: URLSearchParams,
  client: RequestingClient | null,
  resources: readonly string[],
  isPushed: boolean,
): AuthorizeRequest {
  const target = provenTarget(params, client)
  const proven = client as RequestingClient
  refuseRepeated(params)
  refuseMachine(proven)
  requirePushed(proven, isPushed)
  refuseUnsupported(params)
  requireCode(params)
  requireMode(params, target)
  return {
    ...target,
    scopes: requestedScopes(params, proven),
    nonce: single(params, 'nonce'),
    codeChallenge: codeChallenge(params, proven),
    prompt: prompts(params),
    display: display(params),
    maxAgeSeconds: maxAge(params),
    loginHint: single(params, 'login_hint')?.slice(0, 320).toWellFormed() ?? null,
    idTokenHint: single(params, 'id_token_hint'),
    resources: requestedResources(params, resources),
    claims: requestedClaims(params),
    dpopJkt: dpopJkt(params),
  }
}

function refuseRepeated(params: URLSearchParams): void {
  // Several audiences are several parameters (RFC 8707, section 2).
  const repeated = repeatedNames(params).filter((name) => name !== 'resource')
  if (repeated.length > 0) throw invalid(`Repeated parameters: ${repeated.join(', ')}.`)
}

function refuseMachine(client: RequestingClient): void {
  if (client.appType === 'machine')
    throw new OAuthError('unauthorized_client', 'Machine clients cannot sign people in.')
}

/** Some clients' requests are not taken from a browser (RFC 9126, section 4). */
function requirePushed(client: RequestingClient, isPushed: boolean): void {
  if (client.requirePushedRequests && !isPushed)
    throw invalid('This client must push its requests: a request_uri of the pushed request is missing.')
}

/** Parameters that change the meaning of the request and that we do not support (OIDC Core, section 3.1.2.6). */
function refuseUnsupported(params: URLSearchParams): void {
  if (params.get('request'))
    throw new OAuthError('request_not_supported', 'Request objects are not supported.')
  if (params.get('request_uri'))
    throw new OAuthError('request_uri_not_supported', 'request_uri is not supported.')
  if (params.get('registration'))
    throw new OAuthError('registration_not_supported', 'The registration parameter is not supported.')
}

function requireCode(params: URLSearchParams): void {
  const type = single(params, 'response_type')
  if (!type) throw invalid('response_type is missing.')
  if (type !== 'code')
    throw new OAuthError('unsupported_response_type', 'Only response_type=code is supported.')
}

function requireMode(params: URLSearchParams, { redirectUri }: ResponseTarget): void {
  if (requestedMode(params, redirectUri) !== null) return
  throw invalid(
    `Supported response_modes: ${RESPONSE_MODES.join(', ')}; query alone where it is no web address.`,
    {
      response_mode: single(params, 'response_mode'),
      redirect_uri: redirectUri,
    },
  )
}

function requestedScopes(params: URLSearchParams, client: RequestingClient): string[] {
  const scopes = toScopes(single(params, 'scope') ?? '')
  if (!scopes.includes('openid')) throw new OAuthError('invalid_scope', 'The scope must contain openid.')
  return requestableScopes(scopes, client)
}

/** PKCE with S256 alone (RFC 7636; RFC 9700, section 2.1.1); public clients cannot do without. */
function codeChallenge(params: URLSearchParams, client: RequestingClient): string | null {
  const challenge = single(params, 'code_challenge')
  const method = single(params, 'code_challenge_method')
  if (!challenge) {
    if (method) throw invalid('code_challenge_method comes without a code_challenge.')
    if (client.appType !== 'web') throw invalid('This client must use PKCE: code_challenge is missing.')
    return null
  }
  // Without a method, RFC 7636 means plain.
  if (method !== 'S256') throw invalid('Only code_challenge_method=S256 is supported.')
  if (!/^[A-Za-z0-9_-]{43}$/.test(challenge)) throw invalid('The code_challenge is not one of S256.')
  return challenge
}

/** A SHA-256 thumbprint (RFC 9449, section 10). */
function dpopJkt(params: URLSearchParams): string | null {
  const thumbprint = single(params, 'dpop_jkt')
  if (thumbprint !== null && !/^[A-Za-z0-9_-]{43}$/.test(thumbprint))
    throw invalid('The dpop_jkt is not a SHA-256 thumbprint of a key.')
  return thumbprint
}

function prompts(params: URLSearchParams): Prompt[] {
  const asked = toScopes(single(params, 'prompt') ?? '')
  const unknown = asked.filter((value) => !(PROMPTS as readonly string[]).includes(value))
  if (unknown.length > 0) throw invalid(`The prompt ${unknown.join(', ')} is not supported.`)
  if (asked.includes('none') && asked.length > 1) throw invalid('prompt=none cannot be combined with others.')
  return asked as Prompt[]
}

/** Values that are not understood are better ignored than refused (OIDC Core, section 3.1.2.1). */
const display = (params: URLSearchParams): Display =>
  DISPLAYS.find((known) => known === single(params, 'display')) ?? 'page'

function maxAge(params: URLSearchParams): number | null {
  const text = single(params, 'max_age')
  if (text === null) return null
  if (!/^\d{1,10}$/.test(text)) throw invalid('max_age must be a whole number of seconds.')
  return Number(text)
}

function requestedResources(params: URLSearchParams, allowed: readonly string[]): string[] {
  const asked = askedResources(params)
  requireAllowed(asked, allowed)
  return asked
}
