import { createCache } from '../coordination/cache.ts'
import { type Db, Handle } from '../database/handle.ts'
import { localizeClient } from '../languages/localize-client.ts'
import { selectDeclaredResources, selectResourceServers } from './client.sql.ts'

const declaredResourcesCache = createCache<{ resources: readonly string[] }>(
  'declared-resources',
  async (tenant) => ({
    resources: await selectDeclaredResources(new Handle({ tenant })),
  }),
)

/**
 * Returns the resources (RFC 8707) that clients of the tenant declare; at most a second old. One statement
 * when they are not cached, none otherwise.
 */
export const listDeclaredResources = async (tenant: string): Promise<readonly string[]> =>
  (await declaredResourcesCache.get(tenant, ''))?.resources ?? []

/** Drops the cached resources after the commit. */
export const invalidateDeclaredResources = (db: Db): void => declaredResourcesCache.invalidate(db, '')

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
  const servers = await selectResourceServers(new Handle({ tenant }), resources)
  const names = new Map(
    servers.map((server) => [server.resource, localizeClient(server, language).name] as const),
  )
  return [...new Set(resources.map((resource) => names.get(resource) ?? resource))]
}
