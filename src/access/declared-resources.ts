import { createCache } from '../coordination/cache.ts'
import { sql } from '../database/db.ts'
import { selectDeclaredResources } from './declared-resources.sql.ts'

const declaredResourcesCache = createCache<{ resources: readonly string[] }>(
  'declared-resources',
  async (tenant) => ({
    resources: await selectDeclaredResources(sql, tenant),
  }),
)

/**
 * Returns the resources (RFC 8707) that clients of the tenant declare; at most a second old. One statement
 * when they are not cached, none otherwise.
 */
export const listDeclaredResources = async (tenant: string): Promise<readonly string[]> =>
  (await declaredResourcesCache.get(tenant, ''))?.resources ?? []

/** Call after a change of a client's `resources` has committed. */
export const invalidateDeclaredResources = (tenant: string): void =>
  declaredResourcesCache.invalidate(tenant, '')
