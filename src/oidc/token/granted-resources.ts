import { OAuthError } from '../../core/oauth-error.ts'
import { matchResources } from '../model/requested-resources.ts'
import type { TokenRequest } from '../model/token-request.ts'
import { computeReach, selectGrantAudience } from './audience.ts'
import { type GrantedAccess, type PresentedArtifact, selectGrantedAccess } from './granted-resources.sql.ts'

/**
 * The resources of a token request (RFC 8707, section 2.2): those of the grant, or the requested ones among
 * them. For a grant without resources, the request may select from the default audience of its tokens, so
 * that no request extends the audience. Throws OAuthError invalid_target.
 */
export function narrowResources(
  { tenant, client, resources: requested }: Pick<TokenRequest, 'tenant' | 'client' | 'resources'>,
  granted: GrantedAccess,
): string[] {
  if (requested.length === 0) return granted.resources
  const reach = computeReach(selectGrantAudience(tenant, client, granted), granted.scopes, granted.resources)
  const { matched, unknown } = matchResources(requested, reach)
  if (unknown.length > 0)
    throw new OAuthError('invalid_target', 'A token request cannot exceed the granted resources.', {
      diagnostics: { requested: unknown.join(' '), granted: reach.join(' ') },
    })
  return matched
}

/**
 * Rejects resources beyond the grant before the device code or refresh token is used. Returns those that the request selects,
 * null for all. One statement when the request names resources, none otherwise. Throws OAuthError invalid_target.
 */
export async function requireGrantedResources(
  request: TokenRequest,
  presented: PresentedArtifact,
): Promise<string[] | null> {
  if (request.resources.length === 0) return null
  const reach = await selectGrantedAccess(request.ctx.db, presented, request.client.id)
  return reach && narrowResources(request, reach)
}
