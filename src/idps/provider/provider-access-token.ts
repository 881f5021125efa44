import { decodeJwt } from 'jose'
import * as oidc from 'openid-client'
import type { Claims } from '../answers/claims.ts'
import { readUserInfo } from '../answers/userinfo.ts'
import type { Provider } from './provider.ts'
import { configureClient, requireClientId } from './provider-client.ts'
import { rejectProof } from './provider-errors.ts'
import { awaitProvider, fetchFromProvider, readJsonObject } from './provider-fetch.ts'
import { findEndpoint } from './provider-metadata.ts'

/** The first of the values that is a client id. */
const selectClientId = (...values: unknown[]): unknown =>
  values.find((value) => typeof value === 'string' && value !== '')

/** Returns the client that a JWT names, unverified: the provider has just accepted the token. */
function findNamedClient(token: string): unknown {
  try {
    const { client_id, azp } = decodeJwt(token)
    return selectClientId(client_id, azp)
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
      throw rejectProof('accessToken', 'was issued to another client', 'audience')
  }
  assertOurs(findNamedClient(token))
  const url = provider.row.clientSecret ? await findEndpoint(provider, 'introspectionEndpoint') : null
  if (!url) return
  const config = await configureClient(provider, { introspection_endpoint: url })
  config[oidc.customFetch] = async (...request) => {
    const response = await fetchFromProvider(...request)
    // Some providers answer resource servers only; the userinfo endpoint has accepted the token.
    return Response.json(response.ok ? await readJsonObject(response) : { active: true })
  }
  const { active, client_id } = await awaitProvider(
    oidc.tokenIntrospection(config, token, { token_type_hint: 'access_token' }),
  )
  if (!active)
    throw rejectProof('accessToken', 'is not accepted by the provider', 'token rejected', 'it is not active')
  assertOurs(selectClientId(client_id))
}

/**
 * Verifies an access token by using it at the userinfo endpoint, and returns the claims there. Throws
 * InvalidInput about `accessToken`, also for one that was evidently issued to another client, or Unavailable.
 */
export async function verifyAccessToken(provider: Provider, token: string): Promise<Claims> {
  requireClientId(provider)
  const claims = await readUserInfo(provider, token)
  await assertIssuedToUs(provider, token)
  return claims
}
