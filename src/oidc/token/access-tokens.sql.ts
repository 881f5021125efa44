import type { Sql } from '../../db.ts'

/** What an access token of a person says that it depends on. */
export type TokenBasis = { userId: string; grantId: string | null; sessionId: string | null }

/**
 * True while an access token's basis stands, for a query that joins "User" u, and left-joins "Grant" g and
 * "Session" s: tokens of an offline grant depend on the grant alone, others on their session too.
 */
export const BASIS_STANDS = `NOT u."locked"
  AND (g."id" IS NULL OR (g."revokedAt" IS NULL AND g."expiresAt" > now()))
  AND (COALESCE(g."offline", false) OR (s."endedAt" IS NULL AND s."expiresAt" > now()))`

const SELECT_STANDING = `
  SELECT t."index"::int AS "index", u."roles"
  FROM unnest($2::text[], $3::text[], $4::text[]) WITH ORDINALITY AS t("userId", "grantId", "sessionId", "index")
  JOIN "User" u ON u."tenantId" = $1 AND u."id" = t."userId"
  LEFT JOIN "Grant" g ON g."tenantId" = $1 AND g."id" = t."grantId" AND g."userId" = u."id"
  LEFT JOIN "Session" s ON s."tenantId" = $1 AND s."id" = t."sessionId" AND s."userId" = u."id"
  WHERE (t."grantId" IS NULL) = (g."id" IS NULL) AND ${BASIS_STANDS}`

/** The roles of each token's user, in the order asked; null where the token no longer stands. One statement. */
export async function selectStanding(
  sql: Sql,
  tenant: string,
  bases: TokenBasis[],
): Promise<(string[] | null)[]> {
  const rows = await sql<{ index: number; roles: string[] }>(SELECT_STANDING, [
    tenant,
    bases.map((basis) => basis.userId),
    bases.map((basis) => basis.grantId),
    bases.map((basis) => basis.sessionId),
  ])
  const standing = new Map(rows.map((row) => [row.index - 1, row.roles]))
  return bases.map((_, index) => standing.get(index) ?? null)
}
