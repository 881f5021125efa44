import { buildUnmetRuleSql } from '../access/organization-policy.sql.ts'
import type { Db } from '../database/handle.ts'
import { checkFoundRow } from '../database/key-lookup.ts'
import { type RowOf, statement } from '../database/statement.ts'
import { buildInsertEventsSql } from '../events/log.sql.ts'
import type { User } from '../generated/prisma/client.ts'
import {
  SESSION_RETURNS,
  type SessionRow,
  toSessionColumnList,
  toSessionRow,
  toUserColumnList,
  toUserRow,
  USER_RETURNS,
} from './sessions.sql.ts'

/** A last use is written only when the stored one is stale, so that most requests write nothing. */
export const buildStaleSql = (column: string, now: string): string =>
  `(${column} IS NULL OR ${column} < ${now} - interval '1 minute')`

/** Updates the user's last use. A locked row is skipped: waiting for its change could deadlock. */
export const buildUserSeenSql = (userId: string, now: string): string => `
  UPDATE "User" SET "lastSeenAt" = ${now} FROM (
    SELECT "id" AS "userId" FROM "User"
    WHERE "tenantId" = :tenant AND "id" = ${userId} AND ${buildStaleSql('"lastSeenAt"', now)} FOR NO KEY UPDATE SKIP LOCKED
  ) idle WHERE "tenantId" = :tenant AND "id" = idle."userId"`

/** Whether the use of the session `s` of the user `u` is to be written. */
export const IS_USE_DUE = `${buildStaleSql('s."lastSeenAt"', ':now')} OR ${buildStaleSql('u."lastSeenAt"', ':now')}`

/** The token before the current one, within its grace. */
const IS_PREVIOUS_TOKEN = `"previousTokenHash" = :tokenHash AND "rotatedAt" > :now - interval '10 seconds'`
const HAS_TOKEN_CONDITION = `("tokenHash" = :tokenHash OR (${IS_PREVIOUS_TOKEN}))`
/** The session with a token, as a subquery: each look-up uses its own key, and OFFSET 0 keeps outer conditions out. */
const FIND_BY_TOKEN = `SELECT * FROM "Session" WHERE "tenantId" = :tenant AND "tokenHash" = :tokenHash
      UNION ALL SELECT * FROM "Session" WHERE "tenantId" = :tenant AND ${IS_PREVIOUS_TOKEN} OFFSET 0`
/**
 * The session is active, and its user and the client may use it. The user of an OIDC session for an organization is a member,
 * and satisfies what it demands. That of the browser is the one that was chosen last.
 */
const IS_USABLE_CONDITION = `s."endedAt" IS NULL AND s."expiresAt" > :now
    AND (s."clientId" IS NULL OR s."clientId" = :clientId) AND NOT u."locked"
    AND (s."kind" <> 'oidc' OR s."organizationId" IS NULL OR EXISTS (
      SELECT FROM "Membership" m JOIN "Organization" o ON o."tenantId" = :tenant AND o."id" = m."organizationId"
      WHERE m."tenantId" = :tenant AND m."organizationId" = s."organizationId" AND m."userId" = u."id"
        AND ${buildUnmetRuleSql({ authenticatedAt: 's."authenticatedAt"', amr: 's."amr"', deviceIp: ':ip' })} IS NULL
    ))`
const ROTATES_CONDITION = `f."rotate" AND s."tokenHash" = :tokenHash`

/** The session with a token and its user. Reads only. */
const SELECT_USED_SESSION = statement({
  shared: true,
  takes: { tokenHash: 'bytea', clientId: 'text?', ip: 'text?', now: 'timestamptz' },
  returns: { ...SESSION_RETURNS, ...USER_RETURNS, tokenHash: 'bytea', isUseDue: 'boolean' },
})`
  SELECT ${toSessionColumnList('s')}, ${toUserColumnList('u')}, s."tokenHash", ${IS_USE_DUE} AS "isUseDue"
  FROM (${FIND_BY_TOKEN}) s JOIN "User" u ON u."tenantId" = :tenant AND u."id" = s."userId"
  WHERE ${IS_USABLE_CONDITION}`

// `found` decides once what to do. The UPDATE checks again the conditions that a concurrent change may break:
// a session that has ended since is not returned, and one that was rotated since is not rotated again.
const AUTHENTICATE_SESSION = statement({
  takes: {
    tokenHash: 'bytea',
    clientId: 'text?',
    now: 'timestamptz',
    expirationMinutes: 'int',
    successorHash: 'bytea?',
    ip: 'text?',
    location: 'text?',
    userAgent: 'text?',
    deviceId: 'text?',
    events: 'jsonb',
  },
  returns: {
    ...SESSION_RETURNS,
    ...USER_RETURNS,
    tokenHash: 'bytea',
    /** Whether the session was refreshed or its token rotated. */
    isChanged: 'boolean',
  },
  hasInserted: ([row]) => row?.isChanged ?? false,
})`
  WITH found AS MATERIALIZED (
    SELECT s."id", s."userId",
      s."refreshable" AND :expirationMinutes > 0 AS "refresh",
      :successorHash IS NOT NULL AND s."kind" <> 'browser' AND s."tokenHash" = :tokenHash AS "rotate",
      ${buildStaleSql('s."lastSeenAt"', ':now')} AS "stale"
    FROM (${FIND_BY_TOKEN}) s JOIN "User" u ON u."tenantId" = :tenant AND u."id" = s."userId"
    WHERE ${IS_USABLE_CONDITION}
  ), seen AS (${buildUserSeenSql('(SELECT "userId" FROM found)', ':now')}
  ), changed AS (
    UPDATE "Session" s SET
      "tokenHash" = CASE WHEN ${ROTATES_CONDITION} THEN :successorHash ELSE s."tokenHash" END,
      "previousTokenHash" = CASE WHEN ${ROTATES_CONDITION} THEN :tokenHash ELSE s."previousTokenHash" END,
      "rotatedAt" = CASE WHEN ${ROTATES_CONDITION} THEN :now ELSE s."rotatedAt" END,
      "expiresAt" = CASE WHEN f."refresh" THEN :now + make_interval(mins => :expirationMinutes) ELSE s."expiresAt" END,
      "updatedAt" = CASE WHEN f."refresh" OR f."rotate" THEN :now ELSE s."updatedAt" END,
      "lastSeenAt" = CASE WHEN f."stale" THEN :now ELSE s."lastSeenAt" END,
      "lastSeenIp" = COALESCE(:ip, s."lastSeenIp"),
      "lastSeenLocation" = CASE WHEN :ip IS NULL THEN s."lastSeenLocation" ELSE :location END,
      "userAgent" = COALESCE(:userAgent, s."userAgent"), "deviceId" = COALESCE(:deviceId, s."deviceId")
    FROM found f
    WHERE s."tenantId" = :tenant AND s."id" = f."id" AND (f."refresh" OR f."rotate" OR f."stale")
      AND ${checkFoundRow(`"endedAt" IS NULL AND ${HAS_TOKEN_CONDITION}`)}
    RETURNING s.*
  ), event_log AS (${buildInsertEventsSql(':events', {
    from: 'changed JOIN found f ON f."id" = changed."id" AND (f."refresh" OR f."rotate")',
    columns: {
      userId: 'changed."userId"',
      sessionId: 'changed."id"',
      detail: `jsonb_build_object('rotated', f."rotate")`,
    },
  })}
  ), current AS (
    SELECT changed.*, f."refresh" OR f."rotate" AS "isChanged" FROM changed JOIN found f ON true
    UNION ALL
    SELECT s.*, false FROM "Session" s JOIN found f ON f."id" = s."id"
    WHERE s."tenantId" = :tenant AND NOT (f."refresh" OR f."rotate" OR f."stale")
  )
  SELECT ${toSessionColumnList('s')}, ${toUserColumnList('u')}, s."tokenHash", s."isChanged"
  FROM current s JOIN "User" u ON u."tenantId" = :tenant AND u."id" = s."userId"`

/** Where a session is used from. */
export type SeenFrom = { ip: string | null; location: string | null; userAgent: string | null }
export type SessionUse = {
  tokenHash: Buffer
  clientId: string | null
  now: Date
  /** 0: not refreshed. */
  expirationMinutes: number
  /** Hash of the token to rotate to; null: not rotated. */
  successorHash: Buffer | null
  seen: SeenFrom & { deviceId: string | null }
}

type UsedSession = { session: SessionRow; user: User; tokenHash: Buffer; isChanged: boolean }

/**
 * Finds the active session with this token. It is refreshed or rotated, and its use written, in one statement with its
 * event. A use that changes nothing is one read; that the last use is stale is known after it, at most once a minute.
 */
export async function updateSessionUse(
  db: Db,
  use: SessionUse,
  createEvent: () => object,
): Promise<UsedSession | null> {
  const { seen, ...values } = use
  if (use.expirationMinutes === 0 && use.successorHash === null) {
    const { tokenHash, clientId, now } = use
    const row = await db.one(SELECT_USED_SESSION, { tokenHash, clientId, ip: seen.ip, now })
    if (!row?.isUseDue) return row && toUsedSession(row, false)
  }
  const row = await db.one(AUTHENTICATE_SESSION, { ...values, ...seen, events: [createEvent()] })
  return row && toUsedSession(row, row.isChanged)
}

const toUsedSession = (
  row: Omit<RowOf<typeof AUTHENTICATE_SESSION>, 'isChanged'>,
  isChanged: boolean,
): UsedSession => ({
  session: toSessionRow(row),
  user: toUserRow(row),
  tokenHash: row.tokenHash,
  isChanged,
})
