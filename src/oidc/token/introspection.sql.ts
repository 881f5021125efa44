import type { Sql } from '../../db.ts'

/** The refresh token of a client, as it was presented. */
export type PresentedRefreshToken = {
  grantId: string
  generation: number
  secretHash: Buffer
  clientId: string
}

/** What a refresh token that could be used now stands for. */
export type StandingGrant = {
  userId: string
  sessionId: string | null
  scopes: string[]
  dpopJkt: string | null
  authenticatedAt: Date
  issuedAt: Date
  idleExpiresAt: Date
  roles: string[]
}

const SELECT_STANDING_GRANT = `
  SELECT g."userId", g."sessionId", g."scopes", g."dpopJkt", g."authenticatedAt", g."idleExpiresAt",
    COALESCE(g."rotatedAt", g."createdAt") AS "issuedAt", u."roles"
  FROM "Grant" g JOIN "User" u ON u."tenantId" = $1 AND u."id" = g."userId"
  WHERE g."tenantId" = $1 AND g."id" = $2 AND g."generation" = $3::int AND g."secretHash" = $4::bytea
    AND g."clientId" = $5 AND g."revokedAt" IS NULL AND g."idleExpiresAt" > $6::timestamptz
    AND g."expiresAt" > $6::timestamptz AND NOT u."locked"`

/** The grant of the client's current refresh token; null for one that is another's, revoked, expired or was rotated. */
export async function selectStandingGrant(
  sql: Sql,
  tenant: string,
  token: PresentedRefreshToken,
  now: Date,
): Promise<StandingGrant | null> {
  const [row] = await sql<StandingGrant>(SELECT_STANDING_GRANT, [
    tenant,
    token.grantId,
    token.generation,
    token.secretHash,
    token.clientId,
    now,
  ])
  return row ?? null
}
