import type { Sql, SqlValues } from '../db.ts'
import { insertEventsSql } from '../events.sql.ts'
import type { Session, User } from '../generated/prisma/client.ts'
import { type SessionRow, sessionColumns, sessionOf, userColumns, userOf } from './sessions.sql.ts'

/** While it is stale, a last use is written; not more often, so that reading stays cheap. */
export const isStale = (column: string, now: string): string =>
  `(${column} IS NULL OR ${column} < ${now}::timestamptz - interval '1 minute')`

/** Notes that the user was there. Who holds the user's row is busy changing it: never wait for that, or deadlock. */
const userSeen = (userId: string, now: string): string => `
  UPDATE "User" SET "lastSeenAt" = ${now}::timestamptz FROM (
    SELECT "id" AS "userId" FROM "User"
    WHERE "tenantId" = $1 AND "id" = ${userId} AND ${isStale('"lastSeenAt"', now)} FOR NO KEY UPDATE SKIP LOCKED
  ) idle WHERE "tenantId" = $1 AND "id" = idle."userId"`

/**
 * The start of a statement that finds a browser session and notes its use: `found` has its row, if any. Values $1 to $8
 * are those of `browserSessionValues`; more may follow, so that authorize reads what else it needs in the same statement.
 */
export const WITH_BROWSER_SESSION = `
  WITH found AS MATERIALIZED (
    SELECT s."id", s."userId", s."authenticatedAt", s."amr", s."expiresAt"
    FROM "Session" s JOIN "User" u ON u."tenantId" = $1 AND u."id" = s."userId"
    WHERE s."tenantId" = $1 AND s."tokenHash" = $2 AND s."kind" = 'browser'
      AND s."endedAt" IS NULL AND s."expiresAt" > $3::timestamptz AND NOT u."locked"
  ), used AS (
    UPDATE "Session" s SET "lastSeenAt" = $3::timestamptz, "lastSeenIp" = COALESCE($4::text, s."lastSeenIp"),
      "lastSeenLocation" = CASE WHEN $4::text IS NULL THEN s."lastSeenLocation" ELSE $5::text END,
      "userAgent" = COALESCE($6::text, s."userAgent"),
      "expiresAt" = LEAST($3::timestamptz + make_interval(secs => $7::float8), s."createdAt" + make_interval(secs => $8::float8))
    FROM found WHERE s."tenantId" = $1 AND s."id" = found."id" AND s."endedAt" IS NULL AND ${isStale('s."lastSeenAt"', '$3')}
  ), seen AS (${userSeen('(SELECT "userId" FROM found)', '$3')})`

const SELECT_BROWSER_SESSION = `${WITH_BROWSER_SESSION} SELECT * FROM found`

export type BrowserSession = Pick<Session, 'id' | 'userId' | 'authenticatedAt' | 'amr' | 'expiresAt'>
export type SeenFrom = { ip: string | null; location: string | null; userAgent: string | null }

/** The active browser session that the values name; its idle end moves with its use, at most once a minute. */
export async function selectBrowserSession(sql: Sql, values: SqlValues): Promise<BrowserSession | null> {
  const [row] = await sql<BrowserSession>(SELECT_BROWSER_SESSION, values)
  return row ?? null
}

export const browserSessionValues = (
  tenant: string,
  tokenHash: Buffer,
  now: Date,
  seen: SeenFrom,
  limits: { idleSeconds: number; lifetimeSeconds: number },
): SqlValues => [
  tenant,
  tokenHash,
  now,
  seen.ip,
  seen.location,
  seen.userAgent,
  limits.idleSeconds,
  limits.lifetimeSeconds,
]

/** Of a row of `s`: the token is the current one, or the one before it within its grace. */
const HAS_TOKEN = `(s."tokenHash" = $2 OR (s."previousTokenHash" = $2 AND s."rotatedAt" > $4::timestamptz - interval '10 seconds'))`
const ROTATES_NOW = `f."rotate" AND s."tokenHash" = $2`

// What is to be done is decided once, in `found`. The conditions that a concurrent change may break are checked again
// where the row is written: a session that ended meanwhile is not answered, one that was rotated meanwhile stays so.
const AUTHENTICATE_SESSION = `
  WITH found AS MATERIALIZED (
    SELECT s."id", s."userId",
      s."refreshable" AND $5::int > 0 AS "refresh",
      $6::bytea IS NOT NULL AND s."kind" <> 'browser' AND s."tokenHash" = $2 AS "rotate",
      ${isStale('s."lastSeenAt"', '$4')} AS "stale"
    FROM "Session" s JOIN "User" u ON u."tenantId" = $1 AND u."id" = s."userId"
    WHERE s."tenantId" = $1 AND ${HAS_TOKEN} AND s."endedAt" IS NULL AND s."expiresAt" > $4::timestamptz
      AND (s."clientId" IS NULL OR s."clientId" = $3::text) AND NOT u."locked"
  ), seen AS (${userSeen('(SELECT "userId" FROM found)', '$4')}
  ), changed AS (
    UPDATE "Session" s SET
      "tokenHash" = CASE WHEN ${ROTATES_NOW} THEN $6::bytea ELSE s."tokenHash" END,
      "previousTokenHash" = CASE WHEN ${ROTATES_NOW} THEN $2 ELSE s."previousTokenHash" END,
      "rotatedAt" = CASE WHEN ${ROTATES_NOW} THEN $4::timestamptz ELSE s."rotatedAt" END,
      "expiresAt" = CASE WHEN f."refresh" THEN $4::timestamptz + make_interval(mins => $5::int) ELSE s."expiresAt" END,
      "updatedAt" = CASE WHEN f."refresh" OR f."rotate" THEN $4::timestamptz ELSE s."updatedAt" END,
      "lastSeenAt" = CASE WHEN f."stale" THEN $4::timestamptz ELSE s."lastSeenAt" END,
      "lastSeenIp" = COALESCE($7::text, s."lastSeenIp"),
      "lastSeenLocation" = CASE WHEN $7::text IS NULL THEN s."lastSeenLocation" ELSE $8::text END,
      "userAgent" = COALESCE($9::text, s."userAgent")
    FROM found f
    WHERE s."tenantId" = $1 AND s."id" = f."id" AND (f."refresh" OR f."rotate" OR f."stale") AND s."endedAt" IS NULL AND ${HAS_TOKEN}
    RETURNING s.*
  ), told AS (${insertEventsSql('$10', {
    from: 'changed JOIN found f ON f."id" = changed."id" AND (f."refresh" OR f."rotate")',
    columns: {
      userId: 'changed."userId"',
      sessionId: 'changed."id"',
      detail: `jsonb_build_object('rotated', f."rotate")`,
    },
  })}
  ), answer AS (
    SELECT changed.*, f."refresh" OR f."rotate" AS "told" FROM changed JOIN found f ON true
    UNION ALL
    SELECT s.*, false FROM "Session" s JOIN found f ON f."id" = s."id"
    WHERE s."tenantId" = $1 AND NOT (f."refresh" OR f."rotate" OR f."stale")
  )
  SELECT ${sessionColumns('s')}, ${userColumns('u')}, s."tokenHash", s."told"
  FROM answer s JOIN "User" u ON u."tenantId" = $1 AND u."id" = s."userId"`

export type SessionUse = {
  tokenHash: Buffer
  clientId: string | null
  now: Date
  /** 0: not refreshed. */
  expirationMinutes: number
  /** Hash of the token to rotate to; null: not rotated. */
  successorHash: Buffer | null
  seen: SeenFrom
}

/** Finds, refreshes and rotates the active session with this token, with its event: one statement. */
export async function updateSessionUse(
  sql: Sql,
  tenant: string,
  use: SessionUse,
  event: object,
): Promise<{ session: SessionRow; user: User; tokenHash: Buffer; isChanged: boolean } | null> {
  const [row] = await sql<{ tokenHash: Buffer; told: boolean }>(AUTHENTICATE_SESSION, [
    tenant,
    use.tokenHash,
    use.clientId,
    use.now,
    use.expirationMinutes,
    use.successorHash,
    use.seen.ip,
    use.seen.location,
    use.seen.userAgent,
    JSON.stringify([event]),
  ])
  return row
    ? { session: sessionOf(row), user: userOf(row), tokenHash: row.tokenHash, isChanged: row.told }
    : null
}
