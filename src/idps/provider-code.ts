import * as oidc from 'openid-client'
import type { Provider } from './provider.ts'
import { configureClient } from './provider-client.ts'
import { awaitProvider, fetchFromProvider, readJsonObject, rejectProof } from './provider-fetch.ts'
import { findEndpoint } from './provider-metadata.ts'

/** RFC 6749, section 5.2. Other words of the provider are not repeated: they may quote what was sent. */
const ERRORS = new Set<unknown>([
  'invalid_request',
  'invalid_client',
  'invalid_grant',
  'unauthorized_client',
  'unsupported_grant_type',
  'invalid_scope',
])

/**
 * Carries the ID token past openid-client, which would compare it with one issuer and not verify its
 * signature.
 */
const UNVERIFIED_ID_TOKEN = 'unverified_id_token'

/**
 * Reduces an answer of the token endpoint to what openid-client accepts (RFC 6749, section 5). Some providers
 * answer an error with status 200, omit `token_type`, or list `scope`; Azure AD B2C issues an ID token alone.
 * Throws InvalidInput for an error of the provider, or Unavailable.
 */
async function conformTokenAnswer(provider: Provider, response: Response): Promise<Response> {
  const { error, ...tokens } = await readJsonObject(response)
  if (response.status !== 200 || error !== undefined)
    throw rejectProof('code', `is not accepted by the provider${ERRORS.has(error) ? `: ${error}` : ''}`)
  const [idToken, accessToken] = [tokens.id_token, tokens.access_token].map((token) =>
    typeof token === 'string' && token !== '' ? token : undefined,
  )
  // Without an issuer, an ID token proves nothing.
  const proof = provider.issuer === '' ? undefined : idToken
  return Response.json({
    token_type: 'bearer',
    access_token: accessToken ?? (proof && 'none'),
    [UNVERIFIED_ID_TOKEN]: proof,
  })
}

export type CodeProof = { code: string; redirectUri: string | null; codeVerifier: string | null }
/** The ID token is not verified. Without one, the access token is the proof. */
export type RedeemedTokens = { idToken: string | null; accessToken: string }

/**
 * Redeems an authorization code at the provider (RFC 6749, section 4.1.3; RFC 7636). Throws InvalidInput
 * about `code` with the provider's error, or Unavailable.
 */
export async function redeemCode(provider: Provider, proof: CodeProof): Promise<RedeemedTokens> {
  const url = await findEndpoint(provider, 'tokenEndpoint')
  if (!url) throw rejectProof('code', 'cannot be checked: the provider has no tokenEndpoint')
  const config = await configureClient(provider, { token_endpoint: url })
  config[oidc.customFetch] = async (...request) =>
    conformTokenAnswer(provider, await fetchFromProvider(...request))
  // authorizationCodeGrant() requires a redirect URI, and rejects a nonce that it does not know.
  const tokens = await awaitProvider(
    oidc.genericGrantRequest(config, 'authorization_code', {
      code: proof.code,
      ...(proof.redirectUri && { redirect_uri: proof.redirectUri }),
      ...(proof.codeVerifier && { code_verifier: proof.codeVerifier }),
    }),
  )
  const idToken = tokens[UNVERIFIED_ID_TOKEN]
  return { idToken: typeof idToken === 'string' ? idToken : null, accessToken: tokens.access_token }
}
