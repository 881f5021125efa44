import type { Ctx } from '../ctx.ts'
import type { Sql } from '../db.ts'
import { type EndReason, type NewEvent, recordEvents } from '../events.ts'
import { queueLogoutsSql } from '../sessions/session-clients.sql.ts'

// Expired rows are left to the clean-up. Counters of the passcodes stay: a lock is no way to new guesses.
const END_ACCESS = `
  WITH sessions AS (
    UPDATE "Session" SET "endedAt" = now(), "updatedAt" = now(), "endReason" = $3
    WHERE "tenantId" = $1 AND "userId" = $2 AND "endedAt" IS NULL AND "expiresAt" > now()
    RETURNING "id", "clientId"
  ), grants AS (
    UPDATE "Grant" SET "revokedAt" = now()
    WHERE "tenantId" = $1 AND "userId" = $2 AND "revokedAt" IS NULL AND "expiresAt" > now()
    RETURNING "id", "clientId", "sessionId"
  ), codes AS (
    DELETE FROM "AuthorizationCode" WHERE "tenantId" = $1 AND "userId" = $2
  ), devices AS (
    DELETE FROM "DeviceCode" WHERE "tenantId" = $1 AND "userId" = $2
  ), enrolments AS (
    UPDATE "EnrollmentToken" SET "usedAt" = now() WHERE "tenantId" = $1 AND "userId" = $2 AND "usedAt" IS NULL
  ), passcodes AS (
    UPDATE "Passcode" SET "codeHash" = NULL WHERE "tenantId" = $1 AND "userId" = $2 AND "codeHash" IS NOT NULL
  ), queued AS (${queueLogoutsSql('sessions')}
  )
  SELECT 'session' AS "what", "id", "clientId", "id" AS "sessionId" FROM sessions
  UNION ALL SELECT 'grant', "id", "clientId", "sessionId" FROM grants`

type Ended = { what: 'session' | 'grant'; id: string; clientId: string | null; sessionId: string | null }

const toEvent = (userId: string, reason: EndReason, { what, id, clientId, sessionId }: Ended): NewEvent => {
  const client = clientId ? [clientId] : []
  return what === 'session'
    ? { type: 'session.ended', userId, sessionId: id, subjectIds: client, detail: { reason } }
    : { type: 'grant.revoked', userId, sessionId, subjectIds: [id, ...client], detail: { reason } }
}

/**
 * Takes away all that a user got by signing in: ends sessions, revokes grants (offline ones too), deletes codes,
 * clears live passcodes, voids enrolment tokens and queues the logout tokens of the clients; then writes the events,
 * after `alsoRecord`. Two statements, to be sent after one that locked the user's row: a session that was being started
 * meanwhile is seen by a later statement only.
 */
export async function endUserAccess(
  sql: Sql,
  ctx: Ctx,
  userId: string,
  reason: EndReason,
  alsoRecord: NewEvent[] = [],
): Promise<void> {
  const ended = await sql<Ended>(END_ACCESS, [ctx.tenant, userId, reason])
  await recordEvents(sql, ctx, [...alsoRecord, ...ended.map((row) => toEvent(userId, reason, row))])
}

/** Voids the links to enrol that were handed out for a user, by whomever. The user's row must be held. */
export async function voidEnrolments(sql: Sql, tenant: string, userId: string): Promise<void> {
  await sql(
    `UPDATE "EnrollmentToken" SET "usedAt" = now() WHERE "tenantId" = $1 AND "userId" = $2 AND "usedAt" IS NULL`,
    [tenant, userId],
  )
}
