import { wakeReaders } from '../events/log.ts'

const listeners = new Set<() => void>()

/**
 * Wakes readers of the event log and the delivery of logout tokens. Call it after a transaction that ended
 * sessions.
 */
export function notifySessionsEnded(tenant: string): void {
  wakeReaders(tenant)
  for (const listener of listeners) listener()
}

/** Calls `listener` when this process has ended sessions; returns the function that stops it. */
export function onSessionsEnded(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
