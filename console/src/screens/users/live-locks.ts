import { graphql } from 'react-relay/hooks'
import type { liveLocksSubscription } from '../../generated/liveLocksSubscription.graphql.ts'
import { useLive } from '../../parts/live-events.ts'

/** Follows locks and unlocks, of one user or of all: the user of a change replaces that of the store. */
export const useLiveLocks = (
  variables: { userId?: string; after: string | null | undefined },
  onNext?: () => void,
): void =>
  useLive<liveLocksSubscription>({
    subscription: graphql`
      subscription liveLocksSubscription($userId: ID, $after: String) {
        userLockChanged(userId: $userId, after: $after) {
          ... on Event {
            position
          }
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
    variables,
    onNext,
  })
