import { createCache } from '../coordination/cache.ts'
import { sql } from '../database/db.ts'
import { localizeClient } from '../languages/localize-client.ts'
import { selectDeclaredResources, selectResourceServers } from './declared-resources.sql.ts'

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

/**
 * The names of the APIs that resources (RFC 8707) stand for, in a language: the names of the clients that serve them. A
 * resource that no client declares stands for itself. One statement, none without resources.
 */
export async function listApiNames(
  tenant: string,
  resources: readonly string[],
  language: string,
): Promise<string[]> {
  if (resources.length === 0) return []
  const servers = await selectResourceServers(sql, tenant, resources)
  const names = new Map(
    servers.map((server) => [server.resource, localizeClient(server, language).name] as const),
  )
  return [...new Set(resources.map((resource) => names.get(resource) ?? resource))]
}
