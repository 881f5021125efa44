import { graphql } from 'react-relay/hooks'
import type { EventType, liveChangesSubscription } from '../generated/liveChangesSubscription.graphql.ts'
import { useGathered, useLive } from './live-events.ts'

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
  const gather = useGathered(onChange)
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
    onNext: gather,
  })
  return null
}
