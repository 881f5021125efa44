import type { Sql } from '../db.ts'
import type { User } from '../generated/prisma/client.ts'
import { queueLogoutsSql } from '../sessions/session-clients.sql.ts'
import { userColumns, userOf } from '../sessions/sessions.sql.ts'
import type { Channel } from './passcodes.fields.ts'

// Whoever had the account before its address was proven may have planted it. Only what an administrator vouched for
// stays. A statement of its own, after the user's row was locked: it sees all that was started until then.
const firstProof = (flag: string): string => `
  WITH proven AS (
    UPDATE "User" SET "${flag}" = true, "updatedAt" = GREATEST($3::timestamptz, "updatedAt" + interval '1 millisecond')
    WHERE "tenantId" = $1 AND "id" = $2 RETURNING *
  ), sessions AS (
    UPDATE "Session" SET "endedAt" = $3::timestamptz, "updatedAt" = $3::timestamptz, "endReason" = 'revoked'
    WHERE "tenantId" = $1 AND "userId" = $2 AND NOT "byManagement" AND "endedAt" IS NULL AND "expiresAt" > $3::timestamptz
    RETURNING "id", "clientId"
  ), queued AS (${queueLogoutsSql('sessions')}
  ), grants AS (
    UPDATE "Grant" g SET "revokedAt" = $3::timestamptz
    WHERE "tenantId" = $1 AND "userId" = $2 AND "revokedAt" IS NULL AND NOT EXISTS (
      SELECT FROM "Session" s WHERE s."tenantId" = $1 AND s."id" = g."sessionId" AND s."byManagement"
    )
    RETURNING "id", "clientId", "sessionId"
  ), codes AS (
    DELETE FROM "AuthorizationCode" WHERE "tenantId" = $1 AND "userId" = $2
  ), devices AS (
    DELETE FROM "DeviceCode" WHERE "tenantId" = $1 AND "userId" = $2
  ), consents AS (
    DELETE FROM "Consent" WHERE "tenantId" = $1 AND "userId" = $2
  ), enrolments AS (
    DELETE FROM "EnrollmentToken" WHERE "tenantId" = $1 AND "userId" = $2
  ), passcodes AS (
    UPDATE "Passcode" SET "codeHash" = NULL WHERE "tenantId" = $1 AND "userId" = $2 AND "codeHash" IS NOT NULL
  ), credentials AS (
    DELETE FROM "Credential" WHERE "tenantId" = $1 AND "userId" = $2 AND NOT "byManagement" RETURNING "id"
  ), links AS (
    DELETE FROM "IdpUser" WHERE "tenantId" = $1 AND "userId" = $2 AND NOT "byManagement" RETURNING "id"
  ), gone AS (
    SELECT 'session' AS "what", "id", "clientId", "id" AS "sessionId" FROM sessions
    UNION ALL SELECT 'grant', "id", "clientId", "sessionId" FROM grants
    UNION ALL SELECT 'credential', "id", NULL, NULL FROM credentials
    UNION ALL SELECT 'link', "id", NULL, NULL FROM links
  )
  SELECT ${userColumns('proven')}, gone.* FROM proven LEFT JOIN gone ON true`
const FIRST_PROOF = { email: firstProof('emailVerified'), sms: firstProof('phoneNumberVerified') }

/** Something that was taken away. */
export type Removed = {
  what: 'session' | 'grant' | 'credential' | 'link'
  id: string
  clientId: string | null
  sessionId: string | null
}

/** Marks an address as proven and takes away what the user had before that no administrator made. */
export async function applyFirstProof(
  sql: Sql,
  tenant: string,
  proof: { channel: Channel; userId: string; now: Date },
): Promise<{ user: User; removed: Removed[] }> {
  const rows = await sql<Removed & { what: string | null }>(FIRST_PROOF[proof.channel], [
    tenant,
    proof.userId,
    proof.now,
  ])
  const [first] = rows
  if (!first) throw new Error('the user of a proof is gone')
  return { user: userOf(first), removed: rows.filter((row) => row.what !== null) }
}
