import { checkFoundRow } from '../database/key-lookup.ts'

/**
 * Builds an INSERT for a CTE of another statement. It records that a session received tokens for an organization. `rows` names
 * rows with "sessionId" and "organizationId", which `from` selects; those without an organization are left out.
 */
export const buildInsertSessionOrganizationSql = (rows: string, from = rows): string => `
  INSERT INTO "SessionOrganization" ("tenantId", "organizationId", "sessionId")
  SELECT :tenant, ${rows}."organizationId", s."id" FROM ${from}
  JOIN "Session" s ON s."tenantId" = :tenant AND s."id" = ${rows}."sessionId" AND ${checkFoundRow('s."endedAt" IS NULL')}
  WHERE ${rows}."organizationId" IS NOT NULL
  ON CONFLICT DO NOTHING`
