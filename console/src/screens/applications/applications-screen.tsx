import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { Suspense, useCallback, useDeferredValue, useRef, useState } from 'react'
import { fetchQuery, graphql, useRelayEnvironment } from 'react-relay/hooks'
import { usePaginationFragment } from 'react-relay/relay-hooks/usePaginationFragment'
import type { applicationsScreen_clients$key } from '../../generated/applicationsScreen_clients.graphql.ts'
import type { applicationsScreenChangesSubscription } from '../../generated/applicationsScreenChangesSubscription.graphql.ts'
import type { applicationsScreenClientQuery } from '../../generated/applicationsScreenClientQuery.graphql.ts'
import type { applicationsScreenDeletionsSubscription } from '../../generated/applicationsScreenDeletionsSubscription.graphql.ts'
import type { applicationsScreenPageQuery } from '../../generated/applicationsScreenPageQuery.graphql.ts'
import type { applicationsScreenQuery } from '../../generated/applicationsScreenQuery.graphql.ts'
import { MAX_ANNOUNCED, useLive } from '../../parts/live-events.ts'
import { MoreRows } from '../../parts/more-rows.tsx'
import { useScreenQuery } from '../../parts/screen-query.ts'
import { SearchBox } from '../../parts/search-box.tsx'
import { ListSkeleton } from '../../parts/skeleton.tsx'
import { Time } from '../../parts/time.tsx'
import { useMay } from '../../shell/viewer-scopes.ts'
import { t, tCount } from '../../words/words.ts'
import { APP_TYPES, describeAppType, describeRegistration, isAppType, toPathId } from './kinds.ts'

const route = getRouteApi('/applications')

/** The applications of the tenant: search, filter, and changes by others. */
export function ApplicationsScreen() {
  const { search = '', kind } = route.useSearch()
  const navigate = useNavigate({ from: '/applications' })
  const mayWrite = useMay('clients:write')
  const appType = isAppType(kind) ? kind : undefined
  const filter = { ...(appType && { appType }), ...(search && { search }) }
  const changeSearch = useCallback(
    (entered: string) =>
      void navigate({ search: (former) => ({ ...former, search: entered || undefined }), replace: true }),
    [navigate],
  )
  return (
    <section className="screen">
      <header className="screen-head">
        <h1>{t('Applications')}</h1>
        <SearchBox
          label={t('Search applications')}
          placeholder={t('Search by name, id or URL')}
          search={search}
          onSearch={changeSearch}
        />
        <fieldset className="chips">
          <legend className="hidden">{t('Filter')}</legend>
          {Object.entries({ ALL: t('All'), ...APP_TYPES }).map(([name, label]) => (
            <button
              key={name}
              type="button"
              className="chip"
              aria-pressed={name === (appType ?? 'ALL')}
              onClick={() =>
                void navigate({
                  search: (former) => ({ ...former, kind: name === 'ALL' ? undefined : name }),
                })
              }
            >
              {label}
            </button>
          ))}
        </fieldset>
        {mayWrite && (
          <Link to="/applications/new" className="button">
            {t('New application')}
          </Link>
        )}
      </header>
      <Suspense fallback={<ListSkeleton />}>
        <ApplicationList filter={useDeferredValue(JSON.stringify(filter))} />
      </Suspense>
    </section>
  )
}

function ApplicationList({ filter }: { filter: string }) {
  const environment = useRelayEnvironment()
  const [created, setCreated] = useState<readonly string[]>([])
  const [query, refresh] = useScreenQuery<applicationsScreenQuery>(
    graphql`
      query applicationsScreenQuery($filter: ClientFilter) {
        viewer {
          eventPosition
        }
        ...applicationsScreen_clients @arguments(filter: $filter)
      }
    `,
    { filter: JSON.parse(filter) as object },
  )
  const { data, loadNext, hasNext, isLoadingNext } = usePaginationFragment<
    applicationsScreenPageQuery,
    applicationsScreen_clients$key
  >(
    graphql`
      fragment applicationsScreen_clients on Query
      @argumentDefinitions(
        filter: { type: "ClientFilter" }
        after: { type: "String" }
        first: { type: "Int", defaultValue: 50 }
      )
      @refetchable(queryName: "applicationsScreenPageQuery") {
        clients(first: $first, after: $after, filter: $filter)
          @connection(key: "applicationsScreen_clients", filters: ["filter"]) {
          __id
          totalSize
          edges {
            node {
              id
              ...applicationsScreen_client @relay(mask: false)
            }
          }
        }
      }
    `,
    query,
  )
  const { clients } = data
  const edges = clients?.edges ?? []
  const shown = useRef(new Set<string>())
  shown.current = new Set(edges.map(({ node }) => node.id))
  const after = query.viewer?.eventPosition
  useLive<applicationsScreenDeletionsSubscription>({
    subscription: graphql`
      subscription applicationsScreenDeletionsSubscription($connections: [ID!]!, $after: String) {
        events(types: [CLIENT_DELETED], after: $after) {
          position
          ... on AuditEvent {
            subjectIds @deleteEdge(connections: $connections)
          }
        }
      }
    `,
    variables: { connections: clients ? [clients.__id] : [], after },
  })
  useLive<applicationsScreenChangesSubscription>({
    subscription: graphql`
      subscription applicationsScreenChangesSubscription($after: String) {
        events(types: [CLIENT_CREATED, CLIENT_UPDATED], after: $after) {
          position
          type
          ... on AuditEvent {
            subjectIds
          }
        }
      }
    `,
    variables: { after },
    onNext: (response) => {
      const id = response?.events.subjectIds?.[0]
      if (!id) return
      if (response?.events.type === 'CLIENT_CREATED')
        setCreated((former) => [...former, id].slice(-MAX_ANNOUNCED))
      if (!shown.current.has(id)) return
      // The row follows the store.
      fetchQuery<applicationsScreenClientQuery>(
        environment,
        graphql`
          query applicationsScreenClientQuery($id: ID!) {
            client(id: $id) {
              ...applicationsScreen_client @relay(mask: false)
            }
          }
        `,
        { id },
      ).subscribe({})
    },
  })
  if (!clients) return <p className="empty">{t('You may not read applications.')}</p>
  const fresh = created.filter((id) => !shown.current.has(id)).length
  return (
    <>
      <p className="count" role="status">
        {tCount(clients.totalSize, '{count} application', '{count} applications')}
        {fresh > 0 && (
          <button
            type="button"
            className="chip fresh"
            onClick={() => {
              setCreated([])
              refresh()
            }}
          >
            {t('{count} new: show', { count: fresh })}
          </button>
        )}
      </p>
      {edges.length === 0 ? (
        <p className="empty">{t('No application matches. Change the search or the filter.')}</p>
      ) : (
        <table className="rows">
          <thead>
            <tr>
              <th scope="col">{t('Name')}</th>
              <th scope="col">{t('Kind')}</th>
              <th scope="col">{t('Redirect URI')}</th>
              <th scope="col">{t('Registered by')}</th>
              <th scope="col">{t('Created')}</th>
            </tr>
          </thead>
          <tbody>
            {edges.map(({ node }) => (
              <tr key={node.id}>
                <th scope="row">
                  <Link
                    to="/applications/$clientId"
                    params={{ clientId: toPathId(node.id) }}
                    className="row-link"
                  >
                    <span className="truncated">{node.name}</span>
                  </Link>
                </th>
                <td>{describeAppType(node.appType)}</td>
                <td className="truncated">
                  {node.callbacks[0] ?? <span className="none">{t('none')}</span>}
                  {node.callbacks.length > 1 && t(' and {count} more', { count: node.callbacks.length - 1 })}
                </td>
                <td data-label={t('Registered by')}>{describeRegistration(node.registeredBy)}</td>
                <td data-label={t('Created')}>
                  <Time at={node.createdAt} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <MoreRows hasMore={hasNext} isLoading={isLoadingNext} load={() => void loadNext(50)} />
    </>
  )
}

graphql`
  fragment applicationsScreen_client on Client {
    id
    name
    appType
    callbacks
    registeredBy
    createdAt
  }
`
