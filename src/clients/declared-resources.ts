import { createCache } from '../cache.ts'
import { sql } from '../db.ts'
import { selectDeclaredResources } from './declared-resources.sql.ts'

const cache = createCache<{ resources: readonly string[] }>('declared-resources', async (tenant) => ({
  resources: await selectDeclaredResources(sql, tenant),
}))

/** The audiences of the APIs that clients of the tenant serve (RFC 8707); at most a second old. One statement when they
 *  are not in memory, none otherwise. */
export const declaredResources = async (tenant: string): Promise<readonly string[]> =>
  (await cache.get(tenant, ''))?.resources ?? []

/** Call after a change of a client's `resources` has committed. */
export const forgetDeclaredResources = (tenant: string): void => cache.invalidate(tenant, '')
