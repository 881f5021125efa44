import { randomUUID } from 'node:crypto'
import { issuerOf } from '../../core/issuer.ts'
import { toEpochSeconds } from '../../core/time.ts'
import { signJwt } from '../../keys/keys.ts'
import { toScopeMember } from '../model/scopes.ts'

export type AccessTokenRequest = {
  subject: string
  clientId: string
  scopes: readonly string[]
  audience: readonly string[]
  lifetimeSeconds: number
  grantId?: string | null
  sessionId?: string | null
  /**
   * When and how the user authenticated, for resource servers that require a recent or strong sign-in (RFC 9068,
   * section 2.2.1; RFC 9470).
   */
  authenticatedAt?: Date
  acr?: string
  amr?: readonly string[]
  /** Claims of mappings. */
  claims?: Record<string, unknown>
  /** Thumbprint of the key that the token is bound to (RFC 9449, section 6). */
  dpopJkt?: string | null
}

/** The payload of an access token (RFC 9068). `sid` and `gid` identify the session and the grant that it depends on. */
export function buildAccessTokenPayload(
  tenant: string,
  request: AccessTokenRequest,
): Record<string, unknown> {
  const issuedAt = toEpochSeconds(new Date())
  return {
    ...request.claims,
    iss: issuerOf(tenant),
    sub: request.subject,
    client_id: request.clientId,
    aud: request.audience.length === 1 ? request.audience[0] : [...request.audience],
    ...toScopeMember(request.scopes),
    iat: issuedAt,
    exp: issuedAt + request.lifetimeSeconds,
    jti: randomUUID(),
    ...(request.sessionId && { sid: request.sessionId }),
    ...(request.grantId && { gid: request.grantId }),
    ...(request.dpopJkt && { cnf: { jkt: request.dpopJkt } }),
    ...(request.authenticatedAt && { auth_time: toEpochSeconds(request.authenticatedAt) }),
    ...(request.acr && { acr: request.acr }),
    ...(request.amr && request.amr.length > 0 && { amr: request.amr }),
  }
}

/** Issues a JWT access token. */
export const issueAccessToken = (tenant: string, request: AccessTokenRequest): Promise<string> =>
  signJwt(tenant, 'at+jwt', buildAccessTokenPayload(tenant, request))
