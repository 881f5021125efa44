import type { Sql } from '../db.ts'

export type TenantRow = {
  tenantId: string
  friendlyName: string | null
  logoUrl: string | null
  defaultAudience: string | null
  loginUrl: string | null
  supportUrl: string | null
  dynamicRegistration: boolean
  clientIdMetadataDocuments: boolean
  tokenKey: string
}

const SETTINGS = [
  'friendlyName',
  'logoUrl',
  'defaultAudience',
  'loginUrl',
  'supportUrl',
  'dynamicRegistration',
  'clientIdMetadataDocuments',
] as const satisfies (keyof TenantRow)[]
const list = (of = ''): string => SETTINGS.map((name) => `${of}"${name}"`).join(', ')

const SELECT_TENANT = `
  SELECT "tenantId", ${list()}, "tokenKey"
  FROM "Tenant" WHERE "tenantId" = $1`

export async function selectTenant(sql: Sql, tenant: string): Promise<TenantRow | null> {
  const [row] = await sql<TenantRow>(SELECT_TENANT, [tenant])
  return row ?? null
}

/** Switches of a tenant that is made without them are off; other settings are unset. */
const UNSET: Partial<TenantRow> = { dynamicRegistration: false, clientIdMetadataDocuments: false }

const INSERT_TENANT = `
  INSERT INTO "Tenant" ("tenantId", "tokenKey", ${list()})
  VALUES ($1, $2, ${SETTINGS.map((_, index) => `$${index + 3}`).join(', ')})
  ON CONFLICT ("tenantId") DO NOTHING RETURNING "tenantId"`

/** Makes the row unless the slug is taken; false then. Waits for whoever is making the same one. */
export async function insertTenant(
  sql: Sql,
  tenant: string,
  row: Partial<TenantRow> & Pick<TenantRow, 'tokenKey'>,
): Promise<boolean> {
  const values = SETTINGS.map((name) => row[name] ?? UNSET[name] ?? null)
  return (await sql(INSERT_TENANT, [tenant, row.tokenKey, ...values])).length > 0
}

/** Makes others who hold it wait until the transaction ends: for what one at a time may do of a tenant. */
export async function holdTenant(sql: Sql, tenant: string): Promise<void> {
  await sql(`SELECT 1 FROM "Tenant" WHERE "tenantId" = $1 FOR NO KEY UPDATE`, [tenant])
}

/** As the change of a user: one statement, which holds the row, and moves updatedAt forward when something differs. */
const UPDATE_SETTINGS = `
  WITH o AS MATERIALIZED (
    SELECT t FROM "Tenant" t WHERE t."tenantId" = $1 FOR NO KEY UPDATE
  )
  UPDATE "Tenant" t SET ${SETTINGS.map((name) => `"${name}" = n."${name}"`).join(', ')},
    "updatedAt" = CASE WHEN (${list('n.')}) IS DISTINCT FROM (${list('(o.t).')})
      THEN GREATEST(now(), (o.t)."updatedAt" + interval '1 millisecond') ELSE (o.t)."updatedAt" END
  FROM o, LATERAL jsonb_populate_record(o.t, $2::jsonb) n
  WHERE t."tenantId" = $1
  RETURNING t."tenantId", ${list('t.')}, t."updatedAt", t."createdAt", (o.t)."updatedAt" AS "oldUpdatedAt",
    array_remove(ARRAY[${SETTINGS.map((name) => `CASE WHEN t."${name}" IS DISTINCT FROM (o.t)."${name}" THEN '${name}' END`).join(', ')}], NULL) AS "changed"`

export type UpdatedSettings<Row> = { tenant: Row; oldUpdatedAt: Date; changed: string[] }

/** Changes the given settings; null when there is no such tenant. The row stays held until the transaction ends. */
export async function updateSettingsRow<Row extends { tenantId: string }>(
  sql: Sql,
  tenant: string,
  settings: Partial<Pick<TenantRow, (typeof SETTINGS)[number]>>,
): Promise<UpdatedSettings<Row> | null> {
  const [row] = await sql<Row & Omit<UpdatedSettings<Row>, 'tenant'>>(UPDATE_SETTINGS, [
    tenant,
    JSON.stringify(settings),
  ])
  if (!row) return null
  const { oldUpdatedAt, changed, ...written } = row
  return { tenant: written as unknown as Row, oldUpdatedAt, changed }
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
       d AS (DELETE FROM "AuthorizationCode" WHERE "tenantId" = $1),
       e AS (DELETE FROM "UsedProof" WHERE "tenantId" = $1)
     DELETE FROM "Passcode" WHERE "tenantId" = $1`,
    [tenant],
  )
}
