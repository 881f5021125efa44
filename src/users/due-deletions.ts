import { notifySessionsEnded } from '../access/session-end-listeners.ts'
import { createPlatformCtx } from '../context/context.ts'
import { SYSTEM_TENANT } from '../core/scopes.ts'
import { inTransactionFor, sql } from '../database/db.ts'
import { selectDueDeletions, takeDueDeletion } from './account-deletions.sql.ts'
import { sendDeletedNotice } from './deletion-notices.ts'
import { lockUserForDelete } from './lock-user.sql.ts'
import { selectNoticeAddresses } from './notice-addresses.sql.ts'
import { deleteLockedUser } from './users.ts'

/** Maximum number of users a run. */
const BATCH = 500

/**
 * Deletes a user whose request is due, as an administrator would; false when the user has canceled it, is locked, or is
 * gone. The lock of the row decides against a concurrent cancellation or lock.
 */
async function deleteDueUser(tenant: string, userId: string, now: Date): Promise<boolean> {
  const ctx = createPlatformCtx(tenant)
  const deleted = await inTransactionFor(ctx, async (tx) => {
    const user = await lockUserForDelete(tx, tenant, userId)
    if (!user || user.locked) return null
    if (!(await takeDueDeletion(tx, tenant, { userId, now }))) return null
    const addresses = await selectNoticeAddresses(tx, tenant, userId)
    await deleteLockedUser(tx, ctx, userId)
    return { addresses }
  })
  if (!deleted) return false
  notifySessionsEnded(tenant)
  sendDeletedNotice(ctx, deleted.addresses)
  return true
}

/** Deletes the users whose request is due, in one transaction each. Returns their number. */
export async function deleteDueUsers(now = new Date()): Promise<number> {
  let count = 0
  for (const { tenantId, userId } of await selectDueDeletions(sql, SYSTEM_TENANT, { now, limit: BATCH }))
    if (await deleteDueUser(tenantId, userId, now)) count += 1
  return count
}
