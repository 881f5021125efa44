import type { Ctx } from '../../context/context.ts'
import { NotFound, UserLocked } from '../../core/errors.ts'
import type { Tx } from '../../database/handle.ts'
import { credentialEnrolled, credentialRevoked } from '../../events/credential-events.ts'
import { recordEvents } from '../../events/log.ts'
import { announceAccountChange } from '../../users/deletion/account-notices.ts'
import { lockEnrollee } from '../enrollment.sql.ts'
import { type NewSecondFactor, replaceSecondFactor } from './second-factors.sql.ts'

/** Runs after the row of the user was locked; may throw. */
type Check = (tx: Tx) => Promise<void>

/**
 * Stores a second factor of a user instead of the earlier one of its type, with the events, inside the caller's
 * transaction. `isStored` is false when it was stored before. Throws NotFound and UserLocked.
 */
export async function insertSecondFactor(
  tx: Tx,
  ctx: Ctx,
  factor: NewSecondFactor,
  now: Date,
  check: Check = async () => {},
): Promise<{ isStored: boolean; isReplacement: boolean }> {
  const { id, userId, type } = factor
  const user = await lockEnrollee(tx, userId)
  if (!user) throw new NotFound('user')
  if (user.locked) throw new UserLocked()
  await check(tx)
  const { isStored, replacedIds } = await replaceSecondFactor(tx, factor, now)
  if (isStored)
    await recordEvents(tx, ctx, [
      ...replacedIds.map((replacedId) => credentialRevoked({ id: replacedId, userId, type })),
      credentialEnrolled({ id, userId, type }),
    ])
  return { isStored, isReplacement: replacedIds.length > 0 }
}

/** Stores a second factor as insertSecondFactor does, and announces it. False when it was stored before. */
export async function storeSecondFactor(
  ctx: Ctx,
  factor: NewSecondFactor,
  now: Date,
  check?: Check,
): Promise<boolean> {
  const { userId, type } = factor
  const { isStored, isReplacement } = await ctx.db.transaction((tx) =>
    insertSecondFactor(tx, ctx, factor, now, check),
  )
  // The first recovery codes come with the app, which was announced.
  if (isStored && (type === 'totp' || isReplacement)) announceAccountChange(ctx, userId, `${type}-added`, now)
  return isStored
}
