import { sql } from '../../db.ts'
import { OAuthError } from '../../errors.ts'
import type { ClaimsRequest } from '../authorize/claims-request.ts'
import { claimsFor, isClaim } from '../userinfo/claims.ts'
import { selectGrantedPerson } from '../userinfo/userinfo.sql.ts'
import type { TokenBasis } from './access-tokens.sql.ts'

/**
 * The claims about a person that were asked for in the ID token (OIDC Core, section 5.5): one statement when there are some,
 * none otherwise. Throws OAuthError invalid_grant when the grant was revoked, or the person locked, meanwhile.
 */
export async function idTokenClaims(
  tenant: string,
  { claims, ...basis }: TokenBasis & { claims: ClaimsRequest | null },
): Promise<Record<string, unknown>> {
  const asked = claims?.id_token ?? {}
  if (!Object.keys(asked).some(isClaim)) return {}
  const person = await selectGrantedPerson(sql, tenant, basis)
  if (!person)
    throw new OAuthError('invalid_grant', 'The grant was revoked.', {
      why: { reason: 'it was revoked, or the person locked, while the ID token was being made' },
    })
  return claimsFor(person, [], asked)
}
