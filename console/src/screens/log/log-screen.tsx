import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { Suspense, useState } from 'react'
import { graphql, useLazyLoadQuery, usePaginationFragment } from 'react-relay/hooks'
import type { logScreen_events$key } from '../../generated/logScreen_events.graphql.ts'
import type { logScreenPageQuery } from '../../generated/logScreenPageQuery.graphql.ts'
import type { logScreenQuery } from '../../generated/logScreenQuery.graphql.ts'
import { MoreRows } from '../../parts/more-rows.tsx'
import { ListSkeleton } from '../../parts/skeleton.tsx'
import { EventList } from './event-list.tsx'
import { LiveEvents } from './live-events.tsx'

const route = getRouteApi('/log')

/** The event log, newest first, as it grows. */
export function LogScreen() {
  const { request } = route.useSearch()
  const navigate = useNavigate({ from: '/log' })
  const [isPaused, setIsPaused] = useState(false)
  // Each resumption begins with the newest events.
  const [generation, setGeneration] = useState(0)
  return (
    <section className="screen">
      <header className="screen-head">
        <h1>Log</h1>
        <search>
          <form
            onSubmit={(event) => {
              event.preventDefault()
              const entered = new FormData(event.currentTarget).get('request')
              void navigate({ search: { request: String(entered).trim() || undefined } })
            }}
          >
            <label className="hidden" htmlFor="request">
              Number of an error page
            </label>
            <input
              key={request}
              id="request"
              name="request"
              type="search"
              defaultValue={request}
              placeholder="Paste the number of an error page"
            />
          </form>
        </search>
        {request === undefined && (
          <button
            type="button"
            className="button quiet"
            aria-pressed={isPaused}
            onClick={() => {
              if (isPaused) setGeneration((former) => former + 1)
              setIsPaused(!isPaused)
            }}
          >
            {isPaused ? 'Resume' : 'Pause'}
          </button>
        )}
      </header>
      <Suspense fallback={<ListSkeleton />} key={`${request ?? ''} ${generation}`}>
        <Events
          request={request}
          generation={generation}
          isLive={!isPaused && request === undefined}
          onFull={() => setIsPaused(true)}
        />
      </Suspense>
    </section>
  )
}

function Events({
  request,
  generation,
  isLive,
  onFull,
}: {
  request: string | undefined
  generation: number
  isLive: boolean
  onFull: () => void
}) {
  const query = useLazyLoadQuery<logScreenQuery>(
    graphql`
      query logScreenQuery($filter: EventFilter) {
        viewer {
          eventPosition
        }
        ...logScreen_events @arguments(filter: $filter)
      }
    `,
    { filter: request === undefined ? null : { requestId: request } },
    { fetchKey: generation, fetchPolicy: 'network-only' },
  )
  const { data, loadNext, hasNext, isLoadingNext } = usePaginationFragment<
    logScreenPageQuery,
    logScreen_events$key
  >(
    graphql`
      fragment logScreen_events on Query
      @argumentDefinitions(
        filter: { type: "EventFilter" }
        after: { type: "String" }
        first: { type: "Int", defaultValue: 50 }
      )
      @refetchable(queryName: "logScreenPageQuery") {
        events(first: $first, after: $after, filter: $filter, direction: DESC)
          @connection(key: "logScreen_events", filters: ["filter"]) {
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
    query,
  )
  const { events } = data
  if (!events) return <p className="empty">You may not read the log.</p>
  return (
    <>
      {isLive && (
        <>
          <LiveEvents connection={events.__id} after={query.viewer?.eventPosition} onFull={onFull} />
          <p className="count" role="status">
            <span className="pulse" /> Live
          </p>
        </>
      )}
      {request !== undefined && events.edges.length === 0 ? (
        <p className="empty">No event has this number. Events are kept for as long as the settings say.</p>
      ) : (
        <EventList events={events.edges.map(({ node }) => node)} />
      )}
      <MoreRows hasMore={hasNext} isLoading={isLoadingNext} load={() => void loadNext(50)} />
    </>
  )
}
