import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { graphql } from 'react-relay/hooks'
import type { usersScreenCreationsSubscription } from '../../generated/usersScreenCreationsSubscription.graphql.ts'
import type { usersScreenQuery } from '../../generated/usersScreenQuery.graphql.ts'
import { BigList } from '../../parts/big-list.tsx'
import { ListCount, ListProblem } from '../../parts/list-count.tsx'
import { useLive } from '../../parts/live-events.ts'
import { useList } from '../../parts/use-list.ts'
import { useLiveLocks } from './live-locks.ts'
import { USER_COLUMNS, useUser } from './user-columns.tsx'

const route = getRouteApi('/users')

const STATES = { all: 'All', locked: 'Locked', unverified: 'Email not verified' } as const
type State = keyof typeof STATES

const FILTERS: Record<State, object> = {
  all: {},
  locked: { locked: true },
  unverified: { emailVerified: false },
}

const isState = (text: string | undefined): text is State => text !== undefined && text in STATES

/** New users that are announced; of more, the number is of no use. */
const MAX_ANNOUNCED = 1000

/** The users of the tenant: search, filter, and their state as it changes. */
export function UsersScreen() {
  const { search = '', state } = route.useSearch()
  const navigate = useNavigate({ from: '/users' })
  const [entered, setEntered] = useState(search)
  const chosen: State = isState(state) ? state : 'all'
  useEffect(() => setEntered(search), [search])
  useEffect(() => {
    if (entered === search) return
    const timer = setTimeout(
      () =>
        void navigate({ search: (former) => ({ ...former, search: entered || undefined }), replace: true }),
      200,
    )
    return () => clearTimeout(timer)
  }, [entered, search, navigate])
  const filter = { ...FILTERS[chosen], ...(search && { search }) }
  return (
    <section className="screen whole">
      <header className="screen-head">
        <h1>Users</h1>
        <search>
          <label className="hidden" htmlFor="search">
            Search users
          </label>
          <input
            id="search"
            type="search"
            placeholder="Search by name, address or id"
            value={entered}
            onChange={({ target }) => setEntered(target.value)}
          />
        </search>
        <fieldset className="chips">
          <legend className="hidden">Filter</legend>
          {Object.entries(STATES).map(([name, label]) => (
            <button
              key={name}
              type="button"
              className="chip"
              aria-pressed={name === chosen}
              onClick={() =>
                void navigate({
                  search: (former) => ({ ...former, state: name === 'all' ? undefined : name }),
                })
              }
            >
              {label}
            </button>
          ))}
        </fieldset>
      </header>
      <UserList filter={JSON.stringify(filter)} />
    </section>
  )
}

function UserList({ filter }: { filter: string }) {
  const [created, setCreated] = useState<readonly string[]>([])
  const { shown, isStale, problem, retry, refresh } = useList<
    usersScreenQuery,
    NonNullable<usersScreenQuery['response']['users']>['nodes'][number]
  >({
    query: graphql`
      query usersScreenQuery(
        $filter: UserFilter
        $orderBy: UserOrder
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
        users(
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
            ...userColumns_user
          }
          pageInfo {
            startCursor
            endCursor
            hasNextPage
          }
        }
      }
    `,
    variables: { filter: JSON.parse(filter) as object, orderBy: { direction: 'DESC' } },
    getConnection: ({ users }) => users,
  })
  if (shown && !shown.isPermitted) return <p className="empty">You may not read users.</p>
  const pages = shown?.pages
  const loaded = new Set<string>()
  for (const { id } of pages?.rows() ?? []) loaded.add(id)
  const fresh = new Set(created.filter((id) => !loaded.has(id))).size
  return (
    <>
      {shown && (
        <LiveUsers
          after={shown.position}
          announce={(ids) => setCreated((former) => [...former, ...ids].slice(-MAX_ANNOUNCED))}
        />
      )}
      <ListCount
        total={pages?.total}
        one="user"
        many="users"
        fresh={fresh}
        show={() => {
          setCreated([])
          refresh()
        }}
      />
      <ListProblem problem={problem} retry={retry} />
      {pages?.total === 0 ? (
        <p className="empty">No user matches. Change the search or the filter.</p>
      ) : (
        <BigList label="Users" list={shown} isStale={isStale} columns={USER_COLUMNS} useRow={useUser} />
      )}
    </>
  )
}

/** Follows locks, and announces new users. */
function LiveUsers({
  after,
  announce,
}: {
  after: string | null | undefined
  announce: (ids: readonly string[]) => void
}) {
  useLiveLocks({ after })
  useLive<usersScreenCreationsSubscription>({
    subscription: graphql`
      subscription usersScreenCreationsSubscription($after: String) {
        events(types: [USER_CREATED], after: $after) {
          id
          position
          ... on AuditEvent {
            subjectIds
          }
        }
      }
    `,
    variables: { after },
    onNext: (response) => announce(response?.events.subjectIds ?? []),
  })
  return null
}
