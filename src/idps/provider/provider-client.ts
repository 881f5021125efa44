import { SignJWT } from 'jose'
import * as oidc from 'openid-client'
import type { Provider } from './provider.ts'
import { rejectProof } from './provider-errors.ts'
import { fetchFromProvider } from './provider-fetch.ts'
import { parseApplePrivateKey } from './provider-keys.ts'
import { findMetadata } from './provider-metadata.ts'

/**
 * Returns our client id at the provider, without which nothing is proven. Throws InvalidInput about `idpId`.
 */
export function requireClientId({ row }: Provider): string {
  if (!row.clientId)
    throw rejectProof(
      'idpId',
      'is a provider without a clientId, which proves nothing',
      'fields missing',
      'clientId',
    )
  return row.clientId
}

/** Apple accepts up to six months; the secret is used at once. */
const APPLE_SECRET_SECONDS = 300

/**
 * Returns Apple's client secret, a JWT: signs it with the key from Apple ("Creating a client secret"), unless an
 * administrator has set one. Throws InvalidInput.
 */
async function findAppleSecret(provider: Provider, secret: string): Promise<string> {
  const { platformTeamId, platformKid, clientSecretExpiresAt } = provider.row
  if (clientSecretExpiresAt) return secret
  const key = parseApplePrivateKey(secret)
  if (!key || !platformTeamId || !platformKid)
    throw rejectProof(
      'idpId',
      'is a provider without the key from Apple (clientSecret, platformTeamId, platformKid)',
      'client secret unusable',
    )
  const now = Math.floor(Date.now() / 1000)
  return new SignJWT()
    .setProtectedHeader({ alg: 'ES256', kid: platformKid })
    .setIssuer(platformTeamId)
    .setSubject(requireClientId(provider))
    .setAudience(provider.issuer ?? '')
    .setIssuedAt(now)
    .setExpirationTime(now + APPLE_SECRET_SECONDS)
    .sign(key)
}

/**
 * Returns how our client authenticates (RFC 6749, section 2.3.1): by the method of the provider's type, or
 * the one that the metadata supports instead. A client without a secret sends its id alone. Throws
 * InvalidInput and Unavailable.
 */
async function findClientAuthentication(provider: Provider): Promise<oidc.ClientAuth> {
  const { row, type } = provider
  if (!row.clientSecret) return oidc.None()
  if (row.type === 'apple') return oidc.ClientSecretPost(await findAppleSecret(provider, row.clientSecret))
  const supported = (await findMetadata(provider))?.token_endpoint_auth_methods_supported
  const usesPost =
    !supported || supported.includes(`client_secret_${type.clientAuthentication}`)
      ? type.clientAuthentication === 'post'
      : supported.includes('client_secret_post')
  return usesPost ? oidc.ClientSecretPost(row.clientSecret) : oidc.ClientSecretBasic(row.clientSecret)
}

/** Configures openid-client as our client at the given endpoints. Throws InvalidInput and Unavailable. */
export async function configureClient(
  provider: Provider,
  endpoints: Partial<oidc.ServerMetadata>,
): Promise<oidc.Configuration> {
  const clientId = requireClientId(provider)
  // openid-client requires an issuer, which some types do not have. It serves ID tokens only;
  // provider-id-token.ts checks them.
  const server = { issuer: provider.issuer || provider.row.id, ...endpoints }
  const authentication = await findClientAuthentication(provider)
  const config = new oidc.Configuration(server, clientId, undefined, authentication)
  config[oidc.customFetch] = fetchFromProvider
  // Where https is required, the guarded fetcher requires it.
  oidc.allowInsecureRequests(config)
  return config
}
