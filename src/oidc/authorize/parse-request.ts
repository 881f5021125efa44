import { OAuthError } from '../../core/oauth-error.ts'
import { parseScopeList } from '../../core/scopes.ts'
import { createRepeatedError, findRepeatedNames } from '../../http/repeated-parameters.ts'
import { isIdpId } from '../../schema/idp-id.ts'
import {
  type AuthorizeRequest,
  DISPLAYS,
  type Display,
  type Prompt,
  RESPONSE_MODES,
  type ResponseTarget,
} from '../model/authorize-request.ts'
import {
  createInvalidRequestError,
  createUnredirectableError,
  readParameter,
} from '../model/request-parameters.ts'
import { parseRequestedResources, requireAllowedResources } from '../model/requested-resources.ts'
import { parseRequestedScopes } from '../model/scopes.ts'
import { addAcrValues, parseClaimsParameter } from './claims-parameter.ts'
import { parseResponseMode } from './response-modes.ts'
import { type RequestingClient, validateResponseTarget } from './response-target.ts'

/** What a tenant permits in a request, and how the request was sent. */
type RequestRules = {
  tenant: string
  resources: readonly string[]
  prompts: readonly Prompt[]
  defaultScopes: readonly string[]
  isPushed: boolean
}

/**
 * Parses an authorize request (RFC 6749, section 4.1.1; OIDC Core, section 3.1.2.2). The client and the
 * redirect_uri are validated first, because errors may be redirected only after that. `resources` are the
 * audiences that may be requested, `prompts` the supported values of `prompt`, `defaultScopes` those of a
 * request without `scope`; `isPushed` says that the client
 * pushed the request (RFC 9126). Throws OAuthError, with `redirect` false until both are valid.
 */
export function parseAuthorizeRequest(
  params: URLSearchParams,
  client: RequestingClient | null,
  { tenant, resources, prompts, defaultScopes, isPushed }: RequestRules,
): AuthorizeRequest {
  const target = validateResponseTarget(params, client)
  const registeredClient = client as RequestingClient
  rejectRepeated(params)
  rejectMachineClient(registeredClient)
  requirePushedRequest(registeredClient, isPushed)
  rejectUnsupported(params)
  requireCodeResponseType(params)
  requireSupportedMode(params, target)
  return {
    ...target,
    scopes: parseRequestedScopes(readParameter(params, 'scope'), registeredClient, defaultScopes),
    nonce: readParameter(params, 'nonce'),
    codeChallenge: parseCodeChallenge(params, registeredClient),
    prompt: parsePrompts(params, prompts),
    display: parseDisplay(params),
    maxAgeSeconds: parseMaxAge(params),
    loginHint: readParameter(params, 'login_hint')?.slice(0, 320).toWellFormed() ?? null,
    uiLocales: parseUiLocales(params),
    idTokenHint: readParameter(params, 'id_token_hint'),
    idp: parseIdpHint(params),
    resources: requireAllowedResources(parseRequestedResources(tenant, params), resources),
    claims: addAcrValues(parseClaimsParameter(params), readParameter(params, 'acr_values')),
    dpopJkt: parseDpopJkt(params),
  }
}

function rejectRepeated(params: URLSearchParams): void {
  // Only resource may be repeated (RFC 8707, section 2).
  const repeated = findRepeatedNames(params.keys()).filter((name) => name !== 'resource')
  if (repeated.length > 0) throw createRepeatedError(repeated, true)
}

function rejectMachineClient(client: RequestingClient): void {
  if (client.appType === 'machine')
    throw new OAuthError('unauthorized_client', 'Machine clients cannot sign users in.')
}

/** Clients may be restricted to pushed requests (RFC 9126, section 4). */
function requirePushedRequest(client: RequestingClient, isPushed: boolean): void {
  if (client.requirePushedRequests && !isPushed)
    throw createInvalidRequestError('This client must push its requests: request_uri is missing.')
}

/** Unsupported parameters that would change the meaning of the request (OIDC Core, section 3.1.2.6). */
function rejectUnsupported(params: URLSearchParams): void {
  if (params.get('request'))
    throw new OAuthError('request_not_supported', 'Request objects are not supported.')
  if (params.get('request_uri'))
    throw new OAuthError('request_uri_not_supported', 'request_uri is not supported.')
  if (params.get('registration'))
    throw new OAuthError('registration_not_supported', 'The registration parameter is not supported.')
}

function requireCodeResponseType(params: URLSearchParams): void {
  const type = readParameter(params, 'response_type')
  if (!type) throw createInvalidRequestError('response_type is missing.')
  if (type !== 'code')
    throw new OAuthError('unsupported_response_type', 'Only response_type=code is supported.')
}

function requireSupportedMode(params: URLSearchParams, { redirectUri }: ResponseTarget): void {
  if (parseResponseMode(params, redirectUri) !== null) return
  throw createInvalidRequestError(
    `Supported response_modes: ${RESPONSE_MODES.join(', ')}; only query for a redirect_uri that is not a web address.`,
    {
      response_mode: readParameter(params, 'response_mode'),
      redirect_uri: redirectUri,
    },
  )
}

/** Only S256 is supported (RFC 7636; RFC 9700, section 2.1.1); public clients, and others by a setting, must use PKCE. */
function parseCodeChallenge(params: URLSearchParams, client: RequestingClient): string | null {
  const challenge = readParameter(params, 'code_challenge')
  const method = readParameter(params, 'code_challenge_method')
  if (!challenge) {
    if (method) throw createInvalidRequestError('code_challenge_method requires a code_challenge.')
    if (client.appType !== 'web' || client.requirePkce)
      throw createInvalidRequestError('This client must use PKCE: code_challenge is missing.')
    return null
  }
  // The default of RFC 7636 is plain.
  if (method !== 'S256') throw createInvalidRequestError('Only code_challenge_method=S256 is supported.')
  if (!/^[A-Za-z0-9_-]{43}$/.test(challenge))
    throw createInvalidRequestError('The code_challenge is not a SHA-256 hash in base64url.')
  return challenge
}

/** A SHA-256 thumbprint (RFC 9449, section 10). */
function parseDpopJkt(params: URLSearchParams): string | null {
  const thumbprint = readParameter(params, 'dpop_jkt')
  if (thumbprint !== null && !/^[A-Za-z0-9_-]{43}$/.test(thumbprint))
    throw createInvalidRequestError('The dpop_jkt is not a SHA-256 thumbprint of a key.')
  return thumbprint
}

/** A hint: without such a provider, the first page is shown. */
function parseIdpHint(params: URLSearchParams): string | null {
  const hint = readParameter(params, 'idp')
  return hint !== null && isIdpId(hint) ? hint : null
}

function parsePrompts(params: URLSearchParams, supported: readonly Prompt[]): Prompt[] {
  const requested = parseScopeList(readParameter(params, 'prompt') ?? '')
  // HTTP status 400 instead of a redirect (Initiating User Registration 1.0, section 4.2).
  if (requested.includes('create') && !supported.includes('create'))
    throw createUnredirectableError('prompt=create is not supported: nobody can sign up here.', {
      prompt: 'create',
    })
  const unknown = requested.filter((value) => !(supported as readonly string[]).includes(value))
  if (unknown.length > 0)
    throw createInvalidRequestError(`Supported prompts: ${supported.join(', ')}.`, {
      prompt: unknown.join(' '),
    })
  if (requested.includes('none') && requested.length > 1)
    throw createInvalidRequestError('prompt=none cannot be combined with others.')
  return requested as Prompt[]
}

/** Unknown values are ignored (OIDC Core, section 3.1.2.1). */
const parseDisplay = (params: URLSearchParams): Display =>
  DISPLAYS.find((known) => known === readParameter(params, 'display')) ?? 'page'

const MAX_UI_LOCALES = 10
const LANGUAGE_TAG = /^[A-Za-z0-9_-]{2,35}$/

/** What is not a language tag is ignored (OIDC Core, section 3.1.2.1). */
const parseUiLocales = (params: URLSearchParams): string[] =>
  parseScopeList(readParameter(params, 'ui_locales') ?? '')
    .filter((tag) => LANGUAGE_TAG.test(tag))
    .slice(0, MAX_UI_LOCALES)

function parseMaxAge(params: URLSearchParams): number | null {
  const text = readParameter(params, 'max_age')
  if (text === null) return null
  if (!/^\d{1,10}$/.test(text)) throw createInvalidRequestError('max_age must be a whole number of seconds.')
  return Number(text)
}
