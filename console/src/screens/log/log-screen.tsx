import { useNavigate, useSearch } from '@tanstack/react-router'
import { graphql } from 'react-relay/hooks'
import type { logScreenQuery } from '../../generated/logScreenQuery.graphql.ts'
import type { logScreenSubscription } from '../../generated/logScreenSubscription.graphql.ts'
import type { ListValues } from '../../parts/filter-bar.tsx'
import { readText } from '../../parts/form.tsx'
import { type ListDefinition, ListScreen, type LiveRows } from '../../parts/list-screen.tsx'
import { useLive } from '../../parts/live-events.ts'
import { t, tCount } from '../../words/words.ts'
import { EVENT_COLUMNS } from './event-columns.tsx'
import { EVENT_EXPORT } from './event-export.ts'
import { useEvent } from './event-list.tsx'
import { canFollow, FILTERS, getTypes, recognize, toEventFilter } from './log-filter.ts'

const LOG: ListDefinition<
  logScreenQuery,
  NonNullable<logScreenQuery['response']['events']>['nodes'][number],
  ReturnType<typeof useEvent>
> = {
  title: t('Log'),
  name: 'log',
  describeCount: (count) => tCount(count, '{count} event', '{count} events'),
  empty: t('No event has these properties. Events are kept for as long as the settings say.'),
  columns: EVENT_COLUMNS,
  useRow: useEvent,
  query: graphql`
    query logScreenQuery(
      $filter: EventFilter
      $isFirst: Boolean!
      $page: Int
      $pageSize: Int
      $first: Int
      $after: String
      $last: Int
      $before: String
    ) {
      viewer @include(if: $isFirst) {
        eventPosition
      }
      events(
        filter: $filter
        direction: DESC
        page: $page
        pageSize: $pageSize
        first: $first
        after: $after
        last: $last
        before: $before
      ) {
        totalSize @include(if: $isFirst)
        nodes {
          id
          ...eventList_event
        }
        pageInfo {
          startCursor
          endCursor
          hasNextPage
        }
      }
    }
  `,
  getConnection: ({ events }) => events,
  toVariables: (values) => ({ filter: toEventFilter(values) }),
  canSort: () => false,
  actions: [],
  exported: EVENT_EXPORT,
  isTail: canFollow,
  Live: LiveEvents,
}

type LiveProps = { after: string | null | undefined } & LiveRows

/** Announces events that the filter selects, where a stream can apply it. */
function LiveEvents(props: LiveProps) {
  const values: ListValues = useSearch({ strict: false })
  return canFollow(values) && <FollowedEvents values={values} {...props} />
}

function FollowedEvents({ values, after, announce }: LiveProps & { values: ListValues }) {
  useLive<logScreenSubscription>({
    subscription: graphql`
      subscription logScreenSubscription($after: String, $types: [EventType!], $ip: String, $subjectId: ID) {
        events(after: $after, types: $types, ip: $ip, subjectId: $subjectId) {
          id
          position
        }
      }
    `,
    variables: { after, types: getTypes(values), ip: values.ip, subjectId: values.subject },
    onNext: (response) => {
      if (response) announce([response.events.id])
    },
  })
  return null
}

/** The event log, newest first, as it grows. */
export function LogScreen() {
  const navigate = useNavigate({ from: '/log' })
  return (
    <ListScreen
      definition={LOG}
      filters={FILTERS}
      action={
        <search>
          <form
            onSubmit={(event) => {
              event.preventDefault()
              const form = event.currentTarget
              const entered = readText(new FormData(form), 'pasted')
              form.reset()
              if (entered)
                void navigate({ search: (former) => ({ ...former, [recognize(entered)]: entered }) })
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
      }
    />
  )
}
