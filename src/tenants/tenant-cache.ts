import { createCache } from '../cache.ts'
import { open, seal } from '../crypto.ts'
import { sql } from '../db.ts'
import { isSlug } from './tenants.fields.ts'
import { selectTenant, type TenantRow } from './tenants.sql.ts'

/** What requests need to know of a tenant; `tokenKey` (32 bytes) authenticates its refresh tokens. */
export type CachedTenant = Omit<TenantRow, 'tokenKey'> & { tokenKey: Buffer }

/** The tenant is part of the purpose: a key that is copied to another tenant's row does not open there. */
export const tokenKeyPurpose = (tenant: string): string => `tenant-token-key:${tenant}`
export const sealTokenKey = (tenant: string, key: Buffer): string => seal(tokenKeyPurpose(tenant), key)
export const openTokenKey = (tenant: string, sealed: string): Buffer => open(tokenKeyPurpose(tenant), sealed)

const cache = createCache<CachedTenant>('tenant', async (tenant) => {
  const row = await selectTenant(sql, tenant)
  return row && { ...row, tokenKey: openTokenKey(tenant, row.tokenKey) }
})

/** The tenant with this slug, or null; at most a second old. One statement when it is not in memory, none otherwise. */
export const findTenant = async (slug: string): Promise<CachedTenant | null> =>
  isSlug(slug) ? cache.get(slug, '') : null

/** Call after a change of the tenant has committed. */
export const forgetTenant = (slug: string): void => cache.invalidate(slug, '')
