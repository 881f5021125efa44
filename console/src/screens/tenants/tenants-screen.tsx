import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { Suspense, useCallback, useDeferredValue, useEffect, useState } from 'react'
import { graphql } from 'react-relay/hooks'
import { usePaginationFragment } from 'react-relay/relay-hooks/usePaginationFragment'
import type { tenantsScreen_tenants$key } from '../../generated/tenantsScreen_tenants.graphql.ts'
import type { tenantsScreenPageQuery } from '../../generated/tenantsScreenPageQuery.graphql.ts'
import type { tenantsScreenQuery } from '../../generated/tenantsScreenQuery.graphql.ts'
import { LiveChanges } from '../../parts/live-changes.tsx'
import { countPage, MoreRows, PAGE_SIZE } from '../../parts/more-rows.tsx'
import { notify } from '../../parts/notices.tsx'
import { useScreenQuery } from '../../parts/screen-query.ts'
import { SearchBox } from '../../parts/search-box.tsx'
import { SETUP_STEPS } from '../../parts/setup-steps.ts'
import { ListSkeleton } from '../../parts/skeleton.tsx'
import { Time } from '../../parts/time.tsx'
import { useMay } from '../../shell/viewer-scopes.ts'
import { t, tCount } from '../../words/words.ts'
import { CreateTenant } from './create-tenant.tsx'

const route = getRouteApi('/tenants')

/** The tenants of the deployment, for its operators. */
export function TenantsScreen() {
  const { search = '' } = route.useSearch()
  const navigate = useNavigate({ from: '/tenants' })
  const mayWrite = useMay('tenants:write')
  const [isOpen, setIsOpen] = useState(false)
  const changeSearch = useCallback(
    (entered: string) => void navigate({ search: { search: entered || undefined }, replace: true }),
    [navigate],
  )
  return (
    <section className="screen">
      <header className="screen-head">
        <h1>{t('Tenants')}</h1>
        <SearchBox
          label={t('Search tenants')}
          placeholder={t('Search by name or slug')}
          search={search}
          onSearch={changeSearch}
        />
        {mayWrite && (
          <button type="button" className="button" onClick={() => setIsOpen(true)}>
            {t('Create a tenant')}
          </button>
        )}
      </header>
      <Suspense fallback={<ListSkeleton />}>
        <TenantList search={useDeferredValue(search)} />
      </Suspense>
      {isOpen && (
        <CreateTenant
          onClose={() => setIsOpen(false)}
          onDone={(slug, administrator) => {
            notify(
              administrator
                ? t('{slug} is created. {administrator} gets a mail.', { slug, administrator })
                : t('{slug} is created.', { slug }),
            )
            void navigate({ to: '/tenants/$slug', params: { slug } })
          }}
        />
      )}
    </section>
  )
}

function TenantList({ search }: { search: string }) {
  const [query, refresh] = useScreenQuery<tenantsScreenQuery>(
    graphql`
      query tenantsScreenQuery($filter: TenantFilter, $first: Int!) {
        viewer {
          eventPosition
        }
        ...tenantsScreen_tenants @arguments(filter: $filter, first: $first)
      }
    `,
    { filter: search ? { search } : null, first: PAGE_SIZE },
  )
  const { data, loadNext, hasNext, isLoadingNext } = usePaginationFragment<
    tenantsScreenPageQuery,
    tenantsScreen_tenants$key
  >(
    graphql`
      fragment tenantsScreen_tenants on Query
      @argumentDefinitions(
        filter: { type: "TenantFilter" }
        after: { type: "String" }
        first: { type: "Int" }
      )
      @refetchable(queryName: "tenantsScreenPageQuery") {
        tenants(first: $first, after: $after, filter: $filter)
          @connection(key: "tenantsScreen_tenants", filters: ["filter"]) {
          totalSize
          edges {
            node {
              id
              createdAt
              settings {
                friendlyName
              }
              setup {
                item
                done
              }
            }
          }
        }
      }
    `,
    query,
  )
  const mayFollow = useMay('events:read')
  const { tenants } = data
  const loaded = tenants?.edges.length
  // Whoever may not read the log has the list up to date when coming back to it.
  useEffect(() => {
    const refreshAll = () => refresh({ first: countPage(loaded) })
    if (!mayFollow) addEventListener('focus', refreshAll)
    return () => removeEventListener('focus', refreshAll)
  }, [mayFollow, loaded, refresh])
  if (!tenants) return <p className="empty">{t('You may not read tenants.')}</p>
  return (
    <>
      {mayFollow && (
        <LiveChanges
          types={['TENANT_CREATED', 'TENANT_DELETED']}
          after={query.viewer?.eventPosition}
          onChange={() => refresh({ first: countPage(loaded) })}
        />
      )}
      <p className="count" role="status">
        {tCount(tenants.totalSize, '{count} tenant', '{count} tenants')}
      </p>
      {tenants.edges.length === 0 ? (
        <p className="empty">{t('No tenant has this name or slug.')}</p>
      ) : (
        <table className="rows">
          <thead>
            <tr>
              <th scope="col">{t('Name')}</th>
              <th scope="col">{t('Slug')}</th>
              <th scope="col">{t('Still needs')}</th>
              <th scope="col">{t('Created')}</th>
            </tr>
          </thead>
          <tbody>
            {tenants.edges.map(({ node: { id, createdAt, settings, setup } }) => (
              <tr key={id}>
                <th scope="row">
                  <Link to="/tenants/$slug" params={{ slug: id }} className="row-link">
                    <span className="truncated">{settings.friendlyName ?? id}</span>
                  </Link>
                </th>
                <td>{id}</td>
                <td className="truncated">
                  {setup
                    .filter(({ done }) => !done)
                    .map(({ item }) => SETUP_STEPS[item as keyof typeof SETUP_STEPS].label)
                    .join(', ') || <span className="none">{t('nothing')}</span>}
                </td>
                <td data-label={t('Created')}>
                  <Time at={createdAt} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <MoreRows hasMore={hasNext} isLoading={isLoadingNext} load={() => void loadNext(PAGE_SIZE)} />
    </>
  )
}
