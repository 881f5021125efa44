/** Called with the tenant whose rows a committed statement has inserted. Must not throw. */
type Listener = (tenant: string) => void
const listeners = new Map<string, Set<Listener>>()

/** Calls `listener` after each commit that has inserted rows into `table`; returns the function that stops it. */
export function onInserted(table: string, listener: Listener): () => void {
  const ofTable = listeners.get(table) ?? new Set()
  listeners.set(table, ofTable.add(listener))
  return () => ofTable.delete(listener)
}

/** Calls the listeners of a table. */
export function announceInsertion(table: string, tenant: string): void {
  for (const listener of listeners.get(table) ?? []) listener(tenant)
}
