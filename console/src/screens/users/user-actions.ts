import { graphql } from 'react-relay/hooks'
import type { BulkAction } from '../../parts/bulk-actions.tsx'
import { t } from '../../words/words.ts'

export const LOCK_USER = graphql`
  mutation userActionsLockMutation($userId: ID!) {
    lockUser(input: { userId: $userId }) {
      ... on LockUserPayload {
        user {
          id
          locked
          lockedAt
        }
      }
      ...result_problem @alias(as: "problem") @relay(mask: false)
    }
  }
`

export const UNLOCK_USER = graphql`
  mutation userActionsUnlockMutation($userId: ID!) {
    unlockUser(input: { userId: $userId }) {
      ... on UnlockUserPayload {
        user {
          id
          locked
          lockedAt
        }
      }
      ...result_problem @alias(as: "problem") @relay(mask: false)
    }
  }
`

const END_USER_SESSIONS = graphql`
  mutation userActionsEndMutation($userId: ID!) {
    revokeUserSessions(input: { userId: $userId }) {
      ... on RevokeUserSessionsPayload {
        revokedSessionIds
      }
      ...result_problem @alias(as: "problem") @relay(mask: false)
    }
  }
`

const toVariables = (userId: string) => ({ userId })

/** Actions on selected users. */
export const USER_ACTIONS: readonly BulkAction[] = [
  {
    label: t('Lock'),
    scope: 'users:write',
    consequence: t('They cannot sign in until they are unlocked, and all of their sessions end.'),
    mutation: LOCK_USER,
    toVariables,
    job: 'LOCK',
  },
  {
    label: t('Unlock'),
    scope: 'users:write',
    consequence: t('They can sign in again.'),
    mutation: UNLOCK_USER,
    toVariables,
    job: 'UNLOCK',
  },
  {
    label: t('End sessions'),
    scope: 'sessions:write',
    consequence: t('They are signed out everywhere, and can sign in again.'),
    mutation: END_USER_SESSIONS,
    toVariables,
    job: 'END_SESSIONS',
  },
  {
    label: t('Add roles'),
    scope: 'users:write',
    consequence: t('They get these management roles besides those that they have.'),
    toVariables,
    job: 'ADD_ROLES',
  },
  {
    label: t('Remove roles'),
    scope: 'users:write',
    consequence: t('These management roles are taken from them.'),
    toVariables,
    job: 'REMOVE_ROLES',
  },
  {
    label: t('Delete'),
    scope: 'users:write',
    consequence: t('The users and all of their data are deleted. Nothing brings them back.'),
    toVariables,
    job: 'DELETE',
    isFinal: true,
  },
]
