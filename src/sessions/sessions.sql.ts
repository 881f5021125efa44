import type { Sql } from '../db.ts'
import { insertEventsSql } from '../events.sql.ts'
import { Prisma, type Session, type User } from '../generated/prisma/client.ts'
import { queueLogoutsSql } from './session-clients.sql.ts'

/** A session as services hand it on: without the hashes of its tokens. */
export type SessionRow = Omit<Session, 'tokenHash' | 'previousTokenHash'>

const SESSION_COLUMNS = Object.keys(Prisma.SessionScalarFieldEnum).filter(
  (name) => name !== 'tokenHash' && name !== 'previousTokenHash',
)
const USER_COLUMNS = Object.keys(Prisma.UserScalarFieldEnum)

const columnsOf = (alias: string, prefix: string, names: readonly string[]): string =>
  names.map((name) => `${alias}."${name}" AS "${prefix}${name}"`).join(', ')

/** All columns of a session, for a row that also holds others; `sessionOf` takes them out again. */
export const sessionColumns = (alias: string): string => columnsOf(alias, 's_', SESSION_COLUMNS)
export const userColumns = (alias: string): string => columnsOf(alias, 'u_', USER_COLUMNS)

type Row = Record<string, unknown>
const pick = (row: Row, prefix: string, names: readonly string[]): unknown =>
  Object.fromEntries(names.map((name) => [name, row[prefix + name]]))
export const sessionOf = (row: Row): SessionRow => pick(row, 's_', SESSION_COLUMNS) as SessionRow
export const userOf = (row: Row): User => pick(row, 'u_', USER_COLUMNS) as User

/** What a session is inserted with. */
export type NewSession = {
  id: string
  userId: string
  clientId: string | null
  kind: string
  parentId: string | null
  grantId: string | null
  tokenHash: Buffer
  refreshable: boolean
  amr: string[]
  byManagement: boolean
  ip: string | null
  location: string | null
  userAgent: string | null
  expiresAt: Date
  now: Date
}

// FOR SHARE makes the user's lock and this wait for each other: who comes first decides, and a lock that comes second
// finds the session. The same holds for the end of the parent.
const INSERT_SESSION = `
  WITH person AS (
    SELECT "id" FROM "User" WHERE "tenantId" = $1 AND "id" = $2 AND NOT "locked" FOR SHARE
  ), parent AS (
    SELECT "id" FROM "Session"
    WHERE "tenantId" = $1 AND "id" = $6::text AND "userId" = $2 AND "endedAt" IS NULL AND "expiresAt" > $14::timestamptz FOR SHARE
  ), granted AS (
    SELECT "id" FROM "Grant" WHERE "tenantId" = $1 AND "id" = $17::text AND "revokedAt" IS NULL FOR SHARE
  ), made AS (
    INSERT INTO "Session" ("tenantId", "id", "userId", "clientId", "kind", "parentId", "grantId", "tokenHash", "refreshable", "amr",
      "byManagement", "lastSeenIp", "lastSeenLocation", "userAgent", "expiresAt", "authenticatedAt", "lastSeenAt", "updatedAt", "createdAt")
    SELECT $1, $3, "id", $4::text, $5, $6::text, $17::text, $7::bytea, $8::boolean, $9::text[],
      $10::boolean, $11::text, $12::text, $13::text, $15::timestamptz, $14::timestamptz, $14::timestamptz, $14::timestamptz, $14::timestamptz
    FROM person
    WHERE ($6::text IS NULL OR EXISTS (SELECT FROM parent)) AND ($17::text IS NULL OR EXISTS (SELECT FROM granted))
    RETURNING *
  ), told AS (${insertEventsSql('$16', { from: 'made' })})
  SELECT ${sessionColumns('s')} FROM made s`

/** Inserts a session and its event, unless the user is locked or gone, or the parent has ended. One statement. */
export async function insertSession(
  sql: Sql,
  tenant: string,
  session: NewSession,
  event: object,
): Promise<SessionRow | null> {
  const [row] = await sql(INSERT_SESSION, [
    tenant,
    session.userId,
    session.id,
    session.clientId,
    session.kind,
    session.parentId,
    session.tokenHash,
    session.refreshable,
    session.amr,
    session.byManagement,
    session.ip,
    session.location,
    session.userAgent,
    session.now,
    session.expiresAt,
    JSON.stringify([event]),
    session.grantId,
  ])
  return row ? sessionOf(row) : null
}

export type EndedSession = Pick<Session, 'id' | 'userId' | 'clientId'>

const END = `UPDATE "Session" SET "endedAt" = $3::timestamptz, "updatedAt" = $3::timestamptz, "endReason" = $4`
const END_SESSION = `${END}
  WHERE "tenantId" = $1 AND "id" = $2 AND "endedAt" IS NULL AND "expiresAt" > $3::timestamptz
  RETURNING "id", "userId", "clientId"`
const END_USER_SESSIONS = `${END}
  WHERE "tenantId" = $1 AND "userId" = $2 AND "endedAt" IS NULL AND "expiresAt" > $3::timestamptz
  RETURNING "id", "userId", "clientId"`

export type Ending = { now: Date; reason: string }

/** Ends one active session; null when there is none. */
export async function endOne(sql: Sql, tenant: string, sessionId: string, { now, reason }: Ending) {
  const [row] = await sql<EndedSession>(END_SESSION, [tenant, sessionId, now, reason])
  return row ?? null
}

/** Ends the active sessions of a user. Lock the user first, so that none is being started. */
export const endAllOf = (sql: Sql, tenant: string, userId: string, { now, reason }: Ending) =>
  sql<EndedSession>(END_USER_SESSIONS, [tenant, userId, now, reason])

// A statement after the one that ended the sessions: it sees what had held them until then, such as the grant of a
// code that was being redeemed. Used codes stay, so that their replay is known for one. Who revokes a session may mean
// somebody who got into it: links to enrol, which the person made, go with it.
const RELEASE = `
  WITH children AS (
    ${END} WHERE "tenantId" = $1 AND "parentId" = ANY($2::text[]) AND "endedAt" IS NULL
    RETURNING "id", "userId", "clientId"
  ), gone AS (
    SELECT "id" FROM children UNION ALL SELECT unnest($2::text[])
  ), revoked AS (
    UPDATE "Grant" SET "revokedAt" = $3::timestamptz
    WHERE "tenantId" = $1 AND "sessionId" IN (SELECT "id" FROM gone) AND NOT "offline" AND "revokedAt" IS NULL
    RETURNING "id", "userId", "clientId", "sessionId"
  ), dropped AS (
    DELETE FROM "AuthorizationCode"
    WHERE "tenantId" = $1 AND "userId" = ANY($5::text[]) AND "sessionId" IN (SELECT "id" FROM gone) AND "usedAt" IS NULL
  ), devices AS (
    DELETE FROM "DeviceCode"
    WHERE "tenantId" = $1 AND "userId" = ANY($5::text[]) AND "sessionId" IN (SELECT "id" FROM gone) AND "status" = 'approved'
  ), enrolments AS (
    UPDATE "EnrollmentToken" SET "usedAt" = $3::timestamptz, "challenge" = NULL
    WHERE "tenantId" = $1 AND "userId" = ANY($5::text[]) AND NOT "byManagement" AND "usedAt" IS NULL AND $4 = 'revoked'
  ), queued AS (${queueLogoutsSql('gone')}
  )
  SELECT 'session' AS "what", "id", "userId", "clientId", NULL AS "sessionId" FROM children
  UNION ALL SELECT 'grant', "id", "userId", "clientId", "sessionId" FROM revoked`

export type RevokedGrant = { id: string; userId: string; clientId: string; sessionId: string | null }

/**
 * Takes away what hung on ended sessions: their child sessions, grants that are not offline, unused codes; with revoked ones
 * also links to enrol that the person made. Queues the logout tokens of their clients.
 */
export async function releaseSessions(
  sql: Sql,
  tenant: string,
  ended: EndedSession[],
  { now, reason }: Ending,
): Promise<{ children: EndedSession[]; grants: RevokedGrant[] }> {
  const rows = await sql<RevokedGrant & { what: string }>(RELEASE, [
    tenant,
    ended.map(({ id }) => id),
    now,
    reason,
    [...new Set(ended.map(({ userId }) => userId))],
  ])
  return {
    children: rows.filter(({ what }) => what === 'session'),
    grants: rows.filter(({ what }) => what === 'grant'),
  }
}
