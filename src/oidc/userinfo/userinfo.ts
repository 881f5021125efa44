import { decodeJwt } from 'jose'
import { sql } from '../../db.ts'
import { OAuthError, type OAuthErrorCode, type Why } from '../../errors.ts'
import {
  challengeOf,
  checkBinding,
  DPOP_CHALLENGE,
  type KeyProof,
  type PresentedAccessToken,
  readAuthorization,
} from '../client-auth/dpop-binding.ts'
import { issuerOf, signJwt, verifyAccessToken } from '../keys/keys.ts'
import { toScopes } from '../scopes.ts'
import { userinfoAudienceOf } from '../token/audience.ts'
import { textClaim } from '../token/text-claim.ts'
import { claimsFor } from './claims.ts'
import { selectGrantedPerson } from './userinfo.sql.ts'

/** A refusal of a protected resource, with its challenge (RFC 6750, section 3; RFC 9449, section 7.1). */
function refusal(
  tenant: string,
  scheme: PresentedAccessToken['scheme'],
  [status, error, description]: [number, OAuthErrorCode, string],
  { scope, why }: { scope?: string; why?: Why } = {},
) {
  const challenge = challengeOf(scheme, error, description, { realm: issuerOf(tenant), scope })
  return new OAuthError(error, description, {
    status,
    why,
    headers: { 'www-authenticate': challenge },
  })
}

const invalidToken = (tenant: string, scheme: PresentedAccessToken['scheme'] = 'Bearer') =>
  refusal(tenant, scheme, [401, 'invalid_token', 'The access token is invalid, expired or revoked.'])

/** The one token of a request, from its header or its form (RFC 6750, section 2). Throws OAuthError. */
export function accessTokenOf(
  tenant: string,
  authorization: string | null,
  formToken: string | null,
): PresentedAccessToken {
  if (authorization !== null && formToken !== null)
    throw refusal(tenant, 'Bearer', [
      400,
      'invalid_request',
      'The access token must be sent in one way only.',
    ])
  if (authorization === null && formToken === null)
    // Without any token the challenge carries no error (RFC 6750, section 3.1).
    throw new OAuthError('invalid_token', 'An access token is required.', {
      status: 401,
      headers: { 'www-authenticate': `Bearer realm="${issuerOf(tenant)}", ${DPOP_CHALLENGE}` },
    })
  const presented: PresentedAccessToken | null = formToken
    ? { token: formToken, scheme: 'Bearer' }
    : readAuthorization(authorization ?? '')
  if (!presented) throw invalidToken(tenant)
  return presented
}

/**
 * The claims about the person that an access token stands for: those of its scopes, and those that were asked for one by
 * one (OIDC Core, sections 5.3 and 5.5); a JWT of them for a client that wants it signed (section 5.3.2). The token must be
 * of this tenant, for userinfo, and what it depends on must stand now: user, grant, and session unless the grant is
 * offline. One statement, and one more for the proof of a token that is bound to a key. Throws OAuthError with a challenge,
 * and with a `why` for a good token that is refused for its binding or its scopes.
 */
export async function readUserinfo(
  tenant: string,
  presented: PresentedAccessToken,
  by: KeyProof,
): Promise<{ answer: Record<string, unknown> | string; nextNonce: string | null }> {
  const { token, scheme } = presented
  const payload = await verifyAccessToken(tenant, token, [userinfoAudienceOf(tenant)]).catch(() => {
    throw invalidToken(tenant, scheme)
  })
  const { nextNonce } = await checkBinding(tenant, presented, payload, by)
  const scopes = toScopes(textClaim(payload, 'scope') ?? '')
  if (!scopes.includes('openid'))
    throw refusal(tenant, scheme, [403, 'insufficient_scope', 'The access token lacks the scope openid.'], {
      scope: 'openid',
      why: { reason: 'the access token lacks the scope openid', scope: scopes.join(' ') },
    })
  const person = await selectGrantedPerson(sql, tenant, {
    userId: payload.sub ?? '',
    grantId: textClaim(payload, 'gid'),
    sessionId: textClaim(payload, 'sid'),
  })
  if (!person) throw invalidToken(tenant, scheme)
  const claims = claimsFor(person, scopes, person.claims?.userinfo)
  const { clientId: aud, userInfoSigningAlg: alg } = person
  const answer =
    alg === null ? claims : await signJwt(tenant, 'JWT', { ...claims, iss: issuerOf(tenant), aud }, alg)
  return { answer, nextNonce }
}

/** The client that a token says to be of, unchecked: whether its page may read a refusal is not a secret. */
export function clientNamedBy(token: string): string {
  try {
    return String(decodeJwt(token).client_id ?? '')
  } catch {
    return '' // no JWT
  }
}
