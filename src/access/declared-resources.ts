import { createCache } from '../coordination/cache.ts'
import { isOwnAudience } from '../core/issuer.ts'
import { type Db, Handle } from '../database/handle.ts'
import { localizeClient } from '../languages/localize-client.ts'
import { type DeclaredApi, selectDeclared, selectResourceServers } from './client.sql.ts'

export type { DeclaredApi }

const declaredResourcesCache = createCache<{ resources: readonly string[]; apis: readonly DeclaredApi[] }>(
  'declared-resources',
  (tenant) => selectDeclared(new Handle({ tenant })),
)

/**
 * Returns the resources (RFC 8707) of the tenant, which are the identifiers of its APIs and the resources that clients
 * declare; at most a second old. One statement when they are not cached, none otherwise.
 */
export const listDeclaredResources = async (tenant: string): Promise<readonly string[]> =>
  (await declaredResourcesCache.get(tenant, ''))?.resources ?? []

/**
 * The APIs of the tenant among the audiences of a token; at most a second old. No statement for audiences of this
 * deployment alone, and otherwise one when the APIs are not cached.
 */
export async function findDeclaredApis(tenant: string, audiences: readonly string[]): Promise<DeclaredApi[]> {
  if (audiences.every(isOwnAudience)) return []
  const declared = await declaredResourcesCache.get(tenant, '')
  return declared?.apis.filter(({ identifier }) => audiences.includes(identifier)) ?? []
}

/** Drops the cached resources after the commit. */
export const invalidateDeclaredResources = (db: Db): void => declaredResourcesCache.invalidate(db, '')

/**
 * The names of the APIs that resources (RFC 8707) stand for, in a language: the names of the APIs, or else of the clients that
 * serve them. A resource that neither has stands for itself. One statement, none without resources.
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
