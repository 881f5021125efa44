import { randomUUID } from 'node:crypto'
import { decodeJwt, type JWTPayload } from 'jose'
import { findClient } from '../clients/client-cache.ts'
import {
  ACCOUNT_SCOPE,
  type Actor,
  type Ctx,
  isScope,
  type Scope,
  SYSTEM_SCOPES,
  SYSTEM_TENANT,
  scopesOfRoles,
} from '../ctx.ts'
import { sql } from '../db.ts'
import { Unauthenticated } from '../errors.ts'
import { selectStanding } from './access-tokens.sql.ts'
import { apiAudienceOf, issuerOf, signJwt, verifyAccessToken } from './keys.ts'
import { toScopes } from './scopes.ts'

export type AccessTokenRequest = {
  subject: string
  clientId: string
  scopes: readonly string[]
  audience: readonly string[]
  lifetimeSeconds: number
  grantId?: string | null
  sessionId?: string | null
  /** Time of authentication and method, for resource servers that ask for a recent sign-in (RFC 9068, section 2.2.1). */
  authenticatedAt?: Date
  /** Thumbprint of the key that the token is bound to (RFC 9449, section 6). */
  dpopJkt?: string | null
}

/** Issues a JWT access token (RFC 9068). `sid` and `gid` name the session and the grant that it depends on. */
export function issueAccessToken(tenant: string, request: AccessTokenRequest): Promise<string> {
  const issuedAt = Math.floor(Date.now() / 1000)
  return signJwt(tenant, 'at+jwt', {
    iss: issuerOf(tenant),
    sub: request.subject,
    client_id: request.clientId,
    aud: request.audience.length === 1 ? request.audience[0] : [...request.audience],
    scope: request.scopes.join(' '),
    iat: issuedAt,
    exp: issuedAt + request.lifetimeSeconds,
    jti: randomUUID(),
    ...(request.sessionId && { sid: request.sessionId }),
    ...(request.grantId && { gid: request.grantId }),
    ...(request.dpopJkt && { cnf: { jkt: request.dpopJkt } }),
    ...(request.authenticatedAt && { auth_time: Math.floor(request.authenticatedAt.getTime() / 1000) }),
  })
}

const INVALID_TOKEN = 'Bearer error="invalid_token"'
const invalidToken = (cause?: unknown) =>
  new Unauthenticated('The access token is invalid, expired or revoked.', INVALID_TOKEN, cause)

/** The token of an Authorization header; null without one. Throws Unauthenticated for anything but Bearer. */
export function bearerOf(authorization: string | null): string | null {
  if (authorization === null) return null
  const token = /^bearer +([A-Za-z0-9\-._~+/]+=*) *$/i.exec(authorization)?.[1]
  if (!token) throw invalidToken()
  return token
}

/** Which tenant says to have issued the token: the target's own or `system`, by exact issuer. */
function issuingTenant(target: string, token: string): string {
  let issuer: unknown
  try {
    issuer = decodeJwt(token).iss
  } catch (error) {
    throw invalidToken(error)
  }
  const tenant = [target, SYSTEM_TENANT].find((candidate) => issuerOf(candidate) === issuer)
  if (!tenant) throw invalidToken()
  return tenant
}

const claim = (payload: JWTPayload, name: string): string | null =>
  typeof payload[name] === 'string' ? payload[name] : null

const scopesIn = (payload: JWTPayload): string[] => toScopes(claim(payload, 'scope') ?? '')

/** A checked token: the context of the call, and what is needed to check it again later. */
export type Authenticated = { ctx: Ctx; token: { jti: string; expiresAt: Date } }

/**
 * Authenticates a management or viewer call (RFC 6750; RFC 9068, section 4). Checks signature, issuer, audience and
 * lifetime, then that what the token depends on still stands: one statement for a person, a cached row for a client.
 * The scopes of the context are those of the token that the client, or the person's roles, permit now.
 * Throws Unauthenticated, the same for every reason.
 */
export async function authenticateBearer(
  target: Pick<Ctx, 'tenant' | 'requestId' | 'ip' | 'userAgent'>,
  authorization: string | null,
): Promise<Authenticated> {
  const token = bearerOf(authorization)
  if (!token) throw new Unauthenticated()
  const tenant = issuingTenant(target.tenant, token)
  const audience = [apiAudienceOf(tenant), apiAudienceOf(target.tenant)]
  const payload = await verifyAccessToken(tenant, token, audience).catch((error) => {
    throw invalidToken(error)
  })
  const { actor, permitted } = await resolveActor(target.tenant, tenant, payload)
  const asked = scopesIn(payload).filter(isScope)
  const scopes = new Set(
    asked.filter(
      (scope) => permitted.has(scope) && (target.tenant === SYSTEM_TENANT || !SYSTEM_SCOPES.includes(scope)),
    ),
  )
  return {
    ctx: { ...target, actor, scopes },
    token: { jti: claim(payload, 'jti') ?? '', expiresAt: new Date((payload.exp ?? 0) * 1000) },
  }
}

async function resolveActor(
  target: string,
  tenant: string,
  payload: JWTPayload,
): Promise<{ actor: Actor; permitted: ReadonlySet<Scope> }> {
  const clientId = claim(payload, 'client_id') ?? ''
  const client = await findClient(tenant, clientId)
  if (!client || (tenant !== target && !client.allTenants)) throw invalidToken()
  if (payload.sub === clientId)
    return { actor: { kind: 'client', tenant, clientId }, permitted: new Set(client.scopes.filter(isScope)) }
  // Persons act in their own tenant only.
  if (tenant !== target) throw invalidToken()
  const basis = {
    userId: payload.sub ?? '',
    grantId: claim(payload, 'gid'),
    sessionId: claim(payload, 'sid'),
  }
  const [roles] = await selectStanding(sql, tenant, [basis])
  if (!roles) throw invalidToken()
  const ofRoles = scopesOfRoles(roles)
  return {
    actor: {
      kind: 'user',
      tenant,
      clientId,
      ...basis,
      mayChangeOwn: scopesIn(payload).includes(ACCOUNT_SCOPE),
    },
    permitted: new Set(client.scopes.filter((scope): scope is Scope => isScope(scope) && ofRoles.has(scope))),
  }
}
