import { errors, type JWTPayload } from 'jose'
import { findApiKey, getKeyOwner, listKeyScopes } from '../../access/api-keys/find-api-key.ts'
import { hasKeyPrefix } from '../../access/api-keys/key-text.ts'
import { type CachedClient, findClient } from '../../access/client-cache.ts'
import { findDeclaredApis } from '../../access/declared-resources.ts'
import { selectClientAccess, selectUserAccess } from '../../access/effective-access.sql.ts'
import { selectActiveUsers } from '../../access/token-status.sql.ts'
import { consumeLimit } from '../../coordination/rate-limits.ts'
import { sha256 } from '../../core/crypto.ts'
import { issuerOf } from '../../core/issuer.ts'
import { normalizeIp } from '../../core/network/ip.ts'
import { OAuthError } from '../../core/oauth-error.ts'
import { parseScopeList } from '../../core/scopes.ts'
import { toEpochSeconds } from '../../core/time.ts'
import { Handle } from '../../database/handle.ts'
import { verifyAccessToken } from '../../keys/keys.ts'
import { getTextClaim } from '../../keys/token-claims.ts'
import { isPublicClient } from '../../model/public-clients.ts'
import { selectGrantableScopes, toScopeMember } from '../model/scopes.ts'
import { requireParameter, type TokenRequest } from '../model/token-request.ts'
import { buildAuthorizationClaims, selectTokenApi } from './authorization-claims.ts'
import { selectActiveGrant } from './introspection.sql.ts'
import { parseRefreshToken, type RefreshToken } from './refresh-tokens.ts'

/**
 * The introspection response (RFC 7662, section 2.2). An inactive token and one that the caller may not
 * introspect look the same.
 */
export type Introspection = { active: false } | ({ active: true } & Record<string, unknown>)

const INACTIVE: Introspection = { active: false }

/**
 * Introspects a token (RFC 7662): a client's own tokens, and access tokens and API keys for an API that it serves, while
 * the user, grant and session they depend on are active. `scope` is what the token permits now, which may be
 * less than when it was issued; no user data are returned. One statement for a user's token, none for a
 * machine client's or a foreign token. Throws OAuthError invalid_client for clients that cannot authenticate,
 * so that a stolen token cannot be tested (section 2.1).
 */
export async function introspectToken(request: TokenRequest): Promise<Introspection> {
  const { ctx, tenant, client, form } = request
  if (isPublicClient(client)) {
    await consumeLimit('clientAuthentication', ctx.tenant, ctx.ip)
    throw new OAuthError('invalid_client', 'Only clients that authenticate may introspect tokens.', {
      status: 401,
      diagnostics: { reason: `a ${client.appType} client cannot authenticate` },
    })
  }
  const text = requireParameter(form, 'token')
  if (hasKeyPrefix(text)) return introspectApiKey(ctx.tenant, client, text, form.ip)
  const refreshToken = parseRefreshToken(tenant.tokenKey, text)
  return refreshToken
    ? introspectRefreshToken(ctx.tenant, client, refreshToken)
    : introspectAccessToken(ctx.tenant, client, text, form.ip)
}

/**
 * Only the client of a refresh token may introspect it. A rotated token is inactive, although a retry still
 * accepts it.
 */
async function introspectRefreshToken(
  tenant: string,
  client: CachedClient,
  { grantId, generation, secret }: RefreshToken,
): Promise<Introspection> {
  const presented = { grantId, generation, secretHash: sha256(secret), clientId: client.id }
  const grant = await selectActiveGrant(new Handle({ tenant }), presented, new Date())
  if (!grant) return INACTIVE
  return {
    active: true,
    iss: issuerOf(tenant),
    sub: grant.userId,
    client_id: client.id,
    ...toScopeMember(selectGrantableScopes(grant.scopes, client, grant.roles)),
    iat: toEpochSeconds(grant.issuedAt),
    exp: toEpochSeconds(grant.idleExpiresAt),
    auth_time: toEpochSeconds(grant.authenticatedAt),
    ...(grant.sessionId && { sid: grant.sessionId }),
    ...(grant.dpopJkt && { cnf: { jkt: grant.dpopJkt } }),
  }
}

/**
 * The clients that serve an API of a key may introspect it. A key with networks is active for a caller of the API in one of
 * them, whose address is `ip`.
 */
async function introspectApiKey(
  tenant: string,
  caller: CachedClient,
  text: string,
  ip: string | undefined,
): Promise<Introspection> {
  const key = await findApiKey({ tenant, ip: normalizeIp(ip ?? ''), isClient: true }, text)
  const audience = (key?.resources ?? []).filter((resource) => caller.resources.includes(resource))
  if (!key || audience.length === 0) return INACTIVE
  return {
    active: true,
    iss: issuerOf(tenant),
    sub: key.userId ?? key.id,
    ...(key.organizationId && { org_id: key.organizationId }),
    aud: audience.length === 1 ? audience[0] : audience,
    iat: toEpochSeconds(key.issuedAt),
    exp: toEpochSeconds(key.expiresAt),
    jti: key.id,
    ...toScopeMember([...listKeyScopes(tenant, key)]),
    token_type: 'Bearer',
    owner: getKeyOwner(key),
  }
}

/** The payload of an access token of this tenant, for any audience; null for anything else. */
async function findValidPayload(tenant: string, text: string): Promise<Readonly<JWTPayload> | null> {
  try {
    return await verifyAccessToken(tenant, text)
  } catch (error) {
    if (error instanceof errors.JOSEError) return null
    throw error
  }
}

/**
 * Its client may introspect an access token, and so may the clients that serve one of its audiences; they see
 * their own audiences only. A token for an organization with networks is active for a caller of the API in one of them, if
 * the address of the caller, `ip`, is given.
 */
async function introspectAccessToken(
  tenant: string,
  caller: CachedClient,
  text: string,
  ip: string | undefined,
): Promise<Introspection> {
  const payload = await findValidPayload(tenant, text)
  if (!payload) return INACTIVE
  const isOwn = payload.client_id === caller.id
  const audience = [payload.aud ?? []].flat().filter((aud) => isOwn || caller.resources.includes(aud))
  if (!isOwn && audience.length === 0) return INACTIVE
  const scopes = await findEffectiveScopes(tenant, payload, ip)
  if (!scopes) return INACTIVE
  const { iss, sub, client_id, iat, exp, jti, cnf, auth_time, acr, amr, sid, org_id, org_slug } = payload
  return {
    active: true,
    ...{ iss, sub, client_id, iat, exp, jti, cnf, auth_time, acr, amr },
    aud: audience.length === 1 ? audience[0] : audience,
    ...toScopeMember(scopes),
    ...(org_id !== undefined && { org_id, org_slug }),
    ...(await readAuthorization(tenant, payload)),
    token_type: cnf ? 'DPoP' : 'Bearer',
    ...(isOwn && { sid }),
  }
}

/** The roles and permissions of a token for an API, as they are now: one statement for such a token. */
async function readAuthorization(
  tenant: string,
  payload: Readonly<JWTPayload>,
): Promise<Record<string, unknown>> {
  const audience = [payload.aud ?? []].flat()
  const api = selectTokenApi(await findDeclaredApis(tenant, audience), audience)
  if (!api?.permissionsInTokens) return {}
  const { sub = '', client_id } = payload
  const db = new Handle({ tenant })
  const organizationId = getTextClaim(payload, 'org_id')
  const access =
    sub === client_id
      ? await selectClientAccess(db, sub, [api.identifier])
      : await selectUserAccess(db, sub, [api.identifier], organizationId)
  return buildAuthorizationClaims(access, api, organizationId !== null).claims
}

/**
 * The scopes of a token that its client and the roles of its user permit now; null when the token is
 * inactive.
 */
async function findEffectiveScopes(
  tenant: string,
  payload: Readonly<JWTPayload>,
  ip: string | undefined,
): Promise<string[] | null> {
  const client = await findClient(tenant, getTextClaim(payload, 'client_id') ?? '')
  // A token from before the client had to use DPoP.
  if (!client || (client.dpopBoundAccessTokens && !payload.cnf)) return null
  const scopes = parseScopeList(getTextClaim(payload, 'scope') ?? '')
  if (payload.sub === client.id) return scopes.filter((scope) => client.scopes.includes(scope))
  const basis = {
    userId: payload.sub ?? '',
    grantId: getTextClaim(payload, 'gid'),
    sessionId: getTextClaim(payload, 'sid'),
    organizationId: getTextClaim(payload, 'org_id'),
    deviceIp: normalizeIp(ip ?? ''),
  }
  const [user] = await selectActiveUsers(new Handle({ tenant }), [basis])
  return user ? selectGrantableScopes(scopes, client, user.roles) : null
}
