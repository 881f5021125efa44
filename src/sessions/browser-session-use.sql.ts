import { storedColumns } from '../database/columns.ts'
import type { Db } from '../database/handle.ts'
import { checkFoundRow } from '../database/key-lookup.ts'
import { type RowOf, statement, typed } from '../database/statement.ts'
import type { SessionProof } from './proofs.ts'
import { buildStaleSql, buildUserSeenSql, IS_USE_DUE, type SeenFrom } from './session-use.sql.ts'

/** What the use of a session depends on: who used it, from where, and whether it is to be written. */
export const USE_COLUMNS = `s."id", s."userId", ${IS_USE_DUE} AS "isUseDue"`
export const USE_RETURNS = { id: 'text', userId: 'text', isUseDue: 'boolean' } as const

/** Parameters of BROWSER_SESSION_FROM and BROWSER_SESSION_CONDITION. */
export const BROWSER_SESSION_PARAMETERS = { tokenHash: 'bytea', now: 'timestamptz' } as const
/** The user `u` and the session `s` of a cookie. Statements that lock both lock the user first. */
export const BROWSER_SESSION_FROM = `
  FROM "User" u JOIN "Session" s ON s."tenantId" = :tenant AND s."tokenHash" = :tokenHash AND u."id" = s."userId"`
export const BROWSER_SESSION_CONDITION = `u."tenantId" = :tenant AND s."kind" = 'browser'
    AND ${checkFoundRow('s."endedAt" IS NULL AND s."expiresAt" > :now')} AND NOT u."locked"`

const SELECT_BROWSER_SESSION = statement({
  shared: true,
  takes: BROWSER_SESSION_PARAMETERS,
  returns: {
    ...USE_RETURNS,
    ...storedColumns('Session', ['authenticatedAt', 'amr', 'expiresAt']),
    ...storedColumns('User', ['name', 'email', 'phoneNumber']),
    proofs: typed<SessionProof[]>('jsonb'),
  },
})`
  SELECT ${USE_COLUMNS}, s."authenticatedAt", s."amr", s."expiresAt", s."proofs", u."name", u."email", u."phoneNumber"
  ${BROWSER_SESSION_FROM} WHERE ${BROWSER_SESSION_CONDITION}`

const UPDATE_BROWSER_USE = statement({
  takes: {
    id: 'text',
    userId: 'text',
    now: 'timestamptz',
    ip: 'text?',
    location: 'text?',
    userAgent: 'text?',
  },
})`
  WITH used AS (
    UPDATE "Session" s SET "lastSeenAt" = :now, "lastSeenIp" = COALESCE(:ip, s."lastSeenIp"),
      "lastSeenLocation" = CASE WHEN :ip IS NULL THEN s."lastSeenLocation" ELSE :location END,
      "userAgent" = COALESCE(:userAgent, s."userAgent"),
      "expiresAt" = LEAST(:now + make_interval(secs => t."sessionIdleSeconds"), s."authenticatedAt" + make_interval(secs => t."sessionLifetimeSeconds"))
    FROM "Tenant" t WHERE t."tenantId" = :tenant AND s."tenantId" = :tenant AND s."id" = :id
      AND ${checkFoundRow(`s."endedAt" IS NULL AND ${buildStaleSql('s."lastSeenAt"', ':now')}`)}
  ) ${buildUserSeenSql(':userId', ':now')}`

/** A browser session, and the names of its user. */
export type BrowserSession = RowOf<typeof SELECT_BROWSER_SESSION>
/** The active browser session with the token: one statement, which only reads. */
export const selectBrowserSession = (
  db: Db,
  values: { tokenHash: Buffer; now: Date },
): Promise<BrowserSession | null> => db.one(SELECT_BROWSER_SESSION, { ...values })

export type UsableSession = RowOf<{ returns: typeof USE_RETURNS }>

/** Writes the use of a session, which extends its idle expiry, and that of its user, as far as they are stale. */
export const updateBrowserUse = (
  db: Db,
  { id, userId }: UsableSession,
  values: SeenFrom & { now: Date },
): Promise<void> => db.run(UPDATE_BROWSER_USE, { id, userId, ...values })
