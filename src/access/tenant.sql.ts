import { storedColumns } from '../database/columns.ts'
import type { Db } from '../database/handle.ts'
import { type RowOf, statement, typed } from '../database/statement.ts'
import { Prisma } from '../generated/prisma/client.ts'

type TenantColumn = keyof typeof Prisma.TenantScalarFieldEnum
/** The columns of a tenant besides its settings. */
const OTHER_COLUMNS = [
  'tenantId',
  'tokenKey',
  'mailServerPassword',
  'smsGatewayToken',
  'mailFailingSince',
  'smsFailingSince',
  'eventsTrimmedTo',
  'updatedAt',
  'createdAt',
] as const
type SettingColumn = Exclude<TenantColumn, (typeof OTHER_COLUMNS)[number]>

/** The columns of a tenant's settings. */
export const SETTINGS = Object.keys(Prisma.TenantScalarFieldEnum).filter(
  (name): name is SettingColumn => !(OTHER_COLUMNS as readonly string[]).includes(name),
)

/** Formats the columns as a list for SQL; `prefix` is an alias with a dot. */
export const buildSettingsColumns = (prefix = ''): string =>
  SETTINGS.map((name) => `${prefix}"${name}"`).join(', ')

/** What is cached of a tenant besides its settings. Secrets are sealed. */
const CACHED_COLUMNS = [
  'tokenKey',
  'mailServerPassword',
  'smsGatewayToken',
  'mailFailingSince',
  'smsFailingSince',
] as const

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

/** The columns of `TenantIdp`. */
export const TENANT_IDP_COLUMNS = `"id", "type", "name", "clientId", "clientSecret" IS NOT NULL AS "hasClientSecret", "clientSecretExpiresAt",
        "issuer", "authorizationEndpoint", "tokenEndpoint", "userInfoEndpoint", "platformTeamId", "platformKid", "domains",
        "trustAcr", "trustAmr", "upstreamLogout"`

const SELECT_TENANT = statement({
  shared: true,
  returns: {
    ...storedColumns('Tenant', ['tenantId', ...SETTINGS, ...CACHED_COLUMNS]),
    idps: typed<TenantIdp[]>('jsonb'),
    /** Whether users join organizations by domains. */
    hasJoinDomains: 'boolean',
    /** Whether organizations have identity providers, which are not in the list. */
    hasOrganizationIdps: 'boolean',
  },
})`
  SELECT "tenantId", ${buildSettingsColumns()}, ${CACHED_COLUMNS.map((name) => `"${name}"`).join(', ')}, (
    SELECT coalesce(jsonb_agg(i ORDER BY i."id"), '[]') FROM (
      SELECT ${TENANT_IDP_COLUMNS}
      FROM "IdentityProvider" WHERE "tenantId" = :tenant AND "organizationId" IS NULL ORDER BY "id" LIMIT ${MAX_IDPS}
    ) i
  ) AS "idps", EXISTS (
    SELECT FROM "OrganizationDomain"
    WHERE "tenantId" = :tenant AND "verifiedAt" IS NOT NULL AND "enrollment" = 'automatic'
  ) AS "hasJoinDomains", EXISTS (
    SELECT FROM "IdentityProvider" WHERE "tenantId" = :tenant AND "organizationId" IS NOT NULL
  ) AS "hasOrganizationIdps"
  FROM "Tenant" WHERE "tenantId" = :tenant`

export const selectTenant = (db: Db): Promise<TenantRow | null> => db.one(SELECT_TENANT)
