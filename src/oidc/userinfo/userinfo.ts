import { decodeJwt } from 'jose'
import {
  assertClientBinding,
  buildChallenge,
  DPOP_CHALLENGE,
  type KeyProof,
  type PresentedAccessToken,
  parseAuthorization,
  verifyBinding,
} from '../../access/dpop/dpop-binding.ts'
import { issuerOf } from '../../core/issuer.ts'
import { type Diagnostics, OAuthError, type OAuthErrorCode } from '../../core/oauth-error.ts'
import { parseScopeList } from '../../core/scopes.ts'
import { throwTransient } from '../../core/transient-errors.ts'
import { Handle } from '../../database/handle.ts'
import { signJwt, verifyAccessToken } from '../../keys/keys.ts'
import { getTextClaim } from '../../keys/token-claims.ts'
import { userinfoAudienceOf } from '../token/audience.ts'
import { selectGrantedUser } from '../token/granted-user.sql.ts'
import { buildUserinfoClaims, type OmittedClaims } from '../token/user-claims.ts'

/** The error of a protected resource, with its challenge (RFC 6750, section 3; RFC 9449, section 7.1). */
function createUserinfoError(
  tenant: string,
  scheme: PresentedAccessToken['scheme'],
  [status, error, description]: [number, OAuthErrorCode, string],
  { scope, diagnostics }: { scope?: string; diagnostics?: Diagnostics } = {},
) {
  const challenge = buildChallenge(scheme, error, description, { realm: issuerOf(tenant), scope })
  return new OAuthError(error, description, {
    status,
    diagnostics,
    headers: { 'www-authenticate': challenge },
  })
}

const createInvalidTokenError = (tenant: string, scheme: PresentedAccessToken['scheme'] = 'Bearer') =>
  createUserinfoError(tenant, scheme, [
    401,
    'invalid_token',
    'The access token is invalid, expired or revoked.',
  ])

/**
 * The access token of a request, from its header or its form (RFC 6750, section 2). Throws OAuthError with a
 * challenge when there is none, or more than one.
 */
export function readAccessToken(
  tenant: string,
  authorization: string | null,
  formToken: string | null,
): PresentedAccessToken {
  if (authorization !== null && formToken !== null)
    throw createUserinfoError(tenant, 'Bearer', [
      400,
      'invalid_request',
      'The access token must be sent in only one way.',
    ])
  if (authorization === null && formToken === null)
    // Without a token the challenge carries no error (RFC 6750, section 3.1).
    throw new OAuthError('invalid_token', 'An access token is required.', {
      status: 401,
      headers: { 'www-authenticate': `Bearer realm="${issuerOf(tenant)}", ${DPOP_CHALLENGE}` },
    })
  const presented: PresentedAccessToken | null = formToken
    ? { token: formToken, scheme: 'Bearer' }
    : parseAuthorization(authorization ?? '')
  if (!presented) throw createInvalidTokenError(tenant)
  return presented
}

type UserinfoResponse = {
  answer: Record<string, unknown> | string
  nextNonce: string | null
  /** The claims that are left out, for the event log. */
  omitted: { clientId: string; userId: string; claims: OmittedClaims[] }
}

/**
 * The claims that an access token gives access to: those of its scopes and those that were requested
 * individually (OIDC Core, sections 5.3 and 5.5); a JWT when the client registered a signing algorithm
 * (section 5.3.2). The token must be issued by this tenant for userinfo, and its user, grant and session must
 * be active; the session of an offline grant may have ended. One statement, and another for the proof of a
 * DPoP-bound token. Throws OAuthError with a challenge; it has diagnostics when a valid token is rejected for
 * its binding or scopes.
 */
export async function buildUserinfoResponse(
  tenant: string,
  presented: PresentedAccessToken,
  proof: KeyProof,
): Promise<UserinfoResponse> {
  const { token, scheme } = presented
  const payload = await verifyAccessToken(tenant, token, [userinfoAudienceOf(tenant)]).catch((error) => {
    throwTransient(error)
    throw createInvalidTokenError(tenant, scheme)
  })
  const binding = await verifyBinding(tenant, presented, payload, proof)
  const scopes = parseScopeList(getTextClaim(payload, 'scope') ?? '')
  if (!scopes.includes('openid'))
    throw createUserinfoError(
      tenant,
      scheme,
      [403, 'insufficient_scope', 'The access token lacks the scope openid.'],
      {
        scope: 'openid',
        diagnostics: { reason: 'the access token lacks the scope openid', scope: scopes.join(' ') },
      },
    )
  const user = await selectGrantedUser(new Handle({ tenant }), {
    userId: payload.sub ?? '',
    grantId: getTextClaim(payload, 'gid'),
    sessionId: getTextClaim(payload, 'sid'),
    organizationId: getTextClaim(payload, 'org_id'),
  })
  if (!user) throw createInvalidTokenError(tenant, scheme)
  assertClientBinding(binding, user)
  const { claims, omitted } = buildUserinfoClaims(user, user, { scopes, claims: user.claims })
  const { clientId: aud, userInfoSigningAlg: alg } = user
  const answer =
    alg === null ? claims : await signJwt(tenant, 'JWT', { ...claims, iss: issuerOf(tenant), aud }, alg)
  return {
    answer,
    nextNonce: binding.nextNonce,
    omitted: { claims: omitted, clientId: aud, userId: user.id },
  }
}

/**
 * The client_id that a token claims, not verified: it only decides which page may read an error. '' when
 * there is none.
 */
export function readUnverifiedClientId(token: string): string {
  try {
    return String(decodeJwt(token).client_id ?? '')
  } catch {
    return '' // no JWT
  }
}
