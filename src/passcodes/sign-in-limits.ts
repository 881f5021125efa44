import { requireNoEscalation } from '../access/require-scope.ts'
import type { Ctx } from '../context/context.ts'
import { NotFound } from '../core/errors.ts'
import { getRoleScopes } from '../core/scopes.ts'
import type { Db } from '../database/handle.ts'
import { createEvent } from '../events/create-event.ts'
import { recordEvents } from '../events/log.ts'
import { lockUserRow } from '../users/lock-user.sql.ts'
import { getUser } from '../users/users.ts'
import { resetLimitCounters, type SignInLimit, selectSignInLimits } from './passcode-budgets.sql.ts'

export type { SignInLimit }

/** The wrong guesses at codes and the sent codes of the addresses of each of these users. One statement. */
export async function findSignInLimits(
  db: Db,
  userIds: string[],
  now = new Date(),
): Promise<{ id: string; limits: SignInLimit[] }[]> {
  const rows = await selectSignInLimits(db, userIds, now)
  return userIds.map((id) => ({
    id,
    limits: rows.flatMap(({ userId, ...limit }) => (userId === id ? [limit] : [])),
  }))
}

/** Those of one user. Throws NotFound. */
export async function listSignInLimits(ctx: Ctx, userId: string): Promise<SignInLimit[]> {
  const { id } = await getUser(ctx, userId)
  const [found] = await findSignInLimits(ctx.db, [id])
  return found?.limits ?? []
}

/**
 * Resets them. Throws NotFound, and Forbidden for a user whose roles permit more than the caller's scopes:
 * each reset permits new guesses.
 */
export async function resetSignInLimits(ctx: Ctx, userId: string): Promise<{ userId: string }> {
  await ctx.db.transaction(async (tx) => {
    const user = await lockUserRow(tx, userId)
    if (!user) throw new NotFound('user')
    requireNoEscalation(ctx, getRoleScopes(user.roles))
    await resetLimitCounters(tx, userId)
    await recordEvents(tx, ctx, [createEvent('user.limits_reset', { userId })])
  })
  return { userId }
}
