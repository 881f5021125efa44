import { useEffect, useRef } from 'react'
import { graphql } from 'react-relay/hooks'
import type { EventType, liveChangesSubscription } from '../generated/liveChangesSubscription.graphql.ts'
import { useLive } from './live-events.ts'

/** Events that follow each other within this time cause one call. */
const GATHERED_MS = 150

/** Tells that something has changed: about a subject, or of some types of events. */
export function LiveChanges({
  subjectId,
  organizationId,
  types,
  after,
  onChange,
}: {
  subjectId?: string
  organizationId?: string
  types?: readonly EventType[]
  after: string | null | undefined
  onChange: () => void
}) {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  useLive<liveChangesSubscription>({
    subscription: graphql`
      subscription liveChangesSubscription(
        $subjectId: ID
        $organizationId: ID
        $types: [EventType!]
        $after: String
      ) {
        events(subjectId: $subjectId, organizationId: $organizationId, types: $types, after: $after) {
          id
          position
          ... on UserLockEvent {
            user {
              id
              locked
              lockedAt
            }
          }
        }
      }
    `,
    variables: { subjectId, organizationId, types, after },
    onNext: () => {
      clearTimeout(timer.current)
      timer.current = setTimeout(onChange, GATHERED_MS)
    },
  })
  return null
}
