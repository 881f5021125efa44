import { isJsonObject } from '../../core/json/json-object.ts'
import type { Provider } from '../provider/provider.ts'
import { findExplanation, rejectProof, toUnavailable } from '../provider/provider-errors.ts'
import { fetchFromProvider, readJsonObject } from '../provider/provider-fetch.ts'
import { verifySignature } from '../provider/provider-id-token.ts'
import { findEndpoint } from '../provider/provider-metadata.ts'
import { type Claims, isGiven } from './claims.ts'
import { readJwtClaims } from './json.ts'

const NOT_ACCEPTED = 'is not accepted by the provider'

/**
 * The claims of a signed response (OIDC Core, section 5.3.2): by a key of the provider, and where it names issuer or
 * audience, from this provider to our client. Throws Unavailable.
 */
async function verifySignedResponse(provider: Provider, token: string): Promise<Claims> {
  const reject = (diagnostics: string, error?: unknown) =>
    toUnavailable('userinfo not verified', diagnostics, error)
  await verifySignature(provider, token, 'accessToken', {}).catch((error) => {
    const { cause, diagnostics } = findExplanation(error) ?? { cause: 'signature', diagnostics: null }
    throw reject([cause, diagnostics].filter(Boolean).join(': '), error)
  })
  const claims = readJwtClaims(token)
  const { iss, aud, tid } = claims
  if (isGiven(iss) && provider.issuer !== '' && !provider.isIssuer({ iss: String(iss), tid }))
    throw reject(`iss is ${iss}`)
  if (isGiven(aud) && ![aud].flat().includes(provider.row.clientId)) throw reject('aud is not the clientId')
  return claims
}

const isJwt = (response: Response): boolean =>
  /^application\/jwt\b/i.test(response.headers.get('content-type')?.trim() ?? '')

/**
 * Returns the claims at the userinfo endpoint. Throws InvalidInput for a token that it does not accept, or
 * Unavailable. The request is not made by openid-client: fetchUserInfo() requires `sub`, which plain OAuth
 * providers do not have.
 */
export async function readUserInfo(provider: Provider, token: string): Promise<Claims> {
  const url = await findEndpoint(provider, 'userInfoEndpoint')
  if (!url)
    throw rejectProof(
      'accessToken',
      'cannot be checked: the provider has no userInfoEndpoint',
      'endpoint missing',
      'userInfoEndpoint',
    )
  // RFC 6750, section 2.1: a header cannot carry other characters.
  if (!/^[\x21-\x7e]+$/.test(token))
    throw rejectProof(
      'accessToken',
      NOT_ACCEPTED,
      'token rejected',
      'it has characters that a header cannot carry',
    )
  const response = await fetchFromProvider(url, {
    method: 'GET',
    headers: { authorization: `Bearer ${token}`, accept: 'application/json, application/jwt;q=0.9' },
  })
  if (!response.ok)
    throw rejectProof(
      'accessToken',
      NOT_ACCEPTED,
      'token rejected',
      `the userinfo endpoint answered ${response.status}`,
    )
  const body = isJwt(response)
    ? await verifySignedResponse(provider, (await response.text()).trim())
    : await readJsonObject(response)
  const { claimsIn } = provider.type
  const claims = claimsIn ? body[claimsIn] : body
  return isJsonObject(claims) ? claims : {}
}
