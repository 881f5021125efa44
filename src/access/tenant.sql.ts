import { LIMIT_SETTING_NAMES } from '../core/limit-settings.ts'
import { storedColumns } from '../database/columns.ts'
import type { Sql } from '../database/db.ts'
import { type RowOf, statement } from '../database/statement.ts'

/** The columns of a tenant's settings. */
export const SETTINGS = [
  'friendlyName',
  'logoUrl',
  'defaultAudience',
  'loginUrl',
  'supportUrl',
  'phoneCountry',
  'dynamicRegistration',
  'clientIdMetadataDocuments',
  'signInMethods',
  'passcodeChannels',
  ...LIMIT_SETTING_NAMES,
  'smsCountries',
] as const

/** Formats the columns as a list for SQL; `prefix` is an alias with a dot. */
export const buildSettingsColumns = (prefix = ''): string =>
  SETTINGS.map((name) => `${prefix}"${name}"`).join(', ')

export type TenantRow = RowOf<typeof SELECT_TENANT>

const SELECT_TENANT = statement({ returns: storedColumns('Tenant', ['tenantId', ...SETTINGS, 'tokenKey']) })`
  SELECT "tenantId", ${buildSettingsColumns()}, "tokenKey"
  FROM "Tenant" WHERE "tenantId" = :tenant`

export const selectTenant = (sql: Sql, tenant: string): Promise<TenantRow | null> =>
  SELECT_TENANT.first(sql, { tenant })
