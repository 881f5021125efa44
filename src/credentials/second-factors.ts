import type { Ctx } from '../core/context.ts'
import { NotFound, UserLocked } from '../core/errors.ts'
import { inTransaction, type Sql } from '../database/db.ts'
import { credentialEnrolled, credentialRevoked } from '../events/credential-events.ts'
import { recordEvents, wakeReaders } from '../events/log.ts'
import { announceAccountChange } from '../users/account-notices.ts'
import { lockEnrollee } from './enrollment.sql.ts'
import { type NewSecondFactor, replaceSecondFactor } from './second-factors.sql.ts'

/**
 * Stores a second factor of a user instead of the earlier one of its type, with the events. `check` runs after
 * the user's row was locked. False when it was stored before. Throws NotFound and UserLocked.
 */
export async function storeSecondFactor(
  ctx: Ctx,
  factor: NewSecondFactor,
  now: Date,
  check: (sql: Sql) => Promise<void> = async () => {},
): Promise<boolean> {
  const { id, userId, type } = factor
  const { isStored, isReplacement } = await inTransaction(async (sql) => {
    const user = await lockEnrollee(sql, ctx.tenant, userId)
    if (!user) throw new NotFound('user')
    if (user.locked) throw new UserLocked()
    await check(sql)
    const { isStored, replacedIds } = await replaceSecondFactor(sql, ctx.tenant, factor, now)
    if (isStored)
      await recordEvents(sql, ctx, [
        ...replacedIds.map((replacedId) => credentialRevoked({ id: replacedId, userId, type })),
        credentialEnrolled({ id, userId, type }),
      ])
    return { isStored, isReplacement: replacedIds.length > 0 }
  })
  wakeReaders(ctx.tenant)
  // The first recovery codes come with the app, which was announced.
  if (isStored && (type === 'totp' || isReplacement)) announceAccountChange(ctx, userId, `${type}-added`, now)
  return isStored
}
