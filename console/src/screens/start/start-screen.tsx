import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { graphql, useLazyLoadQuery } from 'react-relay/hooks'
import type { startScreenQuery } from '../../generated/startScreenQuery.graphql.ts'
import { EventList } from '../log/event-list.tsx'
import { LiveEvents } from '../log/live-events.tsx'

/** The state of the tenant at a glance, and what happens in it. */
export function StartScreen() {
  const [generation, setGeneration] = useState(0)
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
    { fetchKey: generation, fetchPolicy: 'network-only' },
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
          <Link to="/users" search={{ locked: 'yes' }} className="figure card">
            <strong>{locked.totalSize.toLocaleString('en')}</strong> locked users
          </Link>
        )}
      </div>
      {events && (
        <section className="card">
          <h2>
            <span className="pulse" /> What happens now
          </h2>
          <LiveEvents
            key={generation}
            connection={events.__id}
            after={viewer?.eventPosition}
            onFull={() => setGeneration((former) => former + 1)}
          />
          <EventList events={events.edges.map(({ node }) => node)} />
        </section>
      )}
    </section>
  )
}
