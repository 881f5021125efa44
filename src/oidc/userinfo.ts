import { decodeJwt } from 'jose'
import { sql } from '../db.ts'
import { OAuthError, type OAuthErrorCode } from '../errors.ts'
import { userinfoAudienceOf } from './audience.ts'
import { claimsFor } from './claims.ts'
import { issuerOf, signJwt, verifyAccessToken } from './keys.ts'
import { toScopes } from './scopes.ts'
import { selectGrantedPerson } from './userinfo.sql.ts'

/** A refusal of a protected resource, with its challenge (RFC 6750, section 3). */
function refusal(tenant: string, status: number, error: OAuthErrorCode, description: string, scope?: string) {
  const challenge = `Bearer realm="${issuerOf(tenant)}", error="${error}", error_description="${description}"`
  return new OAuthError(error, description, {
    status,
    headers: { 'www-authenticate': scope ? `${challenge}, scope="${scope}"` : challenge },
  })
}

const invalidToken = (tenant: string) =>
  refusal(tenant, 401, 'invalid_token', 'The access token is invalid, expired or revoked.')

/** The one token of a request, from its header or its form (RFC 6750, section 2). Throws OAuthError. */
export function accessTokenOf(
  tenant: string,
  authorization: string | null,
  formToken: string | null,
): string {
  if (authorization !== null && formToken !== null)
    throw refusal(tenant, 400, 'invalid_request', 'The access token must be sent in one way only.')
  if (authorization === null && formToken === null)
    // Without any token the challenge carries no error (RFC 6750, section 3.1).
    throw new OAuthError('invalid_token', 'An access token is required.', {
      status: 401,
      headers: { 'www-authenticate': `Bearer realm="${issuerOf(tenant)}"` },
    })
  const token = formToken ?? /^bearer +([A-Za-z0-9\-._~+/]+=*) *$/i.exec(authorization ?? '')?.[1]
  if (!token) throw invalidToken(tenant)
  return token
}

/**
 * The claims about the person that an access token stands for: those of its scopes, and those that were asked for one by
 * one (OIDC Core, sections 5.3 and 5.5); a JWT of them for a client that wants it signed (section 5.3.2). The token must be
 * of this tenant, for userinfo, and what it depends on must stand now: user, grant, and session unless the grant is
 * offline. One statement. Throws OAuthError invalid_token or insufficient_scope with the challenge of RFC 6750.
 */
export async function readUserinfo(tenant: string, token: string): Promise<Record<string, unknown> | string> {
  const payload = await verifyAccessToken(tenant, token, [userinfoAudienceOf(tenant)]).catch(() => {
    throw invalidToken(tenant)
  })
  const textOf = (name: string): string | null => (typeof payload[name] === 'string' ? payload[name] : null)
  const scopes = toScopes(textOf('scope') ?? '')
  if (!scopes.includes('openid'))
    throw refusal(tenant, 403, 'insufficient_scope', 'The access token lacks the scope openid.', 'openid')
  const person = await selectGrantedPerson(sql, tenant, {
    userId: payload.sub ?? '',
    grantId: textOf('gid'),
    sessionId: textOf('sid'),
  })
  if (!person) throw invalidToken(tenant)
  const claims = claimsFor(person, scopes, person.claims?.userinfo)
  return person.userInfoSigningAlg === null
    ? claims
    : signJwt(
        tenant,
        'JWT',
        { ...claims, iss: issuerOf(tenant), aud: person.clientId },
        person.userInfoSigningAlg,
      )
}

/** The client that a token says to be of, unchecked: whether its page may read a refusal is not a secret. */
export function clientNamedBy(token: string): string {
  try {
    return String(decodeJwt(token).client_id ?? '')
  } catch {
    return '' // no JWT
  }
}
