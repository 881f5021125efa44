import { useSyncExternalStore } from 'react'

/**
 * How up to date the screen is. `interruptedAt`: since when no event has been able to arrive, in ms; null while streams
 * run. `hasGap`: events were deleted before they arrived, so that the screen no longer follows from them. `isSignedOut`: the session has ended.
 */
export type Connection = {
  readonly interruptedAt: number | null
  readonly hasGap: boolean
  readonly isSignedOut: boolean
}

let connection: Connection = { interruptedAt: null, hasGap: false, isSignedOut: false }
const listeners = new Set<() => void>()

function update(change: Partial<Connection>): void {
  connection = { ...connection, ...change }
  for (const listener of listeners) listener()
}

export const reportInterruption = (): void =>
  update({ interruptedAt: connection.interruptedAt ?? Date.now() })
export const reportConnection = (): void => update({ interruptedAt: null })
export const reportSignOut = (): void => update({ isSignedOut: true })
export const reportGap = (): void => update({ hasGap: true })

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const useConnection = (): Connection => useSyncExternalStore(subscribe, () => connection)
