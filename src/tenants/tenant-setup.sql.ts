import { SYSTEM_TENANT } from '../core/scopes.ts'
import type { Db } from '../database/handle.ts'
import { statement } from '../database/statement.ts'

const RETURNS = {
  id: 'text',
  hasAdministrator: 'boolean',
  hasApplication: 'boolean',
  hasLogo: 'boolean',
  hasSupport: 'boolean',
  hasTerms: 'boolean',
  needsTerms: 'boolean',
  mailServer: 'text?',
  mailFailingSince: 'timestamptz?',
  smsGatewayUrl: 'text?',
  smsFailingSince: 'timestamptz?',
  /** When the key that has signed for the longest time became active. */
  keyActiveAt: 'timestamptz?',
} as const

const FACTS = `t."tenantId" AS "id",
    EXISTS (
      SELECT FROM "User" u
      WHERE u."tenantId" = t."tenantId" AND u."roles" <> '{}' AND u."roles" @> '{admin}' AND NOT u."locked"
    ) AS "hasAdministrator",
    EXISTS (
      SELECT FROM "Client" c WHERE c."tenantId" = t."tenantId" AND c."id" <> :consoleClientId
    ) AS "hasApplication",
    t."logoUrl" IS NOT NULL AS "hasLogo", t."supportUrl" IS NOT NULL AS "hasSupport",
    t."termsUrl" IS NOT NULL AS "hasTerms", t."signUp" <> 'off' AS "needsTerms",
    t."mailServer", t."mailFailingSince", t."smsGatewayUrl", t."smsFailingSince",
    (
      SELECT min(k."activeAt") FROM "SigningKey" k WHERE k."tenantId" = t."tenantId" AND k."expiresAt" IS NULL
    ) AS "keyActiveAt"`

const SELECT_SETUP = statement({ takes: { consoleClientId: 'text' }, returns: RETURNS })`
  SELECT ${FACTS} FROM "Tenant" t WHERE t."tenantId" = :tenant`

const SELECT_SETUPS = statement({ takes: { consoleClientId: 'text', slugs: 'text[]' }, returns: RETURNS })`
  SELECT ${FACTS} FROM "Tenant" t WHERE :tenant = 'system' AND t."tenantId" = ANY(:slugs)`

/** The facts of the setup of tenants: for tenant `system` of any, and for others of the own one. One statement. */
export const selectSetups = (db: Db, slugs: string[], consoleClientId: string) =>
  db.tenant === SYSTEM_TENANT
    ? db.many(SELECT_SETUPS, { slugs, consoleClientId })
    : db.many(SELECT_SETUP, { consoleClientId })
