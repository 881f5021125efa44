import { randomUUID } from 'node:crypto'
import { decodeJwt, type JWTPayload } from 'jose'
import { findClient } from '../../clients/client-cache.ts'
import {
  ACCOUNT_SCOPE,
  type Actor,
  type Ctx,
  isScope,
  type Scope,
  SYSTEM_SCOPES,
  SYSTEM_TENANT,
  scopesOfRoles,
} from '../../ctx.ts'
import { sql } from '../../db.ts'
import { OAuthError, Unauthenticated } from '../../errors.ts'
import { epochSeconds } from '../../time.ts'
import {
  type Binding,
  challengeOf,
  checkBinding,
  DPOP_CHALLENGE,
  type KeyProof,
  type PresentedAccessToken,
  readAuthorization,
} from '../client-auth/dpop-binding.ts'
import { apiAudienceOf, issuerOf, signJwt, verifyAccessToken } from '../keys/keys.ts'
import { toScopes } from '../scopes.ts'
import { selectStanding } from './access-tokens.sql.ts'
import { textClaim } from './text-claim.ts'

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
  const issuedAt = epochSeconds(new Date())
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
    ...(request.authenticatedAt && { auth_time: epochSeconds(request.authenticatedAt) }),
  })
}

const invalidToken = (cause?: unknown) =>
  new OAuthError('invalid_token', 'The access token is invalid, expired or revoked.', { status: 401, cause })

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

const scopesIn = (payload: JWTPayload): string[] => toScopes(textClaim(payload, 'scope') ?? '')

/** A checked token: the context of the call, and what is needed to check it again later. */
export type Authenticated = { ctx: Ctx; token: { jti: string; expiresAt: Date }; binding: Binding }

type Target = Pick<Ctx, 'tenant' | 'requestId' | 'ip' | 'userAgent'>

/**
 * Authenticates a management or viewer call (RFC 6750; RFC 9068, section 4; RFC 9449, section 7). Checks signature, issuer,
 * audience and lifetime, the proof of the key if the token is bound to one, then that what the token depends on still
 * stands: one statement for a person, a cached row for a client, and one more for a proof. The scopes of the context are
 * those of the token that the client, or the person's roles, permit now.
 * Throws Unauthenticated, the same for whatever is wrong with the token itself.
 */
export async function authenticateToken(
  target: Target,
  authorization: string | null,
  by: KeyProof = { provenJkt: null },
): Promise<Authenticated> {
  if (authorization === null) throw new Unauthenticated(undefined, `Bearer, ${DPOP_CHALLENGE}`)
  const presented = readAuthorization(authorization)
  try {
    if (!presented) throw invalidToken()
    return await authenticate(target, presented, by)
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error
    const challenge = challengeOf(presented?.scheme ?? 'Bearer', error.error, error.message)
    throw new Unauthenticated(error.message, challenge, { cause: error, headers: error.headers })
  }
}

async function authenticate(
  target: Target,
  presented: PresentedAccessToken,
  by: KeyProof,
): Promise<Authenticated> {
  const tenant = issuingTenant(target.tenant, presented.token)
  const audience = [apiAudienceOf(tenant), apiAudienceOf(target.tenant)]
  const payload = await verifyAccessToken(tenant, presented.token, audience).catch((error) => {
    throw invalidToken(error)
  })
  const binding = await checkBinding(target.tenant, presented, payload, by)
  const { actor, permitted } = await resolveActor(target.tenant, tenant, payload)
  const asked = scopesIn(payload).filter(isScope)
  const scopes = new Set(
    asked.filter(
      (scope) => permitted.has(scope) && (target.tenant === SYSTEM_TENANT || !SYSTEM_SCOPES.includes(scope)),
    ),
  )
  return {
    ctx: { ...target, actor, scopes },
    token: { jti: textClaim(payload, 'jti') ?? '', expiresAt: new Date((payload.exp ?? 0) * 1000) },
    binding,
  }
}

async function resolveActor(
  target: string,
  tenant: string,
  payload: JWTPayload,
): Promise<{ actor: Actor; permitted: ReadonlySet<Scope> }> {
  const clientId = textClaim(payload, 'client_id') ?? ''
  const client = await findClient(tenant, clientId)
  if (!client || (tenant !== target && !client.allTenants)) throw invalidToken()
  if (payload.sub === clientId)
    return { actor: { kind: 'client', tenant, clientId }, permitted: new Set(client.scopes.filter(isScope)) }
  // Persons act in their own tenant only.
  if (tenant !== target) throw invalidToken()
  const basis = {
    userId: payload.sub ?? '',
    grantId: textClaim(payload, 'gid'),
    sessionId: textClaim(payload, 'sid'),
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
