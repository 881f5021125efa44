import type { Sql } from '../../db.ts'

/** What of a code's row, and of what it depends on, a refusal is explained by. */
export type ExplainedCode = {
  clientId: string
  redirectUri: string
  codeChallenge: string | null
  dpopJkt: string | null
  usedAt: Date | null
  expiresAt: Date
  /** Null when the user is gone. */
  locked: boolean | null
  endReason: string | null
}

const SELECT_CODE = `
  SELECT c."clientId", c."redirectUri", c."codeChallenge", c."dpopJkt", c."usedAt", c."expiresAt", u."locked", s."endReason"
  FROM "AuthorizationCode" c
  LEFT JOIN "User" u ON u."tenantId" = $1 AND u."id" = c."userId"
  LEFT JOIN "Session" s ON s."tenantId" = $1 AND s."id" = c."sessionId"
  WHERE c."tenantId" = $1 AND c."codeHash" = $2::bytea`

/** A code whosever it is and whatever has become of it; null when there is none. */
export async function selectExplainedCode(
  sql: Sql,
  tenant: string,
  codeHash: Buffer,
): Promise<ExplainedCode | null> {
  const [row] = await sql<ExplainedCode>(SELECT_CODE, [tenant, codeHash])
  return row ?? null
}

/** The same of a grant. */
export type ExplainedGrant = {
  clientId: string
  scopes: string[]
  generation: number
  dpopJkt: string | null
  revokedAt: Date | null
  idleExpiresAt: Date
  expiresAt: Date
  locked: boolean
}

const SELECT_GRANT = `
  SELECT g."clientId", g."scopes", g."generation", g."dpopJkt", g."revokedAt", g."idleExpiresAt", g."expiresAt", u."locked"
  FROM "Grant" g JOIN "User" u ON u."tenantId" = $1 AND u."id" = g."userId"
  WHERE g."tenantId" = $1 AND g."id" = $2 AND g."secretHash" = $3::bytea`

/** The grant of a refresh token, whatever has become of it. */
export async function selectExplainedGrant(
  sql: Sql,
  tenant: string,
  token: { grantId: string; secretHash: Buffer },
): Promise<ExplainedGrant | null> {
  const [row] = await sql<ExplainedGrant>(SELECT_GRANT, [tenant, token.grantId, token.secretHash])
  return row ?? null
}
