import { Link } from '@tanstack/react-router'
import { graphql } from 'react-relay/hooks'
import { usePaginationFragment } from 'react-relay/relay-hooks/usePaginationFragment'
import type { userEvents_events$key } from '../../generated/userEvents_events.graphql.ts'
import type { EventType, userEventsPageQuery } from '../../generated/userEventsPageQuery.graphql.ts'
import { LiveChanges } from '../../parts/live-changes.tsx'
import { countPage, MoreRows, PAGE_SIZE } from '../../parts/more-rows.tsx'
import { t } from '../../words/words.ts'
import { EventList } from '../log/event-list.tsx'

/** Events that say why a user could or could not sign in. */
export const SIGN_IN_EVENTS: readonly EventType[] = [
  'SIGNIN_FAILED',
  'PASSCODE_FAILED',
  'PASSCODE_SENT',
  'SESSION_STARTED',
  'SESSION_REAUTHENTICATED',
  'IDPUSER_LINK_FAILED',
  'USER_LOCKED',
  'USER_UNLOCKED',
]

/** The events of a user, newest first: all, or those of sign-ins. */
export function UserEvents({
  userId,
  query,
  isAttempts,
  after,
  onChange,
}: {
  userId: string
  query: userEvents_events$key
  isAttempts: boolean
  after: string | null | undefined
  /** Reads the page again, with as many events. */
  onChange: (first: number) => void
}) {
  const { data, loadNext, hasNext, isLoadingNext } = usePaginationFragment<
    userEventsPageQuery,
    userEvents_events$key
  >(
    graphql`
      fragment userEvents_events on Query
      @argumentDefinitions(
        userId: { type: "ID!" }
        types: { type: "[EventType!]" }
        after: { type: "String" }
        first: { type: "Int" }
      )
      @refetchable(queryName: "userEventsPageQuery") {
        events(
          first: $first
          after: $after
          filter: { subjectId: $userId, types: $types }
          direction: DESC
        ) @connection(key: "userEvents_events", filters: ["filter"]) {
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
  if (!data.events) return <p className="empty">{t('You may not read the log.')}</p>
  const { edges } = data.events
  return (
    <section className="card">
      <LiveChanges subjectId={userId} after={after} onChange={() => onChange(countPage(edges.length))} />
      <nav className="chips" aria-label={t('Which events')}>
        {[
          [t('All'), undefined],
          [t('Sign-in attempts'), 'attempts'],
        ].map(([label, only]) => (
          <Link
            key={label}
            className="chip"
            to="/users/$userId"
            params={{ userId }}
            search={{ tab: 'events', only }}
            aria-current={(only === 'attempts') === isAttempts ? 'true' : undefined}
          >
            {label}
          </Link>
        ))}
      </nav>
      <EventList events={edges.map(({ node }) => node)} about={userId} />
      <MoreRows hasMore={hasNext} isLoading={isLoadingNext} load={() => void loadNext(PAGE_SIZE)} />
    </section>
  )
}
