import { Link } from '@tanstack/react-router'
import { graphql, useLazyLoadQuery, usePaginationFragment } from 'react-relay/hooks'
import type { sessionsScreen_sessions$key } from '../../generated/sessionsScreen_sessions.graphql.ts'
import type { sessionsScreenEndedSubscription } from '../../generated/sessionsScreenEndedSubscription.graphql.ts'
import type { sessionsScreenPageQuery } from '../../generated/sessionsScreenPageQuery.graphql.ts'
import type { sessionsScreenQuery } from '../../generated/sessionsScreenQuery.graphql.ts'
import type { sessionsScreenStartedSubscription } from '../../generated/sessionsScreenStartedSubscription.graphql.ts'
import { useLive } from '../../parts/live-events.ts'
import { MoreRows } from '../../parts/more-rows.tsx'
import { Time } from '../../parts/time.tsx'
import { describeBrowser } from '../../parts/user-agent.ts'

/** The sessions of the tenant, on arrival and at their end. */
export function SessionsScreen() {
  const query = useLazyLoadQuery<sessionsScreenQuery>(
    graphql`
      query sessionsScreenQuery {
        viewer {
          eventPosition
        }
        ...sessionsScreen_sessions
      }
    `,
    {},
    { fetchPolicy: 'network-only' },
  )
  const { data, loadNext, hasNext, isLoadingNext } = usePaginationFragment<
    sessionsScreenPageQuery,
    sessionsScreen_sessions$key
  >(
    graphql`
      fragment sessionsScreen_sessions on Query
      @argumentDefinitions(after: { type: "String" }, first: { type: "Int", defaultValue: 50 })
      @refetchable(queryName: "sessionsScreenPageQuery") {
        sessions(first: $first, after: $after, orderBy: { field: CREATED_AT, direction: DESC })
          @connection(key: "sessionsScreen_sessions") {
          __id
          edges {
            node {
              id
              ...sessionsScreen_session @relay(mask: false)
            }
          }
        }
      }
    `,
    query,
  )
  const after = query.viewer?.eventPosition
  const connections = data.sessions ? [data.sessions.__id] : []
  useLive<sessionsScreenEndedSubscription>({
    subscription: graphql`
      subscription sessionsScreenEndedSubscription($connections: [ID!]!, $after: String) {
        sessionChanged(kinds: [ENDED], after: $after) {
          ... on Event {
            position
          }
          ... on SessionEvent {
            sessionId @deleteEdge(connections: $connections)
          }
        }
      }
    `,
    variables: { connections, after },
  })
  useLive<sessionsScreenStartedSubscription>({
    subscription: graphql`
      subscription sessionsScreenStartedSubscription($connections: [ID!]!, $after: String) {
        sessionChanged(kinds: [STARTED], after: $after) {
          ... on Event {
            position
          }
          ... on SessionEvent {
            session @prependNode(connections: $connections, edgeTypeName: "SessionEdge") {
              id
              ...sessionsScreen_session @relay(mask: false)
            }
          }
        }
      }
    `,
    variables: { connections, after },
  })
  const edges = data.sessions?.edges ?? []
  return (
    <section className="screen">
      <header className="screen-head">
        <h1>Sessions</h1>
      </header>
      <p className="count" role="status">
        <span className="pulse" /> Live
      </p>
      {edges.length === 0 ? (
        <p className="empty">Nobody is signed in.</p>
      ) : (
        <table className="rows">
          <thead>
            <tr>
              <th scope="col">User</th>
              <th scope="col">Device</th>
              <th scope="col">Where</th>
              <th scope="col">Application</th>
              <th scope="col">Last seen</th>
              <th scope="col">Started</th>
            </tr>
          </thead>
          <tbody>
            {edges.map(({ node }) => (
              <tr key={node.id}>
                <th scope="row">
                  {node.user && (
                    <Link to="/users/$userId" params={{ userId: node.user.id }} className="row-link">
                      <span className="truncated">{node.user.name ?? node.user.email ?? node.user.id}</span>
                    </Link>
                  )}
                </th>
                <td>{describeBrowser(node.userAgent)}</td>
                <td className="truncated">
                  {[node.lastSeenLocation, node.lastSeenIp].filter(Boolean).join(' · ')}
                </td>
                <td>{node.client?.name}</td>
                <td data-label="Last seen">
                  <Time at={node.lastSeenAt} />
                </td>
                <td data-label="Started">
                  <Time at={node.createdAt} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <MoreRows hasMore={hasNext} isLoading={isLoadingNext} load={() => void loadNext(50)} />
    </section>
  )
}

graphql`
  fragment sessionsScreen_session on Session {
    userAgent
    lastSeenIp
    lastSeenLocation
    lastSeenAt
    createdAt
    user {
      id
      name
      email
    }
    client {
      id
      name
    }
  }
`
