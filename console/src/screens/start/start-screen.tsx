import { Link } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { graphql, useLazyLoadQuery } from 'react-relay/hooks'
import type { startScreenQuery } from '../../generated/startScreenQuery.graphql.ts'
import { useMay } from '../../shell/viewer-scopes.ts'
import './start.css'
import { formatNumber, t } from '../../words/words.ts'

// These are not in the first load, and load while the document of the screen does.
const [charts, feed, steps] = [import('./daily-charts.tsx'), import('./feed.tsx'), import('./next-steps.tsx')]
const DailyCharts = lazy(async () => ({ default: (await charts).DailyCharts }))
const NextSteps = lazy(async () => ({ default: (await steps).NextSteps }))
const Feed = lazy(async () => ({ default: (await feed).Feed }))

/** Takes the place of the charts until they are loaded. */
const CHART_PLACES = ['sign-ins', t('failed sign-ins'), t('new users')].map((name) => (
  <div key={name} className="card" />
))

const HOUR_MS = 3_600_000
/** A component that suspends before it is shown begins anew: the time is the same for some minutes. */
const STEP_MS = 600_000
const findHourAgo = () => new Date(Math.floor(Date.now() / STEP_MS) * STEP_MS - HOUR_MS).toISOString()

/** The state of the tenant at a glance, and what happens in it. */
export function StartScreen() {
  const mayReadLog = useMay('events:read')
  const mayReadTenants = useMay('tenants:read')
  const [generation, setGeneration] = useState(0)
  const [since] = useState(findHourAgo)
  const query = useLazyLoadQuery<startScreenQuery>(
    graphql`
      query startScreenQuery($since: DateTime!, $mayReadTenants: Boolean!) {
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
        tenants(first: 1) @include(if: $mayReadTenants) {
          totalSize
        }
        ...nextSteps_query @arguments(since: $since)
        ...dailyCharts_query
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
    { since, mayReadTenants },
    { fetchKey: generation, fetchPolicy: 'network-only' },
  )
  const { viewer, users, locked, sessions, tenants, events } = query
  return (
    <section className="screen">
      <header className="screen-head">
        <h1>{t('Start')}</h1>
      </header>
      <div className="figures">
        {users && (
          <Link to="/users" className="figure card">
            <strong>{formatNumber(users.totalSize)}</strong> {t('users')}
          </Link>
        )}
        {tenants && (
          <Link to="/tenants" className="figure card">
            <strong>{formatNumber(tenants.totalSize)}</strong> {t('tenants')}
          </Link>
        )}
        {sessions && (
          <Link to="/sessions" className="figure card">
            <strong>{formatNumber(sessions.totalSize)}</strong> {t('sessions')}
          </Link>
        )}
        {locked && (
          <Link to="/users" search={{ locked: 'yes' }} className="figure card">
            <strong>{formatNumber(locked.totalSize)}</strong> {t('locked users')}
          </Link>
        )}
      </div>
      <NextSteps key={`steps ${generation}`} query={query} since={since} after={viewer?.eventPosition} />
      {mayReadLog && (
        <div className="daily-charts">
          <Suspense fallback={CHART_PLACES}>
            <DailyCharts key={generation} query={query} after={viewer?.eventPosition} />
          </Suspense>
        </div>
      )}
      {events && (
        <section className="card">
          <h2>
            <span className="pulse" /> {t('What happens now')}
          </h2>
          <Suspense>
            <Feed
              key={generation}
              connection={events.__id}
              events={events.edges.map(({ node }) => node)}
              after={viewer?.eventPosition}
              onFull={() => setGeneration((former) => former + 1)}
            />
          </Suspense>
        </section>
      )}
    </section>
  )
}
