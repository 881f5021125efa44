import { newId, randomToken, sha256 } from '../crypto.ts'
import type { Ctx } from '../ctx.ts'
import { dbFor, inTransaction, type Sql, type SqlValues, sql } from '../db.ts'
import { NotFound, UserLocked } from '../errors.ts'
import { type EndReason, type NewEvent, recordEvents, toEventRow } from '../events.ts'
import { type Page, type PageArgs, parsePaging, toPage } from '../page.ts'
import { after } from '../time.ts'
import { holdUser } from '../users/hold-user.sql.ts'
import { wakeAfterEnding } from './after-ending.ts'
import { locationOf } from './location.ts'
import { type BrowserSession, browserSessionValues, selectBrowserSession } from './session-use.sql.ts'
import {
  type EndedSession,
  endAllOf,
  endOne,
  insertSession,
  type RevokedGrant,
  releaseSessions,
  type SessionRow,
} from './sessions.sql.ts'

/** A browser session that nobody uses ends after half a day, and any after a month. */
const BROWSER_IDLE_SECONDS = 12 * 3600
export const BROWSER_LIFETIME_SECONDS = 30 * 86_400

export type StartSession = {
  userId: string
  kind: 'browser' | 'api' | 'oidc'
  clientId?: string | null
  /** The browser session that an OIDC session ends with. */
  parentId?: string | null
  /** The grant that it is handed out with, and revoked with. */
  grantId?: string | null
  expiresAt: Date
  refreshable: boolean
  /** How the person proved who they are (RFC 8176). */
  amr: string[]
  /** An administrator's assertion rather than a person's proof; such sessions outlive the first proof of an address. */
  byManagement?: boolean
  /** The person's own address and browser, where the call is not theirs. The call's when left out. */
  seenFrom?: { ip: string | null; userAgent: string | null }
}

/**
 * Starts a session inside the caller's transaction (`sql` of inTransaction, or sqlOf(tx)) together with its event:
 * one statement. Wake the readers after it committed. Throws UserLocked when the user is locked or gone, or when the
 * parent has ended or the grant was revoked. `token` is the only copy: 256 random bits in base64url.
 */
export async function startSession(
  sql: Sql,
  ctx: Ctx,
  start: StartSession,
  now = new Date(),
): Promise<{ session: SessionRow; token: string }> {
  const token = randomToken()
  const id = newId('session')
  const { ip, userAgent } = start.seenFrom ?? ctx
  const event = toEventRow(ctx, {
    type: 'session.started',
    userId: start.userId,
    sessionId: id,
    subjectIds: start.clientId ? [start.clientId] : [],
    detail: { kind: start.kind },
  })
  const session = await insertSession(
    sql,
    ctx.tenant,
    {
      id,
      userId: start.userId,
      kind: start.kind,
      clientId: start.clientId ?? null,
      parentId: start.parentId ?? null,
      grantId: start.grantId ?? null,
      tokenHash: sha256(token),
      refreshable: start.refreshable,
      amr: start.amr,
      byManagement: start.byManagement ?? false,
      ip,
      location: locationOf(ip),
      userAgent,
      expiresAt: start.expiresAt,
      now,
    },
    event,
  )
  if (!session) throw new UserLocked()
  return { session, token }
}

/** Starts the session of a hosted sign-in, as `startSession` does. Its idle end moves with `findBrowserSession`. */
export const startBrowserSession = (
  sql: Sql,
  ctx: Ctx,
  { userId, amr }: Pick<StartSession, 'userId' | 'amr'>,
  now = new Date(),
): Promise<{ session: SessionRow; token: string }> =>
  startSession(
    sql,
    ctx,
    {
      userId,
      amr,
      kind: 'browser',
      refreshable: false,
      expiresAt: after(now, BROWSER_IDLE_SECONDS),
    },
    now,
  )

/** The values of a statement that starts WITH_BROWSER_SESSION, for the cookie's token. */
export const browserSessionLookup = (
  tenant: string,
  token: string,
  now: Date,
  seen: Partial<Pick<Ctx, 'ip' | 'userAgent'>> = {},
): SqlValues =>
  browserSessionValues(
    tenant,
    sha256(token),
    now,
    { ip: seen.ip ?? null, location: locationOf(seen.ip ?? null), userAgent: seen.userAgent ?? null },
    { idleSeconds: BROWSER_IDLE_SECONDS, lifetimeSeconds: BROWSER_LIFETIME_SECONDS },
  )

/**
 * The browser session that a cookie's token names, or null unless it is active and its user is not locked. Using it
 * moves its idle end (12 h on, 30 days from its start at most). One statement.
 */
export const findBrowserSession = (
  tenant: string,
  token: string,
  now = new Date(),
  seen: Partial<Pick<Ctx, 'ip' | 'userAgent'>> = {},
): Promise<BrowserSession | null> => selectBrowserSession(sql, browserSessionLookup(tenant, token, now, seen))

/** Which sessions can be seen, in a Prisma `where`. A lock ends the sessions of its user, so that it need not be asked. */
export const activeSessions = (now = new Date()) => ({ endedAt: null, expiresAt: { gt: now } })
const WITHOUT_HASHES = { tokenHash: true, previousTokenHash: true } as const

/** The active sessions of a user, by id. Throws NotFound when there is no such user, InvalidInput about the paging. */
export async function listUserSessions(ctx: Ctx, userId: string, args: PageArgs): Promise<Page<SessionRow>> {
  const list = sessionListOf(ctx.tenant, userId)
  const paging = parsePaging(args, list)
  const backward = paging.mode === 'cursor' && paging.backward
  const seek = paging.mode === 'cursor' ? paging.seek : null
  const active = activeSessions()
  const user = await dbFor(ctx.tenant).user.findUnique({
    where: { tenantId_id: { tenantId: ctx.tenant, id: userId } },
    select: {
      sessions: {
        where: { ...active, ...(seek && { id: backward ? { lt: seek.id } : { gt: seek.id } }) },
        orderBy: { id: backward ? 'desc' : 'asc' },
        skip: paging.mode === 'offset' ? paging.page * paging.pageSize : 0,
        take: paging.pageSize + 1,
        omit: WITHOUT_HASHES,
      },
    },
  })
  if (!user) throw new NotFound('user')
  return toPage(paging, user.sessions, {
    name: list,
    keyOf: ({ id }) => ({ value: null, id }),
    countAll: () => countUserSessions(ctx, userId),
  })
}

/** How many active sessions a user has. */
export const countUserSessions = (ctx: Ctx, userId: string): Promise<number> =>
  dbFor(ctx.tenant).session.count({ where: { tenantId: ctx.tenant, userId, ...activeSessions() } })

/** What cursors of a user's sessions are bound to. */
const sessionListOf = (tenant: string, userId: string): string => `${tenant}:sessions:${userId}`

/** An active session. Throws NotFound. */
export async function getSession(ctx: Ctx, sessionId: string): Promise<SessionRow> {
  const session = await dbFor(ctx.tenant).session.findUnique({
    where: { tenantId_id: { tenantId: ctx.tenant, id: sessionId }, ...activeSessions() },
    omit: WITHOUT_HASHES,
  })
  if (!session) throw new NotFound('session')
  return session
}

function endingEvents(sessions: EndedSession[], grants: RevokedGrant[], reason: EndReason): NewEvent[] {
  return [
    ...sessions.map(
      ({ id, userId, clientId }): NewEvent => ({
        type: 'session.ended',
        userId,
        sessionId: id,
        subjectIds: clientId ? [clientId] : [],
        detail: { reason },
      }),
    ),
    ...grants.map(
      ({ id, userId, clientId, sessionId }): NewEvent => ({
        type: 'grant.revoked',
        userId,
        sessionId,
        subjectIds: [id, clientId],
        detail: { reason },
      }),
    ),
  ]
}

/** Takes away what hung on sessions that were just ended, queues what their clients are told, and writes all their events. */
export async function finishEnding(sql: Sql, ctx: Ctx, ended: EndedSession[], reason: EndReason, now: Date) {
  if (ended.length === 0) return
  const { children, grants } = await releaseSessions(sql, ctx.tenant, ended, { now, reason })
  await recordEvents(sql, ctx, endingEvents([...ended, ...children], grants, reason))
}

/**
 * Ends an active session, its OIDC sessions, its grants (offline ones stay) and its unused codes, in one transaction.
 * False when there is no such active session.
 */
export async function endSession(
  ctx: Ctx,
  sessionId: string,
  reason: EndReason,
  now = new Date(),
): Promise<boolean> {
  const ended = await inTransaction(async (sql) => {
    const session = await endOne(sql, ctx.tenant, sessionId, { now, reason })
    if (session) await finishEnding(sql, ctx, [session], reason, now)
    return session !== null
  })
  if (ended) wakeAfterEnding(ctx.tenant)
  return ended
}

/** Ends a session for an administrator. Throws NotFound when it is not an active one. */
export async function revokeSession(ctx: Ctx, sessionId: string): Promise<{ revokedSessionId: string }> {
  if (!(await endSession(ctx, sessionId, 'revoked'))) throw new NotFound('session')
  return { revokedSessionId: sessionId }
}

/** Ends all active sessions of a user. Throws NotFound when there is no such user. */
export async function revokeUserSessions(
  ctx: Ctx,
  userId: string,
  now = new Date(),
): Promise<{ revokedSessionIds: string[] }> {
  const ending = { now, reason: 'revoked' } as const
  const ended = await inTransaction(async (sql) => {
    if (!(await holdUser(sql, ctx.tenant, userId))) throw new NotFound('user')
    const sessions = await endAllOf(sql, ctx.tenant, userId, ending)
    await finishEnding(sql, ctx, sessions, ending.reason, now)
    return sessions
  })
  if (ended.length > 0) wakeAfterEnding(ctx.tenant)
  return { revokedSessionIds: ended.map(({ id }) => id).sort() }
}
