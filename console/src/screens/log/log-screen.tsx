import { CatchBoundary, getRouteApi, useNavigate } from '@tanstack/react-router'
import { Suspense, useState } from 'react'
import { graphql, useLazyLoadQuery, usePaginationFragment } from 'react-relay/hooks'
import type { logScreen_events$key } from '../../generated/logScreen_events.graphql.ts'
import type { logScreenPageQuery } from '../../generated/logScreenPageQuery.graphql.ts'
import type { logScreenQuery } from '../../generated/logScreenQuery.graphql.ts'
import { FilterBar, type ListValues } from '../../parts/filter-bar.tsx'
import { readText } from '../../parts/form.tsx'
import { MoreRows } from '../../parts/more-rows.tsx'
import { QueryProblem } from '../../parts/query-problem.tsx'
import { ListSkeleton } from '../../parts/skeleton.tsx'
import { t } from '../../words/words.ts'
import { EventList } from './event-list.tsx'
import { LiveEvents } from './live-events.tsx'
import { canFollow, FILTERS, getTypes, recognize, toEventFilter } from './log-filter.ts'

const route = getRouteApi('/log')

/** The event log, newest first, as it grows. */
export function LogScreen() {
  const values: ListValues = route.useSearch()
  const navigate = useNavigate({ from: '/log' })
  const [isPaused, setIsPaused] = useState(false)
  // Each resumption begins with the newest events.
  const [generation, setGeneration] = useState(0)
  const restart = () => setGeneration((former) => former + 1)
  const change = (name: string, value: string | undefined) =>
    void navigate({ search: (former) => ({ ...former, [name]: value }) })
  const isFollowed = canFollow(values)
  const key = `${JSON.stringify(values)} ${generation}`
  return (
    <section className="screen">
      <header className="screen-head">
        <h1>{t('Log')}</h1>
        <search>
          <form
            onSubmit={(event) => {
              event.preventDefault()
              const form = event.currentTarget
              const entered = readText(new FormData(form), 'pasted')
              form.reset()
              if (entered) change(recognize(entered), entered)
            }}
          >
            <label className="hidden" htmlFor="pasted">
              {t('Number of an error page, id, address or IP address')}
            </label>
            <input
              id="pasted"
              name="pasted"
              type="search"
              autoComplete="off"
              placeholder={t('Paste the number of an error page, an id, an address or an IP')}
            />
          </form>
        </search>
        {isFollowed && (
          <button
            type="button"
            className="button quiet"
            aria-pressed={isPaused}
            onClick={() => {
              if (isPaused) restart()
              setIsPaused(!isPaused)
            }}
          >
            {isPaused ? t('Resume') : t('Pause')}
          </button>
        )}
      </header>
      <FilterBar filters={FILTERS} values={values} onChange={change} />
      <CatchBoundary
        getResetKey={() => key}
        errorComponent={({ error }) => <QueryProblem error={error} onRetry={restart} />}
      >
        <Suspense fallback={<ListSkeleton />} key={key}>
          <Events
            values={values}
            generation={generation}
            isLive={!isPaused && isFollowed}
            onFull={() => setIsPaused(true)}
          />
        </Suspense>
      </CatchBoundary>
    </section>
  )
}

function Events({
  values,
  generation,
  isLive,
  onFull,
}: {
  values: ListValues
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
    { filter: toEventFilter(values) },
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
  if (!events) return <p className="empty">{t('You may not read the log.')}</p>
  return (
    <>
      {isLive && (
        <>
          <LiveEvents
            connection={events.__id}
            after={query.viewer?.eventPosition}
            types={getTypes(values)}
            ip={values.ip}
            subjectId={values.subject}
            onFull={onFull}
          />
          <p className="count" role="status">
            <span className="pulse" /> {t('Live')}
          </p>
        </>
      )}
      {toEventFilter(values) && events.edges.length === 0 ? (
        <p className="empty">
          {t('No event has these properties. Events are kept for as long as the settings say.')}
        </p>
      ) : (
        <EventList events={events.edges.map(({ node }) => node)} />
      )}
      <MoreRows hasMore={hasNext} isLoading={isLoadingNext} load={() => void loadNext(50)} />
    </>
  )
}
