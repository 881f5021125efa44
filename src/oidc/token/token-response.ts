import type { CachedClient } from '../../clients/client-cache.ts'
import type { Ctx } from '../../ctx.ts'
import { OAuthError } from '../../errors.ts'
import type { CachedTenant } from '../../tenants/tenant-cache.ts'
import type { ClaimsRequest } from '../authorize/claims-request.ts'
import { issueAccessToken } from './access-tokens.ts'
import { audienceOf } from './audience.ts'
import { idTokenClaims } from './id-token-claims.ts'
import { issueIdToken } from './id-tokens.ts'

/** Of clients that set no tokenExpiryTime. */
const DEFAULT_TOKEN_LIFETIME_SECONDS = 3600
/** A successful answer (RFC 6749, section 5.1; OIDC Core, section 3.1.3.3). */
export type TokenResponse = {
  access_token: string
  token_type: 'Bearer' | 'DPoP'
  expires_in: number
  scope: string
  id_token?: string
  refresh_token?: string
  /** For scope `session`: a session of the client's own, which ends with the browser's. */
  session_token?: string
}

/** A token request whose client is authenticated. */
export type TokenRequest = {
  ctx: Ctx
  tenant: CachedTenant
  client: CachedClient
  form: Record<string, string>
  /** The `resource` parameters, of which there may be several (RFC 8707). */
  resources: string[]
  /** Thumbprint of the key that the request proved to hold by DPoP (RFC 9449); null without a proof. */
  dpopJkt: string | null
}

/** How an access token is presented: one that is bound to a key together with a proof of it (RFC 9449, section 5). */
export const tokenTypeOf = (dpopJkt: string | null): 'Bearer' | 'DPoP' =>
  dpopJkt === null ? 'Bearer' : 'DPoP'

/** The value of a parameter that the request needs. Throws OAuthError invalid_request. */
export function required(form: Record<string, string>, name: string): string {
  const value = form[name]
  if (!value) throw new OAuthError('invalid_request', `${name} is missing.`)
  // No text column holds U+0000.
  if (value.includes('\u0000')) throw new OAuthError('invalid_request', `${name} contains U+0000.`)
  return value
}

export const lifetimeOf = (client: CachedClient): number =>
  client.tokenExpiryTime ?? DEFAULT_TOKEN_LIFETIME_SECONDS

/** What the tokens of a person are issued for. */
type PersonGrant = {
  grantId: string
  userId: string
  sessionId: string | null
  scopes: string[]
  resources: string[]
  claims: ClaimsRequest | null
  nonce: string | null
  authenticatedAt: Date
  amr: string[]
}

/** Issues what a person's grant comes to: access token, ID token with openid, and the refresh token given. */
export async function issueToPerson(
  { tenant, client, dpopJkt }: TokenRequest,
  grant: PersonGrant,
  refreshToken: string | null,
): Promise<TokenResponse> {
  const lifetimeSeconds = lifetimeOf(client)
  const accessToken = await issueAccessToken(tenant.tenantId, {
    subject: grant.userId,
    clientId: client.id,
    scopes: grant.scopes,
    audience: audienceOf(tenant, grant.scopes, grant.resources),
    dpopJkt,
    lifetimeSeconds,
    grantId: grant.grantId,
    sessionId: grant.sessionId,
    authenticatedAt: grant.authenticatedAt,
  })
  return {
    access_token: accessToken,
    token_type: tokenTypeOf(dpopJkt),
    expires_in: lifetimeSeconds,
    scope: grant.scopes.join(' '),
    ...(refreshToken !== null && { refresh_token: refreshToken }),
    ...(grant.scopes.includes('openid') && {
      id_token: await issueIdToken(tenant.tenantId, {
        ...grant,
        claims: await idTokenClaims(tenant.tenantId, grant),
        clientId: client.id,
        accessToken,
        lifetimeSeconds,
        signingAlg: client.idTokenSigningAlg,
      }),
    }),
  }
}
