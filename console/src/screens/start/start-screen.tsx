import { Link } from '@tanstack/react-router'
import { graphql, useLazyLoadQuery } from 'react-relay/hooks'
import type { startScreenQuery } from '../../generated/startScreenQuery.graphql.ts'
import type { startScreenSubscription } from '../../generated/startScreenSubscription.graphql.ts'
import { useLive } from '../../parts/live-events.ts'
import { EventList } from '../log/event-list.tsx'

/** The state of the tenant at a glance, and what happens in it. */
export function StartScreen() {
  const { viewer, users, locked, sessions, events } = useLazyLoadQuery<startScreenQuery>(
    graphql`
      query startScreenQuery {
        viewer {
          eventPosition
        }
        users(first: 1) {
          totalSize
        }
        locked: users(first: 1, filter: { locked: true }) {
          totalSize
        }
        sessions(first: 1) {
          totalSize
        }
        events(first: 20, direction: DESC) @connection(key: "startScreen_events") {
          __id
          edges {
            node {
              id
              ...eventList_event
            }
          }
        }
      }
    `,
    {},
    { fetchPolicy: 'network-only' },
  )
  return (
    <section className="screen">
      <header className="screen-head">
        <h1>Start</h1>
      </header>
      <div className="figures">
        {users && (
          <Link to="/users" className="figure card">
            <strong>{users.totalSize.toLocaleString('en')}</strong> users
          </Link>
        )}
        {sessions && (
          <Link to="/sessions" className="figure card">
            <strong>{sessions.totalSize.toLocaleString('en')}</strong> sessions
          </Link>
        )}
        {locked && (
          <Link to="/users" search={{ state: 'locked' }} className="figure card">
            <strong>{locked.totalSize.toLocaleString('en')}</strong> locked users
          </Link>
        )}
      </div>
      {events && (
        <section className="card">
          <h2>
            <span className="pulse" /> What happens now
          </h2>
          <Feed connection={events.__id} after={viewer?.eventPosition} />
          <EventList events={events.edges.map(({ node }) => node)} />
        </section>
      )}
    </section>
  )
}

/** Adds the events to the list as they happen. */
function Feed({ connection, after }: { connection: string; after: string | null | undefined }) {
  useLive<startScreenSubscription>({
    subscription: graphql`
      subscription startScreenSubscription($connections: [ID!]!, $after: String) {
        events(after: $after) @prependNode(connections: $connections, edgeTypeName: "EventEdge") {
          id
          position
          ...eventList_event
        }
      }
    `,
    variables: { connections: [connection], after },
  })
  return null
}
