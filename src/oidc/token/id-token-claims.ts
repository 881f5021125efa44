import type { TokenBasis } from '../../access/token-status.sql.ts'
import { OAuthError } from '../../core/oauth-error.ts'
import { sql } from '../../database/db.ts'
import { buildClaims, isClaim } from '../../users/claims.ts'
import type { ClaimsRequest } from '../model/claims-request.ts'
import { selectGrantedUser } from './granted-user.sql.ts'

/**
 * The user claims that were requested for the ID token (OIDC Core, section 5.5): one statement when there are
 * any, none otherwise. Throws OAuthError invalid_grant when the grant has been revoked, or the user locked,
 * since the request began.
 */
export async function loadIdTokenClaims(
  tenant: string,
  { claims, ...basis }: TokenBasis & { claims: ClaimsRequest | null },
): Promise<Record<string, unknown>> {
  const requested = claims?.id_token ?? {}
  if (!Object.keys(requested).some(isClaim)) return {}
  const user = await selectGrantedUser(sql, tenant, basis)
  if (!user)
    throw new OAuthError('invalid_grant', 'The grant was revoked.', {
      diagnostics: { reason: 'it was revoked, or the user was locked, while the ID token was being issued' },
    })
  return buildClaims(user, [], requested)
}
