import type { CachedClient } from '../../access/client-cache.ts'
import { listDeclaredResources } from '../../access/declared-resources.ts'
import { toAudience } from '../../access/protected-resources.ts'
import type { CachedTenant } from '../../access/tenant-cache.ts'
import { apiAudienceOf, isOwnAudience, issuerOf } from '../../core/issuer.ts'
import { isClientScope, isScope, isUserScope } from '../../core/scopes.ts'

export const userinfoAudienceOf = (tenant: string): string => `${issuerOf(tenant)}/oidc/userinfo`

export type TenantAudience = Pick<CachedTenant, 'tenantId' | 'defaultAudience'>

/**
 * The audiences that may be requested with `resource` (RFC 8707, section 2): the tenant's management API, its
 * default audience, and the APIs that its clients declare. The latter are loaded only when another resource
 * is requested.
 */
export async function listAllowedResources(
  { tenantId, defaultAudience }: TenantAudience,
  requested: readonly string[],
): Promise<string[]> {
  const own = [apiAudienceOf(tenantId), ...(defaultAudience ? [defaultAudience] : [])]
  const isOwn = requested.every((resource) => resource === '' || own.includes(toAudience(tenantId, resource)))
  return isOwn ? own : [...own, ...(await listDeclaredResources(tenantId))]
}

/** Whether the scopes permit anything at the management API. */
const includesApiScope = (scopes: readonly string[]): boolean =>
  scopes.some((scope) => isScope(scope) || isUserScope(scope) || isClientScope(scope))

/**
 * The default audience that tokens of a grant reach. A client that asks for consent gains none that the tenant has set
 * since: the user was not asked.
 */
export const selectGrantAudience = (
  { tenantId, defaultAudience }: TenantAudience,
  { requireConsent, resources }: Pick<CachedClient, 'requireConsent' | 'resources'>,
  granted: { defaultAudience: string | null },
): TenantAudience => {
  const isGranted =
    defaultAudience === null ||
    defaultAudience === granted.defaultAudience ||
    !requireConsent ||
    resources.includes(defaultAudience)
  return { tenantId, defaultAudience: isGranted ? defaultAudience : null }
}

/** The APIs that a token is issued for when its request names none. */
function selectDefaultResources({ tenantId, defaultAudience }: TenantAudience, isForApi: boolean): string[] {
  if (isForApi) return [apiAudienceOf(tenantId)]
  return defaultAudience ? [defaultAudience] : []
}

/**
 * The audience of an access token (RFC 9068, section 3): the requested resources, or else the management API
 * for a management scope, `account` or `organization`, or else the tenant's default audience. Adds userinfo for `openid`. The
 * management API is an audience only with a scope that permits something there, and never beside another API,
 * which could use the token there. A token for nothing has the issuer as its audience, which accepts none.
 */
export function computeAudience(
  tenant: TenantAudience,
  scopes: readonly string[],
  resources: readonly string[],
): string[] {
  const isForApi = includesApiScope(scopes)
  const wanted = resources.length > 0 ? resources : selectDefaultResources(tenant, isForApi)
  const others = wanted.filter((resource) => !isOwnAudience(resource))
  const own = wanted.filter((resource) => isForApi && isOwnAudience(resource))
  const userinfo = scopes.includes('openid') ? [userinfoAudienceOf(tenant.tenantId)] : []
  const audience = [...new Set([...(others.length > 0 ? others : own), ...userinfo])]
  return audience.length > 0 ? audience : [issuerOf(tenant.tenantId)]
}

/** The audiences that a token request may select from what was granted (RFC 8707, section 2.2). */
export function computeReach(
  tenant: TenantAudience,
  scopes: readonly string[],
  resources: readonly string[],
): string[] {
  const isForApi = includesApiScope(scopes)
  const granted =
    resources.length > 0
      ? resources
      : [false, isForApi].flatMap((forApi) => selectDefaultResources(tenant, forApi))
  return [...granted, ...(scopes.includes('openid') ? [userinfoAudienceOf(tenant.tenantId)] : [])]
}

/**
 * The APIs besides those of this deployment that a token for these scopes and resources may be used at, also after a
 * token request that selects among them or narrows the scopes.
 */
export const listOtherApis = (
  tenant: TenantAudience,
  scopes: readonly string[],
  resources: readonly string[],
): string[] => computeReach(tenant, scopes, resources).filter((audience) => !isOwnAudience(audience))
