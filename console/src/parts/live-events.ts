import { useEffect, useMemo, useRef } from 'react'
import { useSubscription } from 'react-relay/hooks'
import type { GraphQLSubscriptionConfig, OperationType } from 'relay-runtime'

/** New rows that a list announces; of more, the number is of no use. */
export const MAX_ANNOUNCED = 1000

/**
 * Subscribes while the component is shown, from the position `after` of its first rendering: that of the query whose
 * result it follows, so that nothing in between is missed. Other variables begin another stream.
 */
export function useLive<Operation extends OperationType>(config: GraphQLSubscriptionConfig<Operation>): void {
  const key = JSON.stringify({ ...config.variables, after: null })
  // biome-ignore lint/correctness/useExhaustiveDependencies: the variables are compared by value
  useSubscription(useMemo(() => config, [key]))
}

/** What follows each other within this time causes one call. */
const GATHERED_MS = 150

/** A function that calls `onChange` once for calls that follow each other closely. */
export function useGathered(onChange: () => void): () => void {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  return () => {
    clearTimeout(timer.current)
    timer.current = setTimeout(onChange, GATHERED_MS)
  }
}
