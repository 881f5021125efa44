import { createPlatformCtx } from '../../context/context.ts'
import { system } from '../../database/system.ts'
import { lockUserForDelete } from '../lock-user.sql.ts'
import { deleteLockedUser } from '../users.ts'
import { selectDueDeletions, takeDueDeletion } from './account-deletions.sql.ts'
import { sendDeletedNotice } from './deletion-notices.ts'
import { selectNoticeAddresses } from './notice-addresses.sql.ts'

/** Maximum number of users a run. */
const BATCH = 500

/**
 * Deletes a user whose request is due, as an administrator would; false when the user has canceled it, is locked, or is
 * gone. The lock of the row decides against a concurrent cancellation or lock.
 */
async function deleteDueUser(tenant: string, userId: string, now: Date): Promise<boolean> {
  const ctx = createPlatformCtx(tenant)
  const deleted = await ctx.db.transaction(async (tx) => {
    const user = await lockUserForDelete(tx, userId)
    if (!user || user.locked) return null
    if (!(await takeDueDeletion(tx, { userId, now }))) return null
    const addresses = await selectNoticeAddresses(tx, userId)
    await deleteLockedUser(tx, ctx, userId)
    return { addresses }
  })
  if (!deleted) return false
  sendDeletedNotice(ctx, deleted.addresses)
  return true
}

/** Deletes the users whose request is due, in one transaction each. Returns their number. */
export async function deleteDueUsers(now = new Date()): Promise<number> {
  let count = 0
  for (const { tenantId, userId } of await selectDueDeletions(system, { now, limit: BATCH }))
    if (await deleteDueUser(tenantId, userId, now)) count += 1
  return count
}
