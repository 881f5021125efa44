import { useState } from 'react'
import { graphql } from 'react-relay/hooks'
import type { sessionsScreenEndedSubscription } from '../../generated/sessionsScreenEndedSubscription.graphql.ts'
import type { sessionsScreenQuery } from '../../generated/sessionsScreenQuery.graphql.ts'
import type { sessionsScreenStartedSubscription } from '../../generated/sessionsScreenStartedSubscription.graphql.ts'
import { BigList } from '../../parts/big-list.tsx'
import { ListCount, ListProblem } from '../../parts/list-count.tsx'
import { useLive } from '../../parts/live-events.ts'
import { useList } from '../../parts/use-list.ts'
import { SESSION_COLUMNS, useSession } from './session-columns.tsx'

/** New sessions that are announced; of more, the number is of no use. */
const MAX_ANNOUNCED = 1000

/** The sessions of the tenant, on arrival and at their end. */
export function SessionsScreen() {
  const [started, setStarted] = useState<readonly string[]>([])
  const { shown, isStale, problem, retry, refresh } = useList<
    sessionsScreenQuery,
    NonNullable<sessionsScreenQuery['response']['sessions']>['nodes'][number]
  >({
    query: graphql`
      query sessionsScreenQuery(
        $filter: SessionFilter
        $orderBy: SessionOrder
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
        sessions(
          filter: $filter
          orderBy: $orderBy
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
            ...sessionColumns_session
          }
          pageInfo {
            startCursor
            endCursor
            hasNextPage
          }
        }
      }
    `,
    variables: { orderBy: { direction: 'DESC' } },
    getConnection: ({ sessions }) => sessions,
  })
  const pages = shown?.pages
  const loaded = new Set<string>()
  for (const { id } of pages?.rows() ?? []) loaded.add(id)
  const fresh = new Set(started.filter((id) => !loaded.has(id))).size
  return (
    <section className="screen whole">
      <header className="screen-head">
        <h1>Sessions</h1>
      </header>
      {shown && (
        <LiveSessions
          after={shown.position}
          announce={(id) => setStarted((former) => [...former, id].slice(-MAX_ANNOUNCED))}
          withdraw={(id) => setStarted((former) => former.filter((other) => other !== id))}
        />
      )}
      <ListCount
        total={pages?.total}
        one="session"
        many="sessions"
        fresh={fresh}
        show={() => {
          setStarted([])
          refresh()
        }}
      />
      <ListProblem problem={problem} retry={retry} />
      {pages?.total === 0 ? (
        <p className="empty">Nobody is signed in.</p>
      ) : (
        <BigList
          label="Sessions"
          list={shown}
          isStale={isStale}
          columns={SESSION_COLUMNS}
          useRow={useSession}
        />
      )}
    </section>
  )
}

/** Announces sessions that start, and marks those that end. */
function LiveSessions({
  after,
  announce,
  withdraw,
}: {
  after: string | null | undefined
  announce: (id: string) => void
  withdraw: (id: string) => void
}) {
  useLive<sessionsScreenEndedSubscription>({
    subscription: graphql`
      subscription sessionsScreenEndedSubscription($after: String) {
        sessionChanged(kinds: [ENDED], after: $after) {
          ... on Event {
            position
          }
          ... on SessionEvent {
            sessionId
          }
        }
      }
    `,
    variables: { after },
    updater: (store, response) => {
      const id = response?.sessionChanged.sessionId
      if (id) store.get(id)?.setValue(true, 'isEnded')
    },
    onNext: (response) => {
      const id = response?.sessionChanged.sessionId
      if (id) withdraw(id)
    },
  })
  useLive<sessionsScreenStartedSubscription>({
    subscription: graphql`
      subscription sessionsScreenStartedSubscription($after: String) {
        sessionChanged(kinds: [STARTED], after: $after) {
          ... on Event {
            position
          }
          ... on SessionEvent {
            sessionId
          }
        }
      }
    `,
    variables: { after },
    onNext: (response) => {
      const id = response?.sessionChanged.sessionId
      if (id) announce(id)
    },
  })
  return null
}
