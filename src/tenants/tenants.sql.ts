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

/** Makes the row unless the slug is taken; false then. Waits for whoever is making the same one. */
export async function insertTenant(
  sql: Sql,
  tenant: string,
  row: Partial<TenantRow> & Pick<TenantRow, 'tokenKey'>,
): Promise<boolean> {
  const rows = await sql<{ tenantId: string }>(
    `INSERT INTO "Tenant" ("tenantId", "tokenKey", "friendlyName", "logoUrl", "defaultAudience", "loginUrl", "supportUrl")
     VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT ("tenantId") DO NOTHING RETURNING "tenantId"`,
    [
      tenant,
      row.tokenKey,
      row.friendlyName ?? null,
      row.logoUrl ?? null,
      row.defaultAudience ?? null,
      row.loginUrl ?? null,
      row.supportUrl ?? null,
    ],
  )
  return rows.length > 0
}

/** Takes the tenant's row and, by foreign keys, all that hangs on it. False when there is none. */
export async function deleteTenantRow(sql: Sql, tenant: string): Promise<boolean> {
  // A large tenant takes longer than the ten seconds that a request's statement gets.
  await sql(`SELECT set_config('statement_timeout', '600000', true) FROM "Tenant" WHERE "tenantId" = $1`, [
    tenant,
  ])
  const rows = await sql<{ tenantId: string }>(
    `DELETE FROM "Tenant" WHERE "tenantId" = $1 RETURNING "tenantId"`,
    [tenant],
  )
  return rows.length > 0
}

/**
 * Takes what no foreign key ties to the tenant. Runs after the tenant's row is gone, because the trigger that counts
 * users still writes while they go; and before a tenant is made, because a request that was under way while the
 * slug's former tenant went may have left something.
 */
export async function deleteLooseRows(sql: Sql, tenant: string): Promise<void> {
  await sql(
    `WITH a AS (DELETE FROM "Event" WHERE "tenantId" = $1),
       b AS (DELETE FROM "UserCount" WHERE "tenantId" = $1),
       c AS (DELETE FROM "Interaction" WHERE "tenantId" = $1),
       d AS (DELETE FROM "AuthorizationCode" WHERE "tenantId" = $1)
     DELETE FROM "Passcode" WHERE "tenantId" = $1`,
    [tenant],
  )
}
