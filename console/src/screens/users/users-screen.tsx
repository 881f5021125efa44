import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { Suspense, useDeferredValue, useEffect, useState } from 'react'
import { graphql, useLazyLoadQuery, usePaginationFragment } from 'react-relay/hooks'
import type { usersScreen_users$key } from '../../generated/usersScreen_users.graphql.ts'
import type { usersScreenCreationsSubscription } from '../../generated/usersScreenCreationsSubscription.graphql.ts'
import type { usersScreenPageQuery } from '../../generated/usersScreenPageQuery.graphql.ts'
import type { usersScreenQuery } from '../../generated/usersScreenQuery.graphql.ts'
import { useLive } from '../../parts/live-events.ts'
import { MoreRows } from '../../parts/more-rows.tsx'
import { ListSkeleton } from '../../parts/skeleton.tsx'
import { useLiveLocks } from './live-locks.ts'
import { UserRow } from './user-row.tsx'

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
    <section className="screen">
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
      <Suspense fallback={<ListSkeleton />}>
        <UserList filter={useDeferredValue(JSON.stringify(filter))} />
      </Suspense>
    </section>
  )
}

function UserList({ filter }: { filter: string }) {
  const [generation, setGeneration] = useState(0)
  const [created, setCreated] = useState<readonly string[]>([])
  const query = useLazyLoadQuery<usersScreenQuery>(
    graphql`
      query usersScreenQuery($filter: UserFilter) {
        viewer {
          eventPosition
        }
        ...usersScreen_users @arguments(filter: $filter)
      }
    `,
    { filter: JSON.parse(filter) as object },
    { fetchKey: generation, fetchPolicy: 'store-and-network' },
  )
  const { data, loadNext, hasNext, isLoadingNext } = usePaginationFragment<
    usersScreenPageQuery,
    usersScreen_users$key
  >(
    graphql`
      fragment usersScreen_users on Query
      @argumentDefinitions(
        filter: { type: "UserFilter" }
        after: { type: "String" }
        first: { type: "Int", defaultValue: 50 }
      )
      @refetchable(queryName: "usersScreenPageQuery") {
        users(
          first: $first
          after: $after
          filter: $filter
          orderBy: { field: CREATED_AT, direction: DESC }
        ) @connection(key: "usersScreen_users", filters: ["filter"]) {
          totalSize
          edges {
            node {
              id
              ...userRow_user
            }
          }
        }
      }
    `,
    query,
  )
  const after = query.viewer?.eventPosition
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
    onNext: (response) =>
      setCreated((former) => [...former, ...(response?.events.subjectIds ?? [])].slice(-MAX_ANNOUNCED)),
  })
  const users = data.users
  if (!users) return <p className="empty">You may not read users.</p>
  const shown = new Set(users.edges.map(({ node }) => node.id))
  const fresh = new Set(created.filter((id) => !shown.has(id))).size
  return (
    <>
      <p className="count" role="status">
        {users.totalSize.toLocaleString('en')} {users.totalSize === 1 ? 'user' : 'users'}
        {fresh > 0 && (
          <button
            type="button"
            className="chip fresh"
            onClick={() => {
              setCreated([])
              setGeneration((former) => former + 1)
            }}
          >
            {fresh} new: show
          </button>
        )}
      </p>
      {users.edges.length === 0 ? (
        <p className="empty">No user matches. Change the search or the filter.</p>
      ) : (
        <table className="rows">
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Address</th>
              <th scope="col">State</th>
              <th scope="col">Last seen</th>
              <th scope="col">Created</th>
            </tr>
          </thead>
          <tbody>
            {users.edges.map(({ node }) => (
              <UserRow key={node.id} user={node} />
            ))}
          </tbody>
        </table>
      )}
      <MoreRows hasMore={hasNext} isLoading={isLoadingNext} load={() => void loadNext(50)} />
    </>
  )
}
