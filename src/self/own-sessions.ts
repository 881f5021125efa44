import type { Ctx } from '../ctx.ts'
import { inTransaction } from '../db.ts'
import { NotFound } from '../errors.ts'
import { parse } from '../fields.ts'
import { requireOwnAccount } from '../scopes.ts'
import { wakeAfterEnding } from '../sessions/after-ending.ts'
import { finishEnding, getSession, revokeSession, revokeUserSessions } from '../sessions/sessions.ts'
import { holdUser } from '../users/hold-user.sql.ts'
import { endOthersOf } from './own-sessions.sql.ts'
import { RevokeViewerSessions } from './self.fields.ts'

/** Ends an active session of the caller's own, the current one too. Throws NotFound for anybody else's. */
export async function revokeViewerSession(
  ctx: Ctx,
  sessionId: string,
): Promise<{ revokedSessionId: string }> {
  const { userId } = requireOwnAccount(ctx)
  const session = await getSession(ctx, sessionId)
  if (session.userId !== userId) throw new NotFound('session')
  return revokeSession(ctx, sessionId)
}

/**
 * Ends all active sessions of the caller but the one that the token depends on and what was handed out in it; with
 * `includeCurrent` those too.
 */
export async function revokeViewerSessions(
  ctx: Ctx,
  input: unknown,
  now = new Date(),
): Promise<{ revokedSessionIds: string[] }> {
  const { userId, sessionId } = requireOwnAccount(ctx)
  const { includeCurrent } = parse(RevokeViewerSessions, input)
  if (includeCurrent) return revokeUserSessions(ctx, userId, now)
  const ended = await inTransaction(async (sql) => {
    await holdUser(sql, ctx.tenant, userId)
    const sessions = await endOthersOf(sql, ctx.tenant, { userId, keptSessionId: sessionId, now })
    await finishEnding(sql, ctx, sessions, 'revoked', now)
    return sessions
  })
  if (ended.length > 0) wakeAfterEnding(ctx.tenant)
  return { revokedSessionIds: ended.map(({ id }) => id).sort() }
}
