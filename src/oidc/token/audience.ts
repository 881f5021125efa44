import { declaredResources } from '../../clients/declared-resources.ts'
import { ACCOUNT_SCOPE, isScope } from '../../ctx.ts'
import type { CachedTenant } from '../../tenants/tenant-cache.ts'
import { apiAudienceOf, issuerOf } from '../keys/keys.ts'

export const userinfoAudienceOf = (tenant: string): string => `${issuerOf(tenant)}/oidc/userinfo`

export type TenantAudience = Pick<CachedTenant, 'tenantId' | 'defaultAudience'>

/**
 * The audiences that a token may be asked for by `resource` (RFC 8707, section 2): the tenant's management surface, its
 * default, and the APIs that its clients declare, which are looked up only when something else than the former is asked.
 */
export async function allowedResources(
  { tenantId, defaultAudience }: TenantAudience,
  asked: readonly string[],
): Promise<string[]> {
  const own = [apiAudienceOf(tenantId), ...(defaultAudience ? [defaultAudience] : [])]
  const isOwn = asked.every((resource) => resource === '' || own.includes(resource))
  return isOwn ? own : [...own, ...(await declaredResources(tenantId))]
}

/**
 * Whom an access token is for (RFC 9068, section 3): the resources asked for, else the tenant's default, else its
 * management surface; userinfo as well with openid, and the management surface with a management scope or `account`,
 * unless the request narrowed the token to resources by name.
 */
export function audienceOf(
  tenant: TenantAudience,
  scopes: readonly string[],
  resources: readonly string[],
): string[] {
  const api = apiAudienceOf(tenant.tenantId)
  const isNarrowed = resources.length > 0
  const isForApi = scopes.some((scope) => isScope(scope) || scope === ACCOUNT_SCOPE)
  return [
    ...new Set([
      ...(isNarrowed ? resources : [tenant.defaultAudience ?? api]),
      ...(scopes.includes('openid') ? [userinfoAudienceOf(tenant.tenantId)] : []),
      ...(!isNarrowed && isForApi ? [api] : []),
    ]),
  ]
}
