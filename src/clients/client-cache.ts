import { createCache } from '../cache.ts'
import { equals, sha256 } from '../crypto.ts'
import { sql } from '../db.ts'
import { findTenant } from '../tenants/tenant-cache.ts'
import { isClientId } from './client-ids.ts'
import { type ClientRow, selectClient } from './clients.sql.ts'
import { forgetDeclaredResources } from './declared-resources.ts'

/** A client as requests need it: the row and the hashes of its secrets. */
export type CachedClient = ClientRow & { secretHashes: { hash: Buffer; expiresAt: Date | null }[] }

const cache = createCache<CachedClient>('client', async (tenant, clientId) => {
  const found = await selectClient(sql, tenant, clientId)
  if (!found) return null
  const secretHashes = found.secrets.map(({ hash, expiresAt }) => ({
    hash: Buffer.from(hash, 'hex'),
    expiresAt: expiresAt === null ? null : new Date(expiresAt),
  }))
  return { ...found.client, secretHashes }
})

/**
 * The client with this id, or null; at most a second old. One statement when it is not in memory, none otherwise. One that is
 * known by its metadata document is there only while the tenant takes such.
 */
export async function findClient(tenant: string, clientId: string): Promise<CachedClient | null> {
  const client = isClientId(clientId) ? await cache.get(tenant, clientId) : null
  if (client?.registeredBy !== 'document') return client
  return (await findTenant(tenant))?.clientIdMetadataDocuments ? client : null
}

/** Call after a change of the client or of its secrets has committed. */
export function forgetClient(tenant: string, clientId: string): void {
  cache.invalidate(tenant, clientId)
  forgetDeclaredResources(tenant)
}

/** Whether `secret` is one that the client may use now; every live one is compared, in constant time. */
export function isClientSecret(client: CachedClient, secret: string, now = new Date()): boolean {
  const given = sha256(secret)
  let matches = false
  for (const { hash, expiresAt } of client.secretHashes)
    if (equals(hash, given) && (expiresAt === null || expiresAt > now)) matches = true
  return matches
}
