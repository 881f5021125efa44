import { requireOwnChange } from '../access/require-scope.ts'
import { revokeSessions } from '../access/revocation/revocation.ts'
import type { Ctx } from '../context/context.ts'
import { NotFound } from '../core/errors.ts'
import { parseInput } from '../schema/input-shapes.ts'
import { revokeSession, revokeUserSessions } from '../sessions/revoke-sessions.ts'
import { lockUserRow } from '../users/lock-user.sql.ts'
import { RevokeViewerSessions } from './account.fields.ts'

/**
 * Ends an active session of the caller, which may be the current one. Throws NotFound, also for another
 * user's session.
 */
export async function revokeViewerSession(
  ctx: Ctx,
  sessionId: string,
): Promise<{ revokedSessionId: string }> {
  const { userId } = requireOwnChange(ctx)
  return revokeSession(ctx, sessionId, {
    assertAllowed: (_ctx, owner) => {
      if (owner.userId !== userId) throw new NotFound('session')
    },
  })
}

/**
 * Ends all active sessions of the caller except the one that the token depends on and its client sessions;
 * with `includeCurrent` those as well. Throws InvalidInput.
 */
export async function revokeViewerSessions(
  ctx: Ctx,
  input: unknown,
): Promise<{ revokedSessionIds: string[] }> {
  const now = new Date()
  const { userId, sessionId } = requireOwnChange(ctx)
  const { includeCurrent } = parseInput(RevokeViewerSessions, input)
  if (includeCurrent) return revokeUserSessions(ctx, userId, { assertAllowed: () => {}, now })
  const ended = await ctx.db.transaction(async (tx) => {
    await lockUserRow(tx, userId)
    const scope = { kind: 'other sessions', userId, keptSessionId: sessionId } as const
    return revokeSessions(tx, ctx, scope, 'revoked', now)
  })
  return { revokedSessionIds: ended.map(({ id }) => id).sort() }
}
