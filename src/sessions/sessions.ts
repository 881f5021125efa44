import { revokeSessions } from '../access/revocation/revocation.ts'
import type { Ctx } from '../context/context.ts'
import { takeSignIn } from '../coordination/person-budgets.ts'
import { newId, randomToken, sha256 } from '../core/crypto.ts'
import { NotFound, UserLocked } from '../core/errors.ts'
import { lookUpLocation } from '../core/network/ip-location.ts'
import { type Db, Handle } from '../database/handle.ts'
import { listInOrder } from '../database/page-query.ts'
import { createEvent } from '../events/create-event.ts'
import { createEventRow } from '../events/log.ts'
import type { EndReason } from '../events/reasons.ts'
import type { Page, PageArgs } from '../schema/page.ts'
import {
  type BrowserSession,
  selectBrowserSession,
  type UsableSession,
  updateBrowserUse,
} from './browser-session-use.sql.ts'
import { type NewProof, type SessionProof, toSessionProof } from './proofs.ts'
import { insertSession, type NewSession, type SessionRow, updateReauthenticated } from './sessions.sql.ts'

export type { BrowserSession }

export type NewSessionOptions = {
  userId: string
  kind: 'browser' | 'api' | 'oidc'
  clientId?: string | null
  /** The browser session with which an OIDC session ends. */
  parentId?: string | null
  /** The grant with which it was issued and is revoked. */
  grantId?: string | null
  /** Null for a browser session, whose end follows from the settings of the tenant. */
  expiresAt: Date | null
  refreshable: boolean
  /** The organization of an OIDC session, and the sign-in of its grant, which must satisfy the organization. */
  organization?: { id: string; authenticatedAt: Date; amr: string[] } | null
  /** How the user authenticated; null without a proof. An OIDC session has the proofs of its parent. */
  proof: NewProof | null
  /** The proof that was given before, which `proof` completes. */
  first?: SessionProof | null
  /**
   * Created by an administrator without a proof of the user. Such sessions survive the first verification of
   * an address.
   */
  byManagement?: boolean
  /** IP address and User-Agent of the user, when the caller is a backend. Default: those of the call. */
  seenFrom?: { ip: string | null; userAgent: string | null; deviceId?: string | null | undefined }
}

/** A session that is to be inserted, with its event. `token` is the only copy: 256 random bits in base64url. */
export type PreparedSession = { values: NewSession; event: object; token: string }

/** Prepares a new session. */
export function prepareSession(ctx: Ctx, start: NewSessionOptions, now: Date): PreparedSession {
  const token = randomToken()
  const id = newId('session')
  const { ip, userAgent, deviceId } = start.seenFrom ?? ctx
  const clientId = start.clientId ?? null
  const proofs = start.proof ? listNewProofs({ first: start.first, proof: start.proof }, now) : []
  const [first] = proofs
  return {
    token,
    event: createEventRow(
      ctx,
      createEvent(
        'session.started',
        { userId: start.userId, sessionId: id, clientId },
        { kind: start.kind, ...(first && { method: first.method }) },
      ),
    ),
    values: {
      id,
      userId: start.userId,
      kind: start.kind,
      clientId,
      parentId: start.parentId ?? null,
      grantId: start.grantId ?? null,
      tokenHash: sha256(token),
      refreshable: start.refreshable,
      proofs,
      byManagement: start.byManagement ?? false,
      organizationId: start.organization?.id ?? null,
      authenticatedAt: start.organization?.authenticatedAt ?? null,
      amr: start.organization?.amr ?? [],
      ip,
      location: lookUpLocation(ip),
      userAgent,
      deviceId: deviceId ?? null,
      expiresAt: start.expiresAt,
      now,
    },
  }
}

/**
 * Starts a session inside the caller's transaction (`sql` of inTransaction, or sqlOf(tx)) together with its
 * event: one statement. Wake the readers after the commit. Throws UserLocked when the user is locked or
 * deleted, or when the parent has ended or the grant was revoked.
 */
export async function startSession(
  tx: Db,
  ctx: Ctx,
  start: NewSessionOptions,
  now = new Date(),
): Promise<{ session: SessionRow; token: string }> {
  const { values, event, token } = prepareSession(ctx, start, now)
  const session = await insertSession(tx, values, event)
  if (!session) throw new UserLocked()
  return { session, token }
}

/** The user who signs in, and how: by a proof, or by one that completes a first one. */
export type SignInProof = { userId: string; proof: NewProof; first?: SessionProof | null }

const listNewProofs = (
  { first, proof }: Omit<SignInProof, 'userId'>,
  now: Date,
): [SessionProof, ...SessionProof[]] => {
  const given = toSessionProof(proof, now)
  return first ? [first, given] : [given]
}

/** The options of the session of a hosted sign-in. Its idle end moves with `findBrowserSession`. */
export const buildBrowserSessionOptions = (signIn: SignInProof): NewSessionOptions => ({
  ...signIn,
  kind: 'browser',
  refreshable: false,
  expiresAt: null,
})

/** Starts the session of a hosted sign-in, as `startSession` does. */
export const startBrowserSession = (
  tx: Db,
  ctx: Ctx,
  signIn: SignInProof,
  now = new Date(),
): Promise<{ session: SessionRow; token: string }> =>
  startSession(tx, ctx, buildBrowserSessionOptions(signIn), now)

/**
 * Adds a proof to a browser session whose user has signed in again (OIDC
 * Core, section 3.1.2.1), inside the caller's transaction: one statement. The token is replaced, as at a
 * start, so that a copy of the previous one does not gain a recent sign-in. Null unless the session is active
 * and of this user. Wake the readers after the commit.
 */
export async function reauthenticateSession(
  tx: Db,
  ctx: Ctx,
  { sessionId, userId, ...proven }: { sessionId: string } & SignInProof,
  now = new Date(),
): Promise<{ session: SessionRow; token: string } | null> {
  const token = randomToken()
  const proofs = listNewProofs(proven, now)
  const session = await updateReauthenticated(
    tx,
    {
      id: sessionId,
      userId,
      tokenHash: sha256(token),
      methods: proofs.map(({ method }) => method),
      proofs,
      ip: ctx.ip,
      location: lookUpLocation(ctx.ip),
      userAgent: ctx.userAgent,
      now,
    },
    createEventRow(
      ctx,
      createEvent('session.reauthenticated', { userId, sessionId }, { method: proofs[0].method }),
    ),
  )
  return session && { session, token }
}

/** A session of the browser in which a user signs in. */
export type PresentSession = { id: string; userId: string; isActive: boolean }

/**
 * Signs a user in: raises the user's session among those of the browser, or starts one, inside the caller's
 * transaction. Throws UserLocked and RateLimited.
 */
export const enterBrowserSession = async (
  tx: Db,
  ctx: Ctx,
  { present, ...signIn }: { present: readonly PresentSession[] } & SignInProof,
  now: Date,
): Promise<{ session: SessionRow; token: string }> => {
  takeSignIn(ctx.tenant, signIn.userId)
  const own = present.find(({ userId, isActive }) => userId === signIn.userId && isActive)
  return (
    (own && (await reauthenticateSession(tx, ctx, { sessionId: own.id, ...signIn }, now))) ||
    startBrowserSession(tx, ctx, signIn, now)
  )
}

/** Who uses a session, as far as it is known. */
type Caller = Partial<Pick<Ctx, 'ip' | 'userAgent'>>

/** Records the use of a browser session if it is due, at most once a minute. It extends the idle expiry. */
export async function recordBrowserUse(
  tenant: string,
  session: UsableSession,
  now: Date,
  { ip = null, userAgent = null }: Caller,
): Promise<void> {
  if (!session.isUseDue) return
  await updateBrowserUse(new Handle({ tenant }), session, {
    now,
    ip,
    location: lookUpLocation(ip),
    userAgent,
  })
}

/**
 * Finds the browser session of a cookie's token; null unless it is active and its user is not locked. The use
 * extends its idle expiry, by the settings of the tenant. One statement; another when the use is recorded.
 */
export async function findBrowserSession(
  tenant: string,
  token: string,
  now = new Date(),
  caller: Caller = {},
): Promise<BrowserSession | null> {
  const session = await selectBrowserSession(new Handle({ tenant }), { tokenHash: sha256(token), now })
  if (session) await recordBrowserUse(tenant, session, now, caller)
  return session
}

/**
 * The condition of active sessions in a Prisma `where`. A lock ends the sessions of the user, so it needs no
 * condition.
 */
export const buildActiveCondition = () => ({ endedAt: null, expiresAt: { gt: new Date() } })
const HIDDEN_COLUMNS = { tokenHash: true, previousTokenHash: true } as const

/**
 * Lists the active sessions of a user by id. Throws NotFound when the user does not exist, and InvalidInput
 * about the paging.
 */
export const listUserSessions = (ctx: Ctx, userId: string, args: PageArgs): Promise<Page<SessionRow>> =>
  listInOrder(ctx, args, {
    name: `${ctx.tenant}:sessions:${userId}`,
    column: 'id',
    read: async (page) => {
      const user = await ctx.db.prisma.user.findUnique({
        where: { tenantId_id: { tenantId: ctx.tenant, id: userId } },
        select: {
          sessions: { ...page, where: { ...buildActiveCondition(), ...page.where }, omit: HIDDEN_COLUMNS },
        },
      })
      if (!user) throw new NotFound('user')
      return user.sessions
    },
    countAll: () => countUserSessions(ctx, userId),
  })

/** Counts the active sessions of a user. */
export const countUserSessions = (ctx: Ctx, userId: string): Promise<number> =>
  ctx.db.prisma.session.count({ where: { tenantId: ctx.tenant, userId, ...buildActiveCondition() } })

/** An active session. Throws NotFound. */
export async function getSession(ctx: Ctx, sessionId: string): Promise<SessionRow> {
  const session = await ctx.db.prisma.session.findUnique({
    where: { tenantId_id: { tenantId: ctx.tenant, id: sessionId }, ...buildActiveCondition() },
    omit: HIDDEN_COLUMNS,
  })
  if (!session) throw new NotFound('session')
  return session
}

/**
 * Ends an active session, its OIDC sessions, its grants (offline ones stay) and its unused codes, in one
 * transaction. False when no such session is active.
 */
export async function endSession(ctx: Ctx, sessionId: string, reason: EndReason): Promise<boolean> {
  const ended = await ctx.db.transaction((tx) =>
    revokeSessions(tx, ctx, { kind: 'session', sessionId }, reason, new Date()),
  )
  return ended.length > 0
}
