import { DPOP_ALGORITHMS } from '../../access/dpop/dpop.ts'
import { type ApiPath, apiResourceOf } from '../../access/protected-resources.ts'
import type { CachedTenant } from '../../access/tenant-cache.ts'
import { issuerOf } from '../../core/issuer.ts'
import { ACCOUNT_SCOPE, listManagementScopes } from '../../core/scopes.ts'

/** The metadata of a management API of a tenant as a protected resource (RFC 9728, section 2). */
export const buildResourceMetadata = (
  { tenantId, friendlyName }: Pick<CachedTenant, 'tenantId' | 'friendlyName'>,
  path: ApiPath,
): Record<string, unknown> => ({
  resource: apiResourceOf(tenantId, path),
  ...(friendlyName && { resource_name: friendlyName }),
  authorization_servers: [issuerOf(tenantId)],
  scopes_supported: [...listManagementScopes(tenantId), ACCOUNT_SCOPE],
  bearer_methods_supported: ['header'],
  dpop_signing_alg_values_supported: DPOP_ALGORITHMS,
  dpop_bound_access_tokens_required: false,
})
