import type { CachedClient } from '../../access/client-cache.ts'
import { buildClaims } from '../../users/claims.ts'
import { selectReportedAcr } from '../model/acr.ts'
import type { ClaimsRequest } from '../model/claims-request.ts'
import { toScopeMember } from '../model/scopes.ts'
import type { TokenRequest, TokenResponse } from '../model/token-request.ts'
import { issueAccessToken } from './access-tokens.ts'
import { computeAudience, selectGrantAudience } from './audience.ts'
import type { ClaimsUserJson } from './granted-user.sql.ts'
import { issueIdToken } from './id-tokens.ts'

/**
 * The claims about the user in an ID token: those that were requested for it (OIDC Core, section 5.5) and, when the
 * client has `idTokenClaims`, those of the granted scopes.
 */
export function buildIdTokenClaims(
  { idTokenClaims }: Pick<CachedClient, 'idTokenClaims'>,
  grant: { claimsUser: ClaimsUserJson | null; scopes: readonly string[]; claims: ClaimsRequest | null },
): Record<string, unknown> {
  if (!grant.claimsUser) return {}
  const user = { ...grant.claimsUser, updatedAt: new Date(grant.claimsUser.updatedAt) }
  return buildClaims(user, idTokenClaims ? grant.scopes : [], grant.claims?.id_token)
}

/** The lifetime for clients without tokenExpiryTime. */
const DEFAULT_TOKEN_LIFETIME_SECONDS = 3600

/** The token type: DPoP for a token that is bound to a key (RFC 9449, section 5). */
export const getTokenType = (dpopJkt: string | null): 'Bearer' | 'DPoP' =>
  dpopJkt === null ? 'Bearer' : 'DPoP'

export const getTokenLifetime = (client: CachedClient): number =>
  client.tokenExpiryTime ?? DEFAULT_TOKEN_LIFETIME_SECONDS

/** The grant, or narrowed grant, that a user's tokens are issued for. */
type UserGrant = {
  grantId: string
  userId: string
  sessionId: string | null
  scopes: string[]
  resources: string[]
  defaultAudience: string | null
  claims: ClaimsRequest | null
  nonce: string | null
  authenticatedAt: Date
  amr: string[]
  claimsUser: ClaimsUserJson | null
}

/**
 * Issues the access token of a user's grant, an ID token with `openid`, and includes `refreshToken` when
 * given. Throws OAuthError invalid_grant when the user or grant is inactive.
 */
export async function issueUserTokens(
  { tenant, client, dpopJkt }: TokenRequest,
  grant: UserGrant,
  refreshToken: string | null,
): Promise<TokenResponse> {
  const lifetimeSeconds = getTokenLifetime(client)
  const acr = selectReportedAcr(grant.claims?.id_token.acr ?? null, grant.amr)
  const accessToken = await issueAccessToken(tenant.tenantId, {
    subject: grant.userId,
    clientId: client.id,
    scopes: grant.scopes,
    audience: computeAudience(selectGrantAudience(tenant, client, grant), grant.scopes, grant.resources),
    dpopJkt,
    lifetimeSeconds,
    grantId: grant.grantId,
    sessionId: grant.sessionId,
    authenticatedAt: grant.authenticatedAt,
    acr,
    amr: grant.amr,
  })
  return {
    access_token: accessToken,
    token_type: getTokenType(dpopJkt),
    expires_in: lifetimeSeconds,
    ...toScopeMember(grant.scopes),
    ...(refreshToken !== null && { refresh_token: refreshToken }),
    ...(grant.scopes.includes('openid') && {
      id_token: await issueIdToken(tenant.tenantId, {
        ...grant,
        acr,
        claims: buildIdTokenClaims(client, grant),
        clientId: client.id,
        accessToken,
        lifetimeSeconds,
        signingAlg: client.idTokenSigningAlg,
      }),
    }),
  }
}
