import type { Sql } from '../database/db.ts'
import { type RowOf, statement } from '../database/statement.ts'

const SELECT_RETURNING_USER = statement({
  takes: { userId: 'text', since: 'timestamptz' },
  returns: { email: 'text', locale: 'text?' },
})`
  SELECT "emailKey" AS "email", "locale" FROM "User" u
  WHERE u."tenantId" = :tenant AND u."id" = :userId AND u."emailVerified" AND u."emailKey" IS NOT NULL AND (
    u."lastSeenAt" < :since
    OR EXISTS (SELECT FROM "Session" s WHERE s."tenantId" = :tenant AND s."userId" = :userId AND s."createdAt" < :since)
  )`

/** The verified e-mail address of a user who signed in before `since`; null for any other. */
export const selectReturningUser = (
  sql: Sql,
  tenant: string,
  userId: string,
  since: Date,
): Promise<RowOf<typeof SELECT_RETURNING_USER> | null> =>
  SELECT_RETURNING_USER.first(sql, { tenant, userId, since })
