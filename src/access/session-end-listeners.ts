import { announceInsertion } from '../database/insertions.ts'
import { wakeReaders } from '../events/log.ts'

/**
 * Wakes readers of the event log and the delivery of logout tokens. Call it after a transaction that ended
 * sessions.
 */
export function notifySessionsEnded(tenant: string): void {
  wakeReaders(tenant)
  announceInsertion('LogoutDelivery', tenant)
}
