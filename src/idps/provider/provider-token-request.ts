import * as oidc from 'openid-client'
import { findProviderCause } from '../../model/provider-causes.ts'
import { isGiven } from '../answers/claims.ts'
import { parseJsonObject } from '../answers/json.ts'
import type { Provider } from './provider.ts'
import { configureClient } from './provider-client.ts'
import { RejectedProof, rejectProof, toUnavailable } from './provider-errors.ts'
import { awaitProvider, fetchFromProvider, readJsonObject } from './provider-fetch.ts'
import { findEndpoint } from './provider-metadata.ts'

/** RFC 6749, section 5.2. Other words of the provider are not repeated: they may quote what was sent. */
const ERRORS = [
  'invalid_request',
  'invalid_client',
  'invalid_grant',
  'unauthorized_client',
  'unsupported_grant_type',
  'invalid_scope',
  'redirect_uri_mismatch',
  // GitHub, for a refresh token.
  'bad_refresh_token',
] as const
type TokenError = (typeof ERRORS)[number]

/** The names that GitHub and Slack have for some of them. */
const OTHER_NAMES: Record<string, TokenError> = {
  bad_verification_code: 'invalid_grant',
  invalid_code: 'invalid_grant',
  incorrect_client_credentials: 'invalid_client',
  bad_client_secret: 'invalid_client',
  invalid_client_id: 'invalid_client',
  bad_redirect_uri: 'redirect_uri_mismatch',
}

/** The error of an answer; null for one that is not known. */
const findTokenError = (error: unknown): TokenError | null =>
  ERRORS.find((known) => known === error) ??
  (typeof error === 'string' && Object.hasOwn(OTHER_NAMES, error) ? (OTHER_NAMES[error] ?? null) : null)

/** The error of a provider for a code or a refresh token; `error` is null for one that is not known. */
export class RejectedGrant extends RejectedProof {
  readonly error: TokenError | null

  constructor(field: string, error: TokenError | null, diagnostics: string) {
    super(field, `is not accepted by the provider${error ? `: ${error}` : ''}`, {
      cause: findProviderCause(error) ?? 'other error',
      diagnostics,
    })
    this.error = error
  }
}

/** Longer tokens are not sent or kept. An ID token may have as many characters as an answer. */
const MAX_TOKEN_CHARACTERS = 20_000
const readText = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined
const readToken = (value: unknown): string | undefined => {
  const token = readText(value)
  return token && token.length <= MAX_TOKEN_CHARACTERS ? token : undefined
}

const MAX_LIFETIME_SECONDS = 10 * 365 * 86_400
/** A number of seconds, which some providers send as text. */
function readLifetime(value: unknown): number | undefined {
  const seconds = Math.floor(Number(typeof value === 'string' ? value || Number.NaN : value))
  return typeof value !== 'object' && seconds >= 0 ? Math.min(seconds, MAX_LIFETIME_SECONDS) : undefined
}

const MAX_SCOPES = 200
/** Text of scopes. Some providers separate them by commas, or list them. */
const readScope = (value: unknown): string | undefined =>
  [value]
    .flat()
    .filter((each) => typeof each === 'string')
    .flatMap((each) => each.split(/[\s,]+/).filter((scope) => scope !== '' && scope.length <= 200))
    .slice(0, MAX_SCOPES)
    .join(' ') || undefined

/**
 * Carries the ID token past openid-client, which would compare it with one issuer and not verify its
 * signature.
 */
const UNVERIFIED_ID_TOKEN = 'unverified_id_token'
/** openid-client requires an access token; Azure AD B2C issues an ID token alone. */
const NO_ACCESS_TOKEN = 'none'
/** Says that the provider issued an access token that is not used. */
const UNUSABLE_ACCESS_TOKEN = 'unusable_access_token'

/** The members of an answer, which some providers encode as a form. Throws Unavailable for anything else. */
async function readTokenAnswer(response: Response): Promise<Record<string, unknown>> {
  const type = response.headers.get('content-type') ?? ''
  if (!/^(application\/x-www-form-urlencoded|text\/plain)\b/i.test(type)) return readJsonObject(response)
  const text = await response.text()
  const members = parseJsonObject(text) ?? Object.fromEntries(new URLSearchParams(text))
  if (!isGiven(members.access_token) && !isGiven(members.id_token) && !isGiven(members.error))
    throw toUnavailable('not JSON', `an answer with status ${response.status} and ${type} has no token`)
  return members
}

/**
 * Reduces an answer of the token endpoint to what openid-client accepts (RFC 6749, section 5). Some providers
 * answer an error with status 200, omit `token_type`, or list `scope`. Throws RejectedGrant about `field` for an
 * error of the provider, or Unavailable.
 */
async function conformTokenAnswer(provider: Provider, response: Response, field: string): Promise<Response> {
  const { ok, status } = response
  const { error, ...tokens } = await readTokenAnswer(response).catch((unusable) => {
    if (status === 401) return {} as Record<string, unknown>
    throw unusable
  })
  // RFC 6749, section 5.2: with status 401, the client is not authenticated.
  const named = findTokenError(error) ?? (status === 401 ? 'invalid_client' : null)
  if (!ok || isGiven(error)) throw new RejectedGrant(field, named, `status ${status}`)
  // Without an issuer, an ID token proves nothing.
  const proof = provider.issuer === '' ? undefined : readText(tokens.id_token)
  const accessToken = readToken(tokens.access_token) ?? (proof && NO_ACCESS_TOKEN)
  if (!accessToken)
    throw toUnavailable('no access token', `an answer with status ${status} has no usable token`)
  return Response.json({
    token_type: 'bearer',
    access_token: accessToken,
    refresh_token: readToken(tokens.refresh_token),
    expires_in: readLifetime(tokens.expires_in),
    scope: readScope(tokens.scope),
    [UNVERIFIED_ID_TOKEN]: proof,
    [UNUSABLE_ACCESS_TOKEN]: isGiven(tokens.access_token) && !readToken(tokens.access_token),
  })
}

/** What a token endpoint answered. The ID token is not verified. */
export type TokenAnswer = {
  idToken: string | null
  /** A text that is not a token where the provider issued an ID token alone. */
  accessToken: string
  hasAccessToken: boolean
  /** Whether the provider issued one that is not used, such as one that is too long. */
  hasUnusableAccessToken: boolean
  refreshToken: string | null
  /** Null where the provider does not say. */
  scopes: string[] | null
  expiresInSeconds: number | null
}

/**
 * Requests tokens of the provider by a grant (RFC 6749, section 4). Throws RejectedGrant about `field` with the
 * provider's error, InvalidInput, or Unavailable.
 */
export async function requestTokens(
  provider: Provider,
  field: string,
  grantType: 'authorization_code' | 'refresh_token',
  parameters: Record<string, string>,
): Promise<TokenAnswer> {
  const url = await findEndpoint(provider, 'tokenEndpoint')
  if (!url)
    throw rejectProof(
      field,
      'cannot be checked: the provider has no tokenEndpoint',
      'endpoint missing',
      'tokenEndpoint',
    )
  const config = await configureClient(provider, { token_endpoint: url })
  config[oidc.customFetch] = async (...request) =>
    conformTokenAnswer(provider, await fetchFromProvider(...request), field)
  // authorizationCodeGrant() requires a redirect URI, and rejects a nonce that it does not know.
  const tokens = await awaitProvider(oidc.genericGrantRequest(config, grantType, parameters))
  const idToken = tokens[UNVERIFIED_ID_TOKEN]
  return {
    idToken: typeof idToken === 'string' ? idToken : null,
    accessToken: tokens.access_token,
    hasAccessToken: tokens.access_token !== NO_ACCESS_TOKEN,
    hasUnusableAccessToken: tokens[UNUSABLE_ACCESS_TOKEN] === true,
    refreshToken: tokens.refresh_token ?? null,
    scopes: tokens.scope?.split(' ') ?? null,
    expiresInSeconds: tokens.expires_in ?? null,
  }
}
