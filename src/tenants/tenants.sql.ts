import type { Sql } from '../db.ts'

export type TenantRow = {
  tenantId: string
  friendlyName: string | null
  logoUrl: string | null
  defaultAudience: string | null
  loginUrl: string | null
  supportUrl: string | null
  tokenKey: string
}

const SELECT_TENANT = `
  SELECT "tenantId", "friendlyName", "logoUrl", "defaultAudience", "loginUrl", "supportUrl", "tokenKey"
  FROM "Tenant" WHERE "tenantId" = $1`

export async function selectTenant(sql: Sql, tenant: string): Promise<TenantRow | null> {
  const [row] = await sql<TenantRow>(SELECT_TENANT, [tenant])
  return row ?? null
}
