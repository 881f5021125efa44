import type { IdentityProvider } from '../../generated/prisma/client.ts'
import { buildCallbackUrl } from '../callback-url.ts'
import { type Provider, toProvider } from './provider.ts'
import { withinSignInDeadline } from './provider-deadline.ts'
import { toUnavailable } from './provider-errors.ts'
import { findEndpoint } from './provider-metadata.ts'

/** The values of one attempt to sign in, which the provider returns or binds its answer to. */
export type AttemptValues = {
  state: string
  nonce: string
  /** The S256 challenge (RFC 7636). */
  codeChallenge: string
}

/** What the user is asked to do at the provider (OIDC Core, section 3.1.2.1). */
export type ProviderWishes = {
  prompt: 'login' | 'select_account' | null
  loginHint: string | null
  /** The provider's `acr` values, one of which is requested. */
  acrValues: readonly string[]
}

/** Throws Unavailable for a URL that must not be opened in a browser; metadata can contain any. */
export function requireWebUrl(endpoint: string): URL {
  const url = new URL(endpoint)
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw toUnavailable('endpoint unusable', `an endpoint has the scheme ${url.protocol}`)
  return url
}

/** Microsoft takes authentication contexts by the claim `acrs` only, and one of them. */
function buildAcrParameter({ type }: IdentityProvider, [first, ...others]: readonly string[]) {
  if (first === undefined) return {}
  if (type !== 'microsoft') return { acr_values: [first, ...others].join(' ') }
  return { claims: JSON.stringify({ id_token: { acrs: { essential: true, value: first } } }) }
}

/** Whether the provider returns ID tokens and knows the parameters of OpenID Connect. */
const speaksOpenId = ({ type }: Provider): boolean => type.idToken !== undefined

/**
 * Returns the URL of the authorization request at a provider (RFC 6749, section 4.1.1; RFC 7636; OIDC Core,
 * section 3.1.2.1). Throws Unavailable when the endpoint cannot be found within 3 s.
 */
export async function buildAuthorizationUrl(
  row: IdentityProvider,
  { state, nonce, codeChallenge }: AttemptValues,
  { prompt, loginHint, acrValues }: ProviderWishes,
): Promise<string> {
  const provider = toProvider(row)
  const endpoint = await withinSignInDeadline(() => findEndpoint(provider, 'authorizationEndpoint'))
  if (!endpoint) throw toUnavailable('endpoint missing', 'authorizationEndpoint')
  const url = requireWebUrl(endpoint)
  const { responseMode, defaultScopes } = provider.type
  const scope = row.scopes ?? defaultScopes
  const parameters = {
    response_type: 'code',
    client_id: row.clientId,
    redirect_uri: buildCallbackUrl(row.tenantId, row.id),
    scope,
    state,
    ...(row.usePkce && { code_challenge: codeChallenge, code_challenge_method: 'S256' }),
    response_mode: responseMode,
    ...(speaksOpenId(provider) && {
      nonce,
      prompt,
      // With it, the ID token says when the user signed in.
      max_age: prompt === 'login' && '0',
      login_hint: loginHint,
      ...buildAcrParameter(row, acrValues),
    }),
  }
  for (const [name, value] of Object.entries(parameters)) if (value) url.searchParams.set(name, value)
  return url.href
}
