import type { Sql } from '../db.ts'
import { BASIS_STANDS } from '../oidc/token/access-tokens.sql.ts'

/** What an access token depends on. A client's own token has no user. */
export type Basis = {
  /** The tenant of the caller. */
  tenant: string
  /** The tenant that the call is about: another one for operators of tenant system. */
  target: string
  clientId: string | null
  userId: string | null
  grantId: string | null
  sessionId: string | null
}

/** What its client, and its user's roles, permit now. */
export type Standing = { clientScopes: string[]; roles: string[] | null }

// The one statement that is about several tenants at once: $1 names them all, and every join is by tenant.
const SELECT_STANDINGS = `
  SELECT t."index"::int AS "index", c."scopes" AS "clientScopes", u."roles" AS "roles"
  FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
    WITH ORDINALITY AS t("tenantId", "target", "clientId", "userId", "grantId", "sessionId", "index")
  JOIN "Tenant" ON "Tenant"."tenantId" = t."target"
  JOIN "Client" c ON c."tenantId" = t."tenantId" AND c."id" = t."clientId"
  LEFT JOIN "User" u ON u."tenantId" = t."tenantId" AND u."id" = t."userId"
  LEFT JOIN "Grant" g ON g."tenantId" = t."tenantId" AND g."id" = t."grantId" AND g."userId" = u."id"
  LEFT JOIN "Session" s ON s."tenantId" = t."tenantId" AND s."id" = t."sessionId" AND s."userId" = u."id"
  WHERE t."tenantId" = ANY (string_to_array($1, ','))
    AND (t."target" = t."tenantId" OR c."allTenants")
    AND (t."userId" IS NULL OR (u."id" IS NOT NULL AND (t."grantId" IS NULL) = (g."id" IS NULL) AND ${BASIS_STANDS}))`

/** For each token, in the order asked, what it permits now; null where it no longer stands. One statement for all. */
export async function selectStandings(sql: Sql, bases: Basis[]): Promise<(Standing | null)[]> {
  const tenants = [...new Set(bases.map((basis) => basis.tenant))].join(',')
  const rows = await sql<Standing & { index: number }>(SELECT_STANDINGS, [
    tenants,
    bases.map((basis) => basis.tenant),
    bases.map((basis) => basis.target),
    bases.map((basis) => basis.clientId),
    bases.map((basis) => basis.userId),
    bases.map((basis) => basis.grantId),
    bases.map((basis) => basis.sessionId),
  ])
  const standing = new Map(rows.map(({ index, ...row }) => [index - 1, row]))
  return bases.map((_, index) => standing.get(index) ?? null)
}
