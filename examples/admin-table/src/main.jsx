import { Suspense, useMemo } from 'react'
import { createRoot } from 'react-dom/client'
import {
  graphql,
  RelayEnvironmentProvider,
  useFragment,
  useLazyLoadQuery,
  useMutation,
  usePaginationFragment,
  useSubscription,
} from 'react-relay'
import { loadUser, users } from './auth.js'
import { environment } from './environment.js'

function Table() {
  const query = useLazyLoadQuery(
    graphql`
      query mainQuery {
        viewer {
          eventPosition
        }
        ...main_users
      }
    `,
    {},
  )
  const { data, hasNext, loadNext } = usePaginationFragment(
    graphql`
      fragment main_users on Query
      @refetchable(queryName: "mainUsersQuery")
      @argumentDefinitions(first: { type: "Int", defaultValue: 20 }, after: { type: "String" }) {
        users(first: $first, after: $after) @connection(key: "main_users") {
          edges {
            node {
              id
              ...main_user
            }
          }
        }
      }
    `,
    query,
  )
  useLocks(query.viewer.eventPosition)
  return (
    <>
      <table>
        <tbody>
          {data.users.edges.map(({ node }) => (
            <Row key={node.id} user={node} />
          ))}
        </tbody>
      </table>
      {hasNext && (
        <button type="button" onClick={() => loadNext(20)}>
          More
        </button>
      )}
    </>
  )
}

/** Follows locks by anybody. The events have the users, whose rows Relay renders again. */
function useLocks(after) {
  const config = useMemo(
    () => ({
      subscription: graphql`
        subscription mainLocksSubscription($after: String) {
          userLockChanged(after: $after) {
            ... on UserLockEvent {
              user {
                id
                ...main_user
              }
            }
          }
        }
      `,
      variables: { after },
    }),
    [after],
  )
  useSubscription(config)
}

function Row({ user }) {
  const { id, name, email, lockedAt } = useFragment(
    graphql`
      fragment main_user on User {
        id
        name
        email
        lockedAt
      }
    `,
    user,
  )
  const [lock, isLocking] = useMutation(graphql`
    mutation mainLockMutation($userId: ID!) {
      lockUser(input: { userId: $userId }) {
        ... on LockUserPayload {
          user {
            ...main_user
          }
        }
        ... on UserError {
          message
        }
      }
    }
  `)
  const [unlock, isUnlocking] = useMutation(graphql`
    mutation mainUnlockMutation($userId: ID!) {
      unlockUser(input: { userId: $userId }) {
        ... on UnlockUserPayload {
          user {
            ...main_user
          }
        }
        ... on UserError {
          message
        }
      }
    }
  `)
  return (
    <tr>
      <td>{name}</td>
      <td>{email}</td>
      <td>{lockedAt ? 'locked' : 'active'}</td>
      <td>
        <button
          type="button"
          disabled={isLocking || isUnlocking}
          onClick={() => (lockedAt ? unlock : lock)({ variables: { userId: id } })}
        >
          {lockedAt ? 'Unlock' : 'Lock'}
        </button>
      </td>
    </tr>
  )
}

const root = createRoot(document.getElementById('root'))
if (await loadUser())
  root.render(
    <RelayEnvironmentProvider environment={environment}>
      <Suspense fallback="Loading">
        <Table />
      </Suspense>
    </RelayEnvironmentProvider>,
  )
else
  root.render(
    <button type="button" onClick={() => users.signinRedirect()}>
      Sign in
    </button>,
  )
