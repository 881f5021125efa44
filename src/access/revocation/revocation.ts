import type { Ctx } from '../../context/context.ts'
import type { Db } from '../../database/handle.ts'
import type { NewEvent } from '../../events/create-event.ts'
import { createEvent } from '../../events/create-event.ts'
import { createEventRow, recordEvents } from '../../events/log.ts'
import type { EndReason, GrantEndReason } from '../../events/reasons.ts'
import { type GrantScope, revokeGrantRows } from './grant-revocation.sql.ts'
import {
  type EndedSession,
  type Ending,
  endDependents,
  type Revoked,
  revokeUser,
  revokeUserClient,
} from './revocation.sql.ts'
import { endSessions, type SessionScope } from './session-revocation.sql.ts'

/**
 * All access of a user, including offline grants and live passcodes; or the access of one client to the user.
 */
export type AccessScope =
  | { kind: 'user'; userId: string }
  | { kind: 'user and client'; userId: string; clientId: string }

/** Creates the events of ended sessions, then those of revoked grants. */
export const createRevocationEvents = ({ sessions, grants }: Revoked, reason: EndReason): NewEvent[] => [
  ...sessions.map((session) =>
    createEvent(
      'session.ended',
      { userId: session.userId, sessionId: session.id, clientId: session.clientId },
      { reason },
    ),
  ),
  ...grants.map((grant) =>
    createEvent(
      'grant.revoked',
      { userId: grant.userId, sessionId: grant.sessionId, grantId: grant.id, clientId: grant.clientId },
      { reason },
    ),
  ),
]

/**
 * Revokes access inside the caller's transaction: ends sessions, revokes grants, deletes codes, queues logout
 * tokens, and records the events after those of `before`. For all access of a user, it also voids enrollment
 * tokens and clears live passcodes. Two statements. Lock the user's row first, by an earlier statement: only
 * a later statement sees a session that was being started.
 */
export async function revokeAccess(
  tx: Db,
  ctx: Ctx,
  scope: AccessScope,
  reason: EndReason,
  { now = new Date(), before = [] }: { now?: Date; before?: NewEvent[] } = {},
): Promise<void> {
  const revoked =
    scope.kind === 'user'
      ? await revokeUser(tx, scope.userId, reason)
      : await revokeUserClient(tx, scope, { now, reason })
  await recordEvents(tx, ctx, [...before, ...createRevocationEvents(revoked, reason)])
}

/**
 * Revokes what depends on sessions that were just ended, and records the events of all: two statements, or
 * none.
 */
export async function cascadeSessionEnd(
  tx: Db,
  ctx: Ctx,
  ended: EndedSession[],
  { now, reason }: Ending,
): Promise<void> {
  if (ended.length === 0) return
  const { sessions, grants } = await endDependents(tx, ended, { now, reason })
  await recordEvents(tx, ctx, createRevocationEvents({ sessions: [...ended, ...sessions], grants }, reason))
}

/**
 * Ends sessions inside the caller's transaction, revokes what was issued in them except offline grants, and
 * records the events: three statements, one when there is no such session. Lock the user's row first, unless
 * the scope is one session or expired ones. Returns the sessions
 * of the scope, without their child sessions.
 */
export async function revokeSessions(
  tx: Db,
  ctx: Ctx,
  scope: SessionScope,
  reason: EndReason,
  now = new Date(),
): Promise<EndedSession[]> {
  const ended = await endSessions(tx, scope, { now, reason })
  await cascadeSessionEnd(tx, ctx, ended, { now, reason })
  return ended
}

/**
 * Revokes grants, ends the sessions that were issued with them, and records the events: one statement. True
 * when a grant was revoked. The sessions end as 'revoked', regardless of `reason`.
 */
export const revokeGrants = (
  tx: Db,
  ctx: Ctx,
  scope: GrantScope,
  reason: GrantEndReason,
  now: Date,
): Promise<boolean> =>
  revokeGrantRows(tx, scope, {
    grantEvent: createEventRow(ctx, createEvent('grant.revoked', null, { reason })),
    sessionEvent: createEventRow(ctx, createEvent('session.ended', null, { reason: 'revoked' })),
    now,
  })
