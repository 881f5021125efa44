import { graphql } from 'react-relay/hooks'
import type { BulkAction } from '../../parts/bulk-actions.tsx'

const toVariables = (userId: string) => ({ userId })

/** Actions on selected users. */
export const USER_ACTIONS: readonly BulkAction[] = [
  {
    label: 'Lock',
    scope: 'users:write',
    consequence: 'They cannot sign in until they are unlocked, and all of their sessions end.',
    mutation: graphql`
      mutation userActionsLockMutation($userId: ID!) {
        lockUser(input: { userId: $userId }) {
          ... on LockUserPayload {
            user {
              id
              locked
              lockedAt
            }
          }
          ... on UserError {
            message
          }
        }
      }
    `,
    toVariables,
  },
  {
    label: 'Unlock',
    scope: 'users:write',
    consequence: 'They can sign in again.',
    mutation: graphql`
      mutation userActionsUnlockMutation($userId: ID!) {
        unlockUser(input: { userId: $userId }) {
          ... on UnlockUserPayload {
            user {
              id
              locked
              lockedAt
            }
          }
          ... on UserError {
            message
          }
        }
      }
    `,
    toVariables,
  },
  {
    label: 'End sessions',
    scope: 'sessions:write',
    consequence: 'They are signed out everywhere, and can sign in again.',
    mutation: graphql`
      mutation userActionsEndMutation($userId: ID!) {
        revokeUserSessions(input: { userId: $userId }) {
          ... on RevokeUserSessionsPayload {
            revokedSessionIds
          }
          ... on UserError {
            message
          }
        }
      }
    `,
    toVariables,
  },
]
