import type { CachedClient } from '../../access/client-cache.ts'
import { type DeclaredApi, findDeclaredApis } from '../../access/declared-resources.ts'
import type { EffectiveAccess } from '../../access/effective-access.sql.ts'
import { selectReportedAcr } from '../model/acr.ts'
import type { ClaimsRequest } from '../model/claims-request.ts'
import { toScopeMember } from '../model/scopes.ts'
import type { TokenRequest, TokenResponse } from '../model/token-request.ts'
import { type AccessTokenRequest, issueAccessToken } from './access-tokens.ts'
import { computeAudience, selectGrantAudience } from './audience.ts'
import { buildAuthorizationClaims, selectTokenApi } from './authorization-claims.ts'
import type { ClaimsUserJson } from './granted-user.sql.ts'
import { type IdTokenRequest, issueIdToken } from './id-tokens.ts'
import type { TokenOrganization } from './new-grant.sql.ts'
import {
  buildAccessTokenClaims,
  buildIdTokenClaims,
  type OmittedClaims,
  recordOmittedClaims,
  toClaimsUser,
} from './user-claims.ts'

/** The lifetime for clients without tokenExpiryTime. */
const DEFAULT_TOKEN_LIFETIME_SECONDS = 3600

/** The token type: DPoP for a token that is bound to a key (RFC 9449, section 5). */
export const getTokenType = (dpopJkt: string | null): 'Bearer' | 'DPoP' =>
  dpopJkt === null ? 'Bearer' : 'DPoP'

export const getTokenLifetime = (client: CachedClient): number =>
  client.tokenExpiryTime ?? DEFAULT_TOKEN_LIFETIME_SECONDS

/** The grant, or narrowed grant, that a user's tokens are issued for. */
export type UserGrant = {
  grantId: string
  userId: string
  sessionId: string | null
  scopes: string[]
  resources: string[]
  defaultAudience: string | null
  organization: TokenOrganization | null
  claims: ClaimsRequest | null
  nonce: string | null
  authenticatedAt: Date
  amr: string[]
  claimsUser: ClaimsUserJson | null
  /** What the user may do at the APIs of the tokens. */
  access: EffectiveAccess | null
}

type TokenContents = {
  accessToken: AccessTokenRequest
  idToken: Omit<IdTokenRequest, 'accessToken'> | null
  omitted: OmittedClaims[]
}

/** The shortest lifetime of access tokens for these APIs, which is never longer than that of the client. */
export const computeLifetime = (client: CachedClient, apis: readonly DeclaredApi[]): number =>
  Math.min(getTokenLifetime(client), ...apis.map((api) => api.tokenExpiryTime ?? Number.POSITIVE_INFINITY))

/** The seconds until the sign-in is too old for the organization of the tokens. */
function computeRemainingSeconds({ organization, authenticatedAt }: UserGrant): number {
  const lifetime = organization?.sessionLifetimeSeconds ?? Number.POSITIVE_INFINITY
  return Math.max(1, Math.ceil(lifetime - (Date.now() - authenticatedAt.getTime()) / 1000))
}

/**
 * The contents of the tokens of a user's grant, before they are signed. No statement for audiences of this deployment, or of
 * a tenant whose APIs are cached.
 */
export async function buildTokenContents(
  { tenant, client, dpopJkt }: Pick<TokenRequest, 'tenant' | 'client' | 'dpopJkt'>,
  grant: UserGrant,
): Promise<TokenContents> {
  const lifetimeSeconds = getTokenLifetime(client)
  const acr = selectReportedAcr(grant.claims?.id_token.acr ?? null, grant.amr)
  const audience = computeAudience(selectGrantAudience(tenant, client, grant), grant.scopes, grant.resources)
  const apis = await findDeclaredApis(tenant.tenantId, audience)
  const api = selectTokenApi(apis, audience)
  const authorization = buildAuthorizationClaims(grant.access, api, grant.organization !== null)
  const user = grant.claimsUser && toClaimsUser(grant.claimsUser)
  const forAccessToken = user && buildAccessTokenClaims(client, api, user, grant.scopes)
  const organization = grant.organization && {
    org_id: grant.organization.id,
    org_slug: grant.organization.slug,
  }
  const forIdToken = grant.scopes.includes('openid') ? buildIdTokenClaims(client, user, grant) : null
  return {
    accessToken: {
      subject: grant.userId,
      clientId: client.id,
      scopes: grant.scopes,
      audience,
      claims: { ...forAccessToken?.claims, ...organization, ...authorization.claims },
      dpopJkt,
      lifetimeSeconds: Math.min(computeLifetime(client, apis), computeRemainingSeconds(grant)),
      grantId: grant.grantId,
      sessionId: grant.sessionId,
      authenticatedAt: grant.authenticatedAt,
      acr,
      amr: grant.amr,
    },
    idToken: forIdToken && {
      userId: grant.userId,
      sessionId: grant.sessionId,
      nonce: grant.nonce,
      authenticatedAt: grant.authenticatedAt,
      amr: grant.amr,
      acr,
      claims: { ...forIdToken.claims, ...organization },
      clientId: client.id,
      lifetimeSeconds,
      signingAlg: client.idTokenSigningAlg,
    },
    omitted: [...authorization.omitted, ...(forAccessToken?.omitted ?? []), ...(forIdToken?.omitted ?? [])],
  }
}

/**
 * Issues the access token of a user's grant, an ID token with `openid`, and includes `refreshToken` when
 * given. Throws OAuthError invalid_grant when the user or grant is inactive.
 */
export async function issueUserTokens(
  request: TokenRequest,
  grant: UserGrant,
  refreshToken: string | null,
): Promise<TokenResponse> {
  const { ctx, tenant, dpopJkt } = request
  const contents = await buildTokenContents(request, grant)
  await recordOmittedClaims(ctx, { clientId: request.client.id, userId: grant.userId }, contents.omitted)
  const accessToken = await issueAccessToken(tenant.tenantId, contents.accessToken)
  return {
    access_token: accessToken,
    token_type: getTokenType(dpopJkt),
    expires_in: contents.accessToken.lifetimeSeconds,
    ...toScopeMember(grant.scopes),
    ...(refreshToken !== null && { refresh_token: refreshToken }),
    ...(contents.idToken && {
      id_token: await issueIdToken(tenant.tenantId, { ...contents.idToken, accessToken }),
    }),
  }
}
