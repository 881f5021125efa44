import type { CachedClient } from '../../access/client-cache.ts'
import { buildClaims } from '../../users/claims.ts'
import type { ClaimsRequest } from '../model/claims-request.ts'
import type { ClaimsUserJson } from './granted-user.sql.ts'

/**
 * The claims about the user in an ID token: those that were requested for it (OIDC Core, section 5.5) and, when the
 * client has `idTokenClaims`, those of the granted scopes.
 */
export function buildIdTokenClaims(
  { idTokenClaims }: Pick<CachedClient, 'idTokenClaims'>,
  grant: { claimsUser: ClaimsUserJson | null; scopes: readonly string[]; claims: ClaimsRequest | null },
): Record<string, unknown> {
  if (!grant.claimsUser) return {}
  const user = { ...grant.claimsUser, updatedAt: new Date(grant.claimsUser.updatedAt) }
  return buildClaims(user, idTokenClaims ? grant.scopes : [], grant.claims?.id_token)
}
