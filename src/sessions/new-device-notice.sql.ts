import type { Db } from '../database/handle.ts'
import { statement } from '../database/statement.ts'

// Sessions are deleted soon after they end, and lastSeenAt is already that of this sign-in.
const SELECT_RETURNING_USER = statement({
  takes: { userId: 'text', since: 'timestamptz' },
  returns: { email: 'text', locale: 'text?' },
})`
  SELECT "emailKey" AS "email", "locale" FROM "User" u
  WHERE u."tenantId" = :tenant AND u."id" = :userId AND u."emailVerified" AND u."emailKey" IS NOT NULL AND (
    u."createdAt" < :since - (
      SELECT make_interval(days => t."eventRetentionDays") FROM "Tenant" t WHERE t."tenantId" = :tenant
    )
    OR EXISTS (
      SELECT FROM "Event" e
      WHERE e."tenantId" = :tenant AND e."userId" = :userId AND e."type" = 'session.started' AND e."occurredAt" < :since
    )
  )`

/**
 * The verified e-mail address of a user who signed in before `since`, or is older than the event log of
 * the tenant; null for any other.
 */
export const selectReturningUser = (db: Db, values: { userId: string; since: Date }) =>
  db.one(SELECT_RETURNING_USER, values)
