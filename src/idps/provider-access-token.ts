import { decodeJwt } from 'jose'
import * as oidc from 'openid-client'
import type { Provider } from './provider.ts'
import { configureClient, requireClientId } from './provider-client.ts'
import { awaitProvider, fetchFromProvider, readJsonObject, rejectProof } from './provider-fetch.ts'
import { findEndpoint } from './provider-metadata.ts'

const reject = (description: string) => rejectProof('accessToken', description)
const NOT_ACCEPTED = 'is not accepted by the provider'

/** Returns the client that a JWT names, unverified: the provider has just accepted the token. */
function findNamedClient(token: string): unknown {
  try {
    const { client_id, azp } = decodeJwt(token)
    return client_id ?? azp
  } catch {
    return undefined // opaque
  }
}

/**
 * Throws InvalidInput for a token that was evidently issued to another client: by introspection (RFC 7662)
 * where the provider publishes it, else by what a JWT says. Such a token proves who signed in at the other
 * client.
 */
async function assertIssuedToUs(provider: Provider, token: string): Promise<void> {
  const assertOurs = (clientId: unknown) => {
    if (clientId !== undefined && clientId !== provider.row.clientId)
      throw reject('was issued to another client')
  }
  assertOurs(findNamedClient(token))
  const url = provider.row.clientSecret ? await findEndpoint(provider, 'introspectionEndpoint') : null
  if (!url) return
  const config = await configureClient(provider, { introspection_endpoint: url })
  config[oidc.customFetch] = async (...request) => {
    const response = await fetchFromProvider(...request)
    // Some providers answer resource servers only; the userinfo endpoint has accepted the token.
    return response.status === 200 ? response : Response.json({ active: true })
  }
  const { active, client_id } = await awaitProvider(
    oidc.tokenIntrospection(config, token, { token_type_hint: 'access_token' }),
  )
  if (!active) throw reject(NOT_ACCEPTED)
  assertOurs(client_id)
}

/**
 * Returns the claims at the userinfo endpoint. Throws InvalidInput for a token that it does not accept, or
 * Unavailable. The request is not made by openid-client: fetchUserInfo() requires `sub`, which plain OAuth
 * providers do not have.
 */
export async function readUserInfo(provider: Provider, token: string): Promise<Record<string, unknown>> {
  const url = await findEndpoint(provider, 'userInfoEndpoint')
  if (!url) throw reject('cannot be checked: the provider has no userInfoEndpoint')
  // RFC 6750, section 2.1: a header cannot carry other characters.
  if (!/^[\x21-\x7e]+$/.test(token)) throw reject(NOT_ACCEPTED)
  const response = await fetchFromProvider(url, {
    method: 'GET',
    headers: { authorization: `Bearer ${token}`, accept: 'application/json' },
  })
  if (response.status !== 200) throw reject(NOT_ACCEPTED)
  const body = await readJsonObject(response)
  const { claimsIn } = provider.type
  const claims = claimsIn ? body[claimsIn] : body
  return typeof claims === 'object' && claims !== null ? (claims as Record<string, unknown>) : {}
}

/**
 * Verifies an access token by using it at the userinfo endpoint, and returns the claims there. Throws
 * InvalidInput about `accessToken`, also for one that was evidently issued to another client, or Unavailable.
 */
export async function verifyAccessToken(provider: Provider, token: string): Promise<Record<string, unknown>> {
  requireClientId(provider)
  const claims = await readUserInfo(provider, token)
  await assertIssuedToUs(provider, token)
  return claims
}
