import { createCache } from '../cache.ts'
import { equals, sha256 } from '../crypto.ts'
import { sql } from '../db.ts'
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

/** The operator's own client has an id of the operator's choice, so that not only ours are admitted. */
const CLIENT_ID = /^[\x21-\x7e]{1,200}$/
export const isClientId = (text: string): boolean => CLIENT_ID.test(text)

/** The client with this id, or null; at most a second old. One statement when it is not in memory, none otherwise. */
export const findClient = async (tenant: string, clientId: string): Promise<CachedClient | null> =>
  isClientId(clientId) ? cache.get(tenant, clientId) : null

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
