import { wakeReaders } from '../events.ts'

const listeners = new Set<() => void>()

/** Call after a transaction that ended sessions has committed: wakes readers of the log, and who tells the clients. */
export function wakeAfterEnding(tenant: string): void {
  wakeReaders(tenant)
  for (const listener of listeners) listener()
}

/** Listens to the ends of sessions in this process; returns what stops that. */
export function onEnding(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
