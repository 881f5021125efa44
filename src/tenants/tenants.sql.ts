import { buildSettingsColumns, SETTINGS, type TenantRow } from '../access/tenant.sql.ts'
import { storedColumns } from '../database/columns.ts'
import type { Sql } from '../database/db.ts'
import { type RowOf, statement } from '../database/statement.ts'
import { addStandards } from '../schema/fields.ts'
import { TENANT_SETTINGS } from './tenants.fields.ts'

const INSERT_TENANT = statement({
  takes: { tokenKey: 'text', settings: 'jsonb' },
  returns: { tenantId: 'text' },
})`
  INSERT INTO "Tenant" ("tenantId", "tokenKey", ${buildSettingsColumns()})
  SELECT :tenant, :tokenKey, ${buildSettingsColumns('n.')} FROM jsonb_populate_record(NULL::"Tenant", :settings) n
  ON CONFLICT ("tenantId") DO NOTHING RETURNING "tenantId"`

/** Inserts the row; false when the slug is taken. Waits for a concurrent insert of the same slug. */
export async function insertTenant(
  sql: Sql,
  tenant: string,
  { tokenKey, ...given }: Partial<TenantRow> & Pick<TenantRow, 'tokenKey'>,
): Promise<boolean> {
  const settings = addStandards(TENANT_SETTINGS, given)
  return (await INSERT_TENANT.first(sql, { tenant, tokenKey, settings })) !== null
}

/**
 * Like the update of a user: one statement, which locks the row and moves updatedAt forward when a value
 * differs.
 */
const UPDATE_SETTINGS = statement({
  takes: { settings: 'jsonb' },
  returns: {
    ...storedColumns('Tenant', ['tenantId', ...SETTINGS, 'updatedAt', 'createdAt']),
    oldUpdatedAt: 'timestamptz',
    changed: 'text[]',
  },
})`
  WITH o AS MATERIALIZED (
    SELECT t FROM "Tenant" t WHERE t."tenantId" = :tenant FOR NO KEY UPDATE
  )
  UPDATE "Tenant" t SET ${SETTINGS.map((name) => `"${name}" = n."${name}"`).join(', ')},
    "updatedAt" = CASE WHEN (${buildSettingsColumns('n.')}) IS DISTINCT FROM (${buildSettingsColumns('(o.t).')})
      THEN GREATEST(now(), (o.t)."updatedAt" + interval '1 millisecond') ELSE (o.t)."updatedAt" END
  FROM o, LATERAL jsonb_populate_record(o.t, :settings) n
  WHERE t."tenantId" = :tenant
  RETURNING t."tenantId", ${buildSettingsColumns('t.')}, t."updatedAt", t."createdAt", (o.t)."updatedAt" AS "oldUpdatedAt",
    array_remove(ARRAY[${SETTINGS.map((name) => `CASE WHEN t."${name}" IS DISTINCT FROM (o.t)."${name}" THEN '${name}' END`).join(', ')}], NULL) AS "changed"`

export type UpdatedSettings = {
  tenant: Omit<RowOf<typeof UPDATE_SETTINGS>, 'oldUpdatedAt' | 'changed'>
  oldUpdatedAt: Date
  changed: string[]
}

/**
 * Changes the given settings; null when there is no such tenant. The row stays locked until the transaction
 * ends.
 */
export async function updateSettingsRow(
  sql: Sql,
  tenant: string,
  settings: Partial<Pick<TenantRow, (typeof SETTINGS)[number]>>,
): Promise<UpdatedSettings | null> {
  const row = await UPDATE_SETTINGS.first(sql, { tenant, settings })
  if (!row) return null
  const { oldUpdatedAt, changed, ...written } = row
  return { tenant: written, oldUpdatedAt, changed }
}

/** A large tenant takes longer than the ten seconds that a request's statement gets. */
export const DELETION_TIMEOUT_MS = 600_000

// The first column makes it a query: a pooler may take a lone set_config for a SET, which has no rows.
const ALLOW_LONG_STATEMENT = statement({ returns: { tenantId: 'text', timeout: 'text' } })`
  SELECT "tenantId", set_config('statement_timeout', '${DELETION_TIMEOUT_MS}', true) AS "timeout"
  FROM "Tenant" WHERE "tenantId" = :tenant`

const DELETE_TENANT = statement({ returns: { tenantId: 'text' } })`
  DELETE FROM "Tenant" WHERE "tenantId" = :tenant RETURNING "tenantId"`

/**
 * Deletes the tenant's row and, by foreign keys, all that refers to it. False when there is no such tenant.
 */
export async function deleteTenantRow(sql: Sql, tenant: string): Promise<boolean> {
  await ALLOW_LONG_STATEMENT.run(sql, { tenant })
  return (await DELETE_TENANT.first(sql, { tenant })) !== null
}

const DELETE_LOOSE_ROWS = statement({})`
  WITH events AS (DELETE FROM "Event" WHERE "tenantId" = :tenant),
    counts AS (DELETE FROM "UserCount" WHERE "tenantId" = :tenant),
    ranges AS (DELETE FROM "UserRange" WHERE "tenantId" = :tenant),
    interactions AS (DELETE FROM "Interaction" WHERE "tenantId" = :tenant),
    proofs AS (DELETE FROM "UsedProof" WHERE "tenantId" = :tenant)
  DELETE FROM "Passcode" WHERE "tenantId" = :tenant`

/**
 * Deletes rows that no foreign key ties to the tenant. Runs after the tenant's row is deleted, because the
 * trigger that counts users writes during that; and before a tenant is created, because a request that was in
 * progress while the slug's former tenant was deleted may have left rows.
 */
export const deleteUnreferencedRows = (sql: Sql, tenant: string): Promise<void> =>
  DELETE_LOOSE_ROWS.run(sql, { tenant })
