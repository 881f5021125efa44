import { createCache } from '../coordination/cache.ts'
import { seal, unseal } from '../core/crypto.ts'
import { noteTenant } from '../core/requests/record.ts'
import { type Db, Handle } from '../database/handle.ts'
import { isSlug } from '../schema/slug.ts'
import { selectTenant, type TenantRow } from './tenant.sql.ts'

/** A tenant with its settings; `tokenKey` (32 bytes) authenticates its refresh tokens. */
export type CachedTenant = Omit<TenantRow, 'tokenKey'> & { tokenKey: Buffer }

/** The tenant is part of the purpose, so that a key cannot be opened in another tenant's row. */
export const toTokenKeyPurpose = (tenant: string): string => `tenant-token-key:${tenant}`
export const sealTokenKey = (tenant: string, key: Buffer): string => seal(toTokenKeyPurpose(tenant), key)
export const unsealTokenKey = (tenant: string, sealed: string): Buffer =>
  unseal(toTokenKeyPurpose(tenant), sealed)

const tenantCache = createCache<CachedTenant>('tenant', async (tenant) => {
  const row = await selectTenant(new Handle({ tenant }))
  return row && { ...row, tokenKey: unsealTokenKey(tenant, row.tokenKey) }
})

/**
 * Finds a tenant by slug; null when it does not exist. At most a second old: one statement when it is not
 * cached.
 */
export async function findTenant(slug: string): Promise<CachedTenant | null> {
  if (!isSlug(slug)) return null
  const tenant = await tenantCache.get(slug, '')
  if (tenant) noteTenant(slug)
  return tenant
}

/** Drops the cached tenant after the commit. */
export const invalidateTenant = (db: Db): void => tenantCache.invalidate(db, '')
