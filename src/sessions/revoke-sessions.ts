import { requireNoEscalation } from '../access/require-scope.ts'
import { revokeSessions } from '../access/revocation/revocation.ts'
import type { Ctx } from '../context/context.ts'
import { NotFound } from '../core/errors.ts'
import { getRoleScopes, type HeldRoles } from '../core/scopes.ts'
import { lockSessionOwner, lockUserRow } from '../users/lock-user.sql.ts'

/** A user whose access is about to end. */
type Owner = { userId: string; roles: HeldRoles }
/** Throws when the caller may not end the access of this user. */
type OwnerCheck = (ctx: Ctx, owner: Owner) => void

/** The caller must have all scopes of the user's roles. Throws Forbidden. */
const assertCanRevoke: OwnerCheck = (ctx, { roles }) => requireNoEscalation(ctx, getRoleScopes(roles))

/**
 * Ends an active session for an administrator. Throws NotFound when it is not active, and Forbidden for a
 * session of a user whose roles permit more than the caller's scopes, unless `assertAllowed` has another
 * rule.
 */
export async function revokeSession(
  ctx: Ctx,
  sessionId: string,
  { assertAllowed = assertCanRevoke, now = new Date() } = {},
): Promise<{ revokedSessionId: string }> {
  await ctx.db.transaction(async (tx) => {
    const owner = await lockSessionOwner(tx, sessionId)
    if (!owner) throw new NotFound('session')
    const ended = await revokeSessions(tx, ctx, { kind: 'session', sessionId }, 'revoked', now)
    if (ended.length === 0) throw new NotFound('session')
    assertAllowed(ctx, owner)
  })
  return { revokedSessionId: sessionId }
}

/**
 * Ends all active sessions of a user. Throws NotFound when there is no such user, and Forbidden like
 * revokeSession.
 */
export async function revokeUserSessions(
  ctx: Ctx,
  userId: string,
  { assertAllowed = assertCanRevoke, now = new Date() } = {},
): Promise<{ revokedSessionIds: string[] }> {
  const ended = await ctx.db.transaction(async (tx) => {
    const user = await lockUserRow(tx, userId)
    if (!user) throw new NotFound('user')
    assertAllowed(ctx, { userId, roles: user.roles })
    return revokeSessions(tx, ctx, { kind: 'sessions', userId }, 'revoked', now)
  })
  return { revokedSessionIds: ended.map(({ id }) => id).sort() }
}
