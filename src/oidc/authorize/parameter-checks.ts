import { OAuthError } from '../../core/oauth-error.ts'
import { parseScopeList } from '../../core/scopes.ts'
import { createRepeatedError, findRepeatedNames } from '../../http/repeated-parameters.ts'
import { isIdpId } from '../../schema/idp-id.ts'
import {
  DISPLAYS,
  type Display,
  type OrganizationDemand,
  type Prompt,
  RESPONSE_MODES,
  type ResponseTarget,
} from '../model/authorize-request.ts'
import type { ClaimsRequest } from '../model/claims-request.ts'
import {
  createInvalidRequestError,
  createUnredirectableError,
  readParameter,
} from '../model/request-parameters.ts'
import { requireOrganizationName, toOrganizationDemand } from '../model/requested-organization.ts'
import { parseRequestedResources, requireAllowedResources } from '../model/requested-resources.ts'
import { parseRequestedScopes } from '../model/scopes.ts'
import { addAcrValues, parseClaimsParameter } from './claims-parameter.ts'
import { parseResponseMode } from './response-modes.ts'
import type { RequestingClient } from './response-target.ts'

/** The settings of a tenant that a request is checked against. */
export type RequestRules = {
  tenant: string
  /** The audiences that may be requested. */
  resources: readonly string[]
  /** The supported values of `prompt`. */
  prompts: readonly Prompt[]
  /** The scopes of a request without `scope`. */
  defaultScopes: readonly string[]
  /** The client pushed the request (RFC 9126). */
  isPushed: boolean
}

/** A request whose response has a valid target. */
export type GivenRequest = {
  params: URLSearchParams
  client: RequestingClient
  target: ResponseTarget
  rules: RequestRules
}

const MAX_HINT_CHARACTERS = 320

/** Only `resource` may be repeated (RFC 6749, section 3.1; RFC 8707, section 2). */
export function rejectRepeated({ params }: GivenRequest): void {
  const repeated = findRepeatedNames(params.keys()).filter((name) => name !== 'resource')
  if (repeated.length > 0) throw createRepeatedError(repeated, true)
}

export function rejectMachineClient({ client }: GivenRequest): void {
  if (client.appType === 'machine')
    throw new OAuthError('unauthorized_client', 'Machine clients cannot sign users in.')
}

/** Clients may be restricted to pushed requests (RFC 9126, section 4). */
export function requirePushedRequest({ client, rules }: GivenRequest): void {
  if (client.requirePushedRequests && !rules.isPushed)
    throw createInvalidRequestError('This client must push its requests: request_uri is missing.')
}

/** Unsupported parameters that would change the meaning of the request (OIDC Core, section 3.1.2.6). */
export function rejectUnsupported({ params }: GivenRequest): void {
  if (params.get('request'))
    throw new OAuthError('request_not_supported', 'Request objects are not supported.')
  if (params.get('request_uri'))
    throw new OAuthError('request_uri_not_supported', 'request_uri is not supported.')
  if (params.get('registration'))
    throw new OAuthError('registration_not_supported', 'The registration parameter is not supported.')
}

export function requireCodeResponseType({ params }: GivenRequest): void {
  const type = readParameter(params, 'response_type')
  if (!type) throw createInvalidRequestError('response_type is missing.')
  if (type !== 'code')
    throw new OAuthError('unsupported_response_type', 'Only response_type=code is supported.')
}

export function requireSupportedMode({ params, target: { redirectUri } }: GivenRequest): void {
  if (parseResponseMode(params, redirectUri) !== null) return
  throw createInvalidRequestError(
    `Supported response_modes: ${RESPONSE_MODES.join(', ')}; only query for a redirect_uri that is not a web address.`,
    {
      response_mode: readParameter(params, 'response_mode'),
      redirect_uri: redirectUri,
    },
  )
}

export const readScopes = ({ params, client, rules }: GivenRequest): string[] =>
  parseRequestedScopes(readParameter(params, 'scope'), client, rules.defaultScopes)

/** Only S256 is supported (RFC 7636; RFC 9700, section 2.1.1); public clients, and others by a setting, must use PKCE. */
export function readCodeChallenge({ params, client }: GivenRequest): string | null {
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
export function readDpopJkt({ params }: GivenRequest): string | null {
  const thumbprint = readParameter(params, 'dpop_jkt')
  if (thumbprint !== null && !/^[A-Za-z0-9_-]{43}$/.test(thumbprint))
    throw createInvalidRequestError('The dpop_jkt is not a SHA-256 thumbprint of a key.')
  return thumbprint
}

export const readLoginHint = ({ params }: GivenRequest): string | null =>
  readParameter(params, 'login_hint')?.slice(0, MAX_HINT_CHARACTERS).toWellFormed() ?? null

/** Audiences that the tenant permits (RFC 8707, section 2). */
export const readResources = ({ params, rules }: GivenRequest): string[] =>
  requireAllowedResources(parseRequestedResources(rules.tenant, params), rules.resources)

/** The id or the slug of an organization, or what the client demands without one. */
export function readOrganization({ params, client }: GivenRequest): OrganizationDemand | null {
  const named = requireOrganizationName(readParameter(params, 'organization'))
  return toOrganizationDemand(named, client.organization)
}

/** OIDC Core, sections 5.5 and 3.1.2.1. */
export const readClaims = ({ params }: GivenRequest): ClaimsRequest | null =>
  addAcrValues(parseClaimsParameter(params), readParameter(params, 'acr_values'))

/** A hint: without such a provider, the first page is shown. */
export function readIdpHint({ params }: GivenRequest): string | null {
  const hint = readParameter(params, 'idp')
  return hint !== null && isIdpId(hint) ? hint : null
}

export function readPrompts({ params, rules: { prompts: supported } }: GivenRequest): Prompt[] {
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
export const readDisplay = ({ params }: GivenRequest): Display =>
  DISPLAYS.find((known) => known === readParameter(params, 'display')) ?? 'page'

const MAX_UI_LOCALES = 10
const LANGUAGE_TAG = /^[A-Za-z0-9_-]{2,35}$/

/** Values that are not language tags are ignored (OIDC Core, section 3.1.2.1). */
export const readUiLocales = ({ params }: GivenRequest): string[] =>
  parseScopeList(readParameter(params, 'ui_locales') ?? '')
    .filter((tag) => LANGUAGE_TAG.test(tag))
    .slice(0, MAX_UI_LOCALES)

export function readMaxAge({ params }: GivenRequest): number | null {
  const text = readParameter(params, 'max_age')
  if (text === null) return null
  if (!/^\d{1,10}$/.test(text)) throw createInvalidRequestError('max_age must be a whole number of seconds.')
  return Number(text)
}
