import { LIMIT_SETTING_NAMES } from '../core/limit-settings.ts'
import { storedColumns } from '../database/columns.ts'
import type { Sql } from '../database/db.ts'
import { type RowOf, statement, typed } from '../database/statement.ts'

/** The columns of a tenant's settings. */
export const SETTINGS = [
  'friendlyName',
  'logoUrl',
  'defaultAudience',
  'loginUrl',
  'supportUrl',
  'phoneCountry',
  'defaultLocale',
  'textOverrides',
  'dynamicRegistration',
  'clientIdMetadataDocuments',
  'openRegistration',
  'defaultScopes',
  'signUp',
  'signUpDomains',
  'signUpFields',
  'invitationLifetimeSeconds',
  'termsUrl',
  'termsVersion',
  'privacyUrl',
  'signInMethods',
  'offerPasskey',
  'secondFactor',
  'secondFactorRoles',
  'recoveryWaitingTime',
  'staySignedIn',
  'sessionIdleSeconds',
  'sessionLifetimeSeconds',
  'newDeviceNotice',
  'accountDeletionDays',
  'passcodeChannels',
  ...LIMIT_SETTING_NAMES,
  'smsCountries',
  'themeColor',
  'darkThemeColor',
  'darkLogoUrl',
  'faviconUrl',
  'cornerRadius',
  'font',
  'mailSenderName',
  'mailSenderAddress',
  'mailReplyTo',
] as const

/** Formats the columns as a list for SQL; `prefix` is an alias with a dot. */
export const buildSettingsColumns = (prefix = ''): string =>
  SETTINGS.map((name) => `${prefix}"${name}"`).join(', ')

/** What the sign-in pages need of an identity provider, and whether it has a client secret. */
export type TenantIdp = {
  id: string
  type: string
  name: string
  clientId: string | null
  hasClientSecret: boolean
  clientSecretExpiresAt: string | null
  issuer: string | null
  authorizationEndpoint: string | null
  tokenEndpoint: string | null
  userInfoEndpoint: string | null
  platformTeamId: string | null
  platformKid: string | null
  domains: string[]
  trustAcr: unknown
  trustAmr: string[]
  upstreamLogout: boolean
}

/** Identity providers that a page can show. */
const MAX_IDPS = 50

export type TenantRow = RowOf<typeof SELECT_TENANT>

const SELECT_TENANT = statement({
  shared: true,
  returns: {
    ...storedColumns('Tenant', ['tenantId', ...SETTINGS, 'tokenKey']),
    idps: typed<TenantIdp[]>('jsonb'),
  },
})`
  SELECT "tenantId", ${buildSettingsColumns()}, "tokenKey", (
    SELECT coalesce(jsonb_agg(i ORDER BY i."id"), '[]') FROM (
      SELECT "id", "type", "name", "clientId", "clientSecret" IS NOT NULL AS "hasClientSecret", "clientSecretExpiresAt",
        "issuer", "authorizationEndpoint", "tokenEndpoint", "userInfoEndpoint", "platformTeamId", "platformKid", "domains",
        "trustAcr", "trustAmr", "upstreamLogout"
      FROM "IdentityProvider" WHERE "tenantId" = :tenant ORDER BY "id" LIMIT ${MAX_IDPS}
    ) i
  ) AS "idps"
  FROM "Tenant" WHERE "tenantId" = :tenant`

export const selectTenant = (sql: Sql, tenant: string): Promise<TenantRow | null> =>
  SELECT_TENANT.first(sql, { tenant })
