import type { Sql } from '../db.ts'
import { queueLogoutsSql } from '../sessions/session-clients.sql.ts'
import type { EndedSession, RevokedGrant } from '../sessions/sessions.sql.ts'

const DELETE_CONSENT = `
  DELETE FROM "Consent" WHERE "tenantId" = $1 AND "userId" = $2 AND "clientId" = $3
  RETURNING "scopes", "claims"`

/** Deletes what a person agreed to for a client; null when that was nothing. */
export async function deleteConsent(
  sql: Sql,
  tenant: string,
  userId: string,
  clientId: string,
): Promise<{ scopes: string[]; claims: string[] } | null> {
  const [row] = await sql<{ scopes: string[]; claims: string[] }>(DELETE_CONSENT, [tenant, userId, clientId])
  return row ?? null
}

// Used codes stay, so that their replay is known for one. The browser's sessions go on, but not at this client.
const END_CLIENT_ACCESS = `
  WITH sessions AS (
    UPDATE "Session" SET "endedAt" = $4::timestamptz, "updatedAt" = $4::timestamptz, "endReason" = 'revoked'
    WHERE "tenantId" = $1 AND "userId" = $2 AND "clientId" = $3 AND "endedAt" IS NULL AND "expiresAt" > $4::timestamptz
    RETURNING "id", "userId", "clientId"
  ), grants AS (
    UPDATE "Grant" SET "revokedAt" = $4::timestamptz
    WHERE "tenantId" = $1 AND "userId" = $2 AND "clientId" = $3 AND "revokedAt" IS NULL AND "expiresAt" > $4::timestamptz
    RETURNING "id", "userId", "clientId", "sessionId"
  ), codes AS (
    DELETE FROM "AuthorizationCode" WHERE "tenantId" = $1 AND "userId" = $2 AND "clientId" = $3 AND "usedAt" IS NULL
  ), devices AS (
    DELETE FROM "DeviceCode" WHERE "tenantId" = $1 AND "userId" = $2 AND "clientId" = $3 AND "status" = 'approved'
  ), open AS (
    SELECT "id" FROM "Session" WHERE "tenantId" = $1 AND "userId" = $2 AND "endedAt" IS NULL
  ), queued AS (${queueLogoutsSql('open', '$3')}
  ), forgotten AS (
    DELETE FROM "SessionClient" WHERE "tenantId" = $1 AND "sessionId" IN (SELECT "id" FROM open) AND "clientId" = $3
  )
  SELECT 'session' AS "what", "id", "userId", "clientId", NULL AS "sessionId" FROM sessions
  UNION ALL SELECT 'grant', "id", "userId", "clientId", "sessionId" FROM grants`

/** Takes away what a client got of a person: sessions handed to it, grants, offline ones too, unused codes; queues its logout tokens. */
export async function endClientAccess(
  sql: Sql,
  tenant: string,
  { userId, clientId, now }: { userId: string; clientId: string; now: Date },
): Promise<{ sessions: EndedSession[]; grants: RevokedGrant[] }> {
  type Row = RevokedGrant & { what: 'session' | 'grant' }
  const rows = await sql<Row>(END_CLIENT_ACCESS, [tenant, userId, clientId, now])
  return {
    sessions: rows.filter(({ what }) => what === 'session'),
    grants: rows.filter(({ what }) => what === 'grant'),
  }
}
