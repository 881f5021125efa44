import { errors, type JWTPayload } from 'jose'
import { type CachedClient, findClient } from '../../clients/client-cache.ts'
import { sha256 } from '../../crypto.ts'
import { sql } from '../../db.ts'
import { OAuthError } from '../../errors.ts'
import { spend } from '../../limits.ts'
import { epochSeconds } from '../../time.ts'
import { isPublic } from '../client-auth/auth-methods.ts'
import { issuerOf, verifyAccessToken } from '../keys/keys.ts'
import { grantableScopes, toScopes } from '../scopes.ts'
import { selectStanding } from './access-tokens.sql.ts'
import { selectStandingGrant } from './introspection.sql.ts'
import { type RefreshToken, readRefreshToken } from './refresh-tokens.ts'
import { textClaim } from './text-claim.ts'
import { required, type TokenRequest } from './token-response.ts'

/** What is told of a token (RFC 7662, section 2.2): of one that is not for the caller as little as of one that is over. */
export type Introspection = { active: false } | ({ active: true } & Record<string, unknown>)

const INACTIVE: Introspection = { active: false }

/**
 * Tells a client about a token (RFC 7662): of its own tokens, and of access tokens for an API that it serves, as long as what
 * they depend on stands. `scope` is what the token permits now, which may be less than when it was issued; nobody's data are
 * told. One statement for a person's token, none for a machine's or for what is no token of this tenant. Throws OAuthError
 * invalid_client for clients that cannot authenticate: whoever finds a token must not learn what it is worth (section 2.1).
 */
export async function introspect(request: TokenRequest): Promise<Introspection> {
  const { ctx, tenant, client, form } = request
  if (isPublic(client)) {
    await spend('clientAuthentication', ctx.tenant, ctx.ip)
    throw new OAuthError('invalid_client', 'Only clients that authenticate may introspect tokens.', {
      status: 401,
      why: { reason: `a ${client.appType} client cannot authenticate` },
    })
  }
  const text = required(form, 'token')
  const refreshToken = readRefreshToken(tenant.tokenKey, text)
  return refreshToken
    ? introspectRefreshToken(ctx.tenant, client, refreshToken)
    : introspectAccessToken(ctx.tenant, client, text)
}

/** A refresh token concerns its own client alone. One that was rotated is over, although a retry may still use it. */
async function introspectRefreshToken(
  tenant: string,
  client: CachedClient,
  { grantId, generation, secret }: RefreshToken,
  now = new Date(),
): Promise<Introspection> {
  const presented = { grantId, generation, secretHash: sha256(secret), clientId: client.id }
  const grant = await selectStandingGrant(sql, tenant, presented, now)
  if (!grant) return INACTIVE
  return {
    active: true,
    iss: issuerOf(tenant),
    sub: grant.userId,
    client_id: client.id,
    scope: grantableScopes(grant.scopes, client, grant.roles).join(' '),
    iat: epochSeconds(grant.issuedAt),
    exp: epochSeconds(grant.idleExpiresAt),
    auth_time: epochSeconds(grant.authenticatedAt),
    ...(grant.sessionId && { sid: grant.sessionId }),
    ...(grant.dpopJkt && { cnf: { jkt: grant.dpopJkt } }),
  }
}

/** What this tenant issued as an access token, for whomever; null for anything else. */
async function readAccessToken(tenant: string, text: string): Promise<Readonly<JWTPayload> | null> {
  try {
    return await verifyAccessToken(tenant, text)
  } catch (error) {
    if (error instanceof errors.JOSEError) return null
    throw error
  }
}

/** An access token is told of to its own client, and to those who serve an API that it is for: to these, of their APIs alone. */
async function introspectAccessToken(
  tenant: string,
  caller: CachedClient,
  text: string,
): Promise<Introspection> {
  const payload = await readAccessToken(tenant, text)
  if (!payload) return INACTIVE
  const isOwn = payload.client_id === caller.id
  const audience = [payload.aud ?? []].flat().filter((aud) => isOwn || caller.resources.includes(aud))
  if (!isOwn && audience.length === 0) return INACTIVE
  const scopes = await standingScopes(tenant, payload)
  if (!scopes) return INACTIVE
  const { iss, sub, client_id, iat, exp, jti, cnf, auth_time, sid } = payload
  return {
    active: true,
    ...{ iss, sub, client_id, iat, exp, jti, cnf, auth_time },
    aud: audience.length === 1 ? audience[0] : audience,
    scope: scopes.join(' '),
    token_type: cnf ? 'DPoP' : 'Bearer',
    ...(isOwn && { sid }),
  }
}

/** The scopes of a token that its client, and its person's roles, permit now; null when what it depends on is over. */
async function standingScopes(tenant: string, payload: Readonly<JWTPayload>): Promise<string[] | null> {
  const client = await findClient(tenant, textClaim(payload, 'client_id') ?? '')
  if (!client) return null
  const scopes = toScopes(textClaim(payload, 'scope') ?? '')
  if (payload.sub === client.id) return scopes.filter((scope) => client.scopes.includes(scope))
  const basis = {
    userId: payload.sub ?? '',
    grantId: textClaim(payload, 'gid'),
    sessionId: textClaim(payload, 'sid'),
  }
  const [roles] = await selectStanding(sql, tenant, [basis])
  return roles ? grantableScopes(scopes, client, roles) : null
}
