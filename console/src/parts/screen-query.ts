import { useCallback, useEffect, useRef } from 'react'
import { fetchQuery, useLazyLoadQuery, useRelayEnvironment } from 'react-relay/hooks'
import type { GraphQLTaggedNode, OperationType, Subscription } from 'relay-runtime'
import { t } from '../words/words.ts'
import { notify } from './notices.tsx'

/**
 * The result of a screen's query, and a function that reads it again, with other variables if they are given: a list that
 * has grown is read at its present length. When that fails, the screen stays as it is, with a message.
 */
export function useScreenQuery<Operation extends OperationType>(
  query: GraphQLTaggedNode,
  variables: Operation['variables'],
): [Operation['response'], (changed?: Partial<Operation['variables']>) => void] {
  const environment = useRelayEnvironment()
  const data = useLazyLoadQuery<Operation>(query, variables, { fetchPolicy: 'store-and-network' })
  const reading = useRef<Subscription | null>(null)
  /** The variables of the last call during a reading. */
  const next = useRef<{ changed: Partial<Operation['variables']> | undefined } | null>(null)
  const read = useRef((_changed?: Partial<Operation['variables']>) => {})
  read.current = (changed) => {
    // A reading that is under way may not see what has just changed.
    if (reading.current) {
      next.current = { changed }
      return
    }
    const end = () => {
      reading.current = null
      const waiting = next.current
      next.current = null
      // Relay gives the present result to those who ask before it is done with it.
      if (waiting) setTimeout(() => read.current(waiting.changed))
    }
    fetchQuery<Operation>(environment, query, { ...variables, ...changed }).subscribe({
      start: (subscription) => {
        reading.current = subscription
      },
      complete: end,
      error: ({ message }: Error) => {
        notify(t('The screen is not up to date: {message}', { message }))
        end()
      },
    })
  }
  const key = JSON.stringify(variables)
  // biome-ignore lint/correctness/useExhaustiveDependencies: other variables are another screen
  useEffect(
    () => () => {
      reading.current?.unsubscribe()
      reading.current = null
      next.current = null
    },
    [key],
  )
  return [data, useCallback((changed) => read.current(changed), [])]
}
