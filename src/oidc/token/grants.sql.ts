import type { Sql } from '../../db.ts'
import { insertEventsSql } from '../../events.sql.ts'
import type { ClaimsRequest } from '../authorize/claims-request.ts'

/** A refresh token as it was presented, after its mac was checked. */
export type PresentedToken = {
  grantId: string
  generation: number
  secretHash: Buffer
  clientId: string
  /** The scope parameter; null when the request has none. */
  scopes: string[] | null
  /** Thumbprint of the key that the request proved to hold. */
  dpopJkt: string | null
  now: Date
  /** Before this, the previous generation is no retry any more. */
  retryFrom: Date
  idleExpiresAt: Date
}

/** `rotated` is the ordinary case, `repeated` a retry, `replayed` the use of an older token: the grant is revoked. */
export type RefreshedGrant = {
  outcome: 'rotated' | 'repeated' | 'replayed'
  userId: string
  sessionId: string | null
  scopes: string[]
  resources: string[]
  claims: ClaimsRequest | null
  authenticatedAt: Date
  amr: string[]
  roles: string[]
}

// Row by row: whoever comes second waits for the lock and then sees the row as the first one left it.
const REFRESH_GRANT = `
  WITH found AS MATERIALIZED (
    SELECT g."id", g."userId", g."sessionId", g."clientId", g."scopes", g."resources", g."claims", g."authenticatedAt", g."amr",
      u."roles",
      CASE
        WHEN g."generation" = $3::int THEN 'rotated'
        WHEN g."generation" = $3::int + 1 AND g."rotatedAt" >= $8::timestamptz THEN 'repeated'
        ELSE 'replayed'
      END AS "outcome"
    FROM "Grant" g JOIN "User" u ON u."tenantId" = $1 AND u."id" = g."userId"
    WHERE g."tenantId" = $1 AND g."id" = $2 AND g."secretHash" = $4::bytea AND g."clientId" = $5
      AND ($6::text[] IS NULL OR $6::text[] <@ g."scopes")
      AND (g."dpopJkt" IS NULL OR g."dpopJkt" = $11::text)
      AND g."generation" >= $3::int AND g."revokedAt" IS NULL
      AND g."idleExpiresAt" > $7::timestamptz AND g."expiresAt" > $7::timestamptz AND NOT u."locked"
    FOR NO KEY UPDATE OF g
  ), changed AS (
    UPDATE "Grant" g SET
      "generation" = g."generation" + CASE WHEN found."outcome" = 'rotated' THEN 1 ELSE 0 END,
      "rotatedAt" = CASE WHEN found."outcome" = 'rotated' THEN $7::timestamptz ELSE g."rotatedAt" END,
      "idleExpiresAt" = CASE WHEN found."outcome" = 'rotated' THEN LEAST($9::timestamptz, g."expiresAt") ELSE g."idleExpiresAt" END,
      "revokedAt" = CASE WHEN found."outcome" = 'replayed' THEN $7::timestamptz END
    FROM found WHERE g."tenantId" = $1 AND g."id" = found."id" AND found."outcome" <> 'repeated'
    RETURNING g."id", g."userId", g."sessionId", g."clientId", found."outcome"
  ), told AS (${insertEventsSql('$10', {
    from: 'changed',
    columns: {
      type: `CASE WHEN changed."outcome" = 'replayed' THEN 'grant.revoked' ELSE 'grant.refreshed' END`,
      userId: 'changed."userId"',
      sessionId: 'changed."sessionId"',
      subjectIds: 'ARRAY[changed."id", changed."clientId"]',
    },
  })})
  SELECT * FROM found`

/**
 * Rotates a grant's refresh token, repeats its successor, or revokes the grant, with the event, in one statement. Null
 * when the token is ahead of the row, or the grant is another client's, too narrow, over or revoked, or the user locked.
 */
export async function refreshGrant(
  sql: Sql,
  tenant: string,
  token: PresentedToken,
  event: object,
): Promise<RefreshedGrant | null> {
  const [row] = await sql<RefreshedGrant>(REFRESH_GRANT, [
    tenant,
    token.grantId,
    token.generation,
    token.secretHash,
    token.clientId,
    token.scopes,
    token.now,
    token.retryFrom,
    token.idleExpiresAt,
    JSON.stringify([event]),
    token.dpopJkt,
  ])
  return row ?? null
}
