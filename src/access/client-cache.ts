import { createCache } from '../coordination/cache.ts'
import { equalsConstantTime, sha256 } from '../core/crypto.ts'
import { type Db, Handle } from '../database/handle.ts'
import { getClientLogoUrl } from '../model/brand-images.ts'
import { type ClientRow, selectClient } from './client.sql.ts'
import { isClientId } from './client-ids.ts'
import { invalidateDeclaredResources } from './declared-resources.ts'
import { findTenant } from './tenant-cache.ts'

/** A client with the hashes of its secrets. Its `logoUrl` is a path of this server if it was set as a data URL. */
export type CachedClient = ClientRow & { secretHashes: { hash: Buffer; expiresAt: Date | null }[] }

const clientCache = createCache<CachedClient>('client', async (tenant, clientId) => {
  const found = await selectClient(new Handle({ tenant }), clientId)
  if (!found) return null
  const secretHashes = found.secrets.map(({ hash, expiresAt }) => ({
    hash: Buffer.from(hash, 'hex'),
    expiresAt: expiresAt === null ? null : new Date(expiresAt),
  }))
  // The image of a data URL is served: in each of 10,000 entries it would take 43 KB.
  return { ...found.client, logoUrl: getClientLogoUrl(tenant, found.client), secretHashes }
})

/**
 * Finds a client; null when it does not exist. At most a second old: one statement when it is not cached,
 * none otherwise. A client that is identified by its metadata document is found only while the tenant permits
 * such clients.
 */
export async function findClient(tenant: string, clientId: string): Promise<CachedClient | null> {
  const client = isClientId(clientId) ? await clientCache.get(tenant, clientId) : null
  if (client?.registeredBy !== 'document') return client
  return (await findTenant(tenant))?.clientIdMetadataDocuments ? client : null
}

/** Reads the logo of a client that is a data URL, which its cached `logoUrl` leads to; null without one. */
export async function readClientLogo(tenant: string, clientId: string): Promise<string | null> {
  const client = await findClient(tenant, clientId)
  if (!client?.logoUrl?.startsWith('/')) return null
  return (await selectClient(new Handle({ tenant }), clientId))?.client.logoUrl ?? null
}

/** Drops the cached client, with its secrets, after the commit. */
export function invalidateClient(db: Db, clientId: string): void {
  clientCache.invalidate(db, clientId)
  invalidateDeclaredResources(db)
}

/** True when `secret` is a current secret of the client. Every secret is compared, in constant time. */
export function isCurrentClientSecret(client: CachedClient, secret: string, now = new Date()): boolean {
  const given = sha256(secret)
  let matches = false
  for (const { hash, expiresAt } of client.secretHashes)
    if (equalsConstantTime(hash, given) && (expiresAt === null || expiresAt > now)) matches = true
  return matches
}
