import { decodeJwt } from 'jose'
import { askProvider, clientIdOf, jsonOf, type Provider, refusedProof } from './provider.ts'
import { postAsClient } from './provider-code.ts'

const refused = (why: string) => refusedProof('accessToken', why)

/** The client that a token in the form of a JWT names, where it names one. The provider itself has just accepted it. */
function clientInside(token: string): unknown {
  try {
    const { client_id, azp } = decodeJwt(token)
    return client_id ?? azp
  } catch {
    return undefined // opaque
  }
}

/**
 * Throws InvalidInput when the token can be seen to have been issued to another client, whose user it was then, not ours:
 * by introspection (RFC 7662) where the provider publishes that, else by what a JWT says of itself.
 */
async function assertIssuedToUs(provider: Provider, token: string): Promise<void> {
  const clientId = clientIdOf(provider)
  const other = (named: unknown) => named !== undefined && named !== clientId
  if (other(clientInside(token))) throw refused('was issued to another client')
  const url = provider.row.clientSecret ? await provider.endpoint('introspectionEndpoint') : null
  if (!url) return
  const response = await postAsClient(provider, url, { token, token_type_hint: 'access_token' })
  // Some let resource servers ask only.
  if (response.status !== 200) return
  const { active, client_id } = await jsonOf(response)
  if (active !== true) throw refused('is not accepted by the provider')
  if (other(client_id)) throw refused('was issued to another client')
}

/** The claims at the userinfo endpoint. Throws InvalidInput when it refuses the token, or Unavailable. */
export async function readUserInfo(provider: Provider, token: string): Promise<Record<string, unknown>> {
  const url = await provider.endpoint('userInfoEndpoint')
  if (!url) throw refused('cannot be checked: the provider has no userInfoEndpoint')
  const response = await askProvider(url, {
    headers: { authorization: `Bearer ${token}`, accept: 'application/json' },
  })
  if (response.status !== 200) throw refused('is not accepted by the provider')
  const body = await jsonOf(response)
  const { claimsIn } = provider.type
  const inner = claimsIn ? body[claimsIn] : body
  return typeof inner === 'object' && inner !== null ? (inner as Record<string, unknown>) : {}
}

/**
 * Checks an access token by using it: the claims at the provider's userinfo endpoint. Throws InvalidInput about
 * `accessToken`, also where it can be seen to be another client's, or Unavailable.
 */
export async function verifyAccessToken(provider: Provider, token: string): Promise<Record<string, unknown>> {
  clientIdOf(provider)
  const claims = await readUserInfo(provider, token)
  await assertIssuedToUs(provider, token)
  return claims
}
