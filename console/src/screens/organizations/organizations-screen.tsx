import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { type FormEvent, Suspense, useCallback, useDeferredValue, useState } from 'react'
import { graphql } from 'react-relay/hooks'
import { usePaginationFragment } from 'react-relay/relay-hooks/usePaginationFragment'
import type { organizationsScreen_organizations$key } from '../../generated/organizationsScreen_organizations.graphql.ts'
import type { organizationsScreenCreateMutation } from '../../generated/organizationsScreenCreateMutation.graphql.ts'
import type { organizationsScreenPageQuery } from '../../generated/organizationsScreenPageQuery.graphql.ts'
import type { organizationsScreenQuery } from '../../generated/organizationsScreenQuery.graphql.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { Field, ProblemText, readText } from '../../parts/form.tsx'
import { LiveChanges } from '../../parts/live-changes.tsx'
import { countPage, MoreRows, PAGE_SIZE } from '../../parts/more-rows.tsx'
import { useProblemMutation } from '../../parts/mutation.ts'
import { useScreenQuery } from '../../parts/screen-query.ts'
import { SearchBox } from '../../parts/search-box.tsx'
import { ListSkeleton } from '../../parts/skeleton.tsx'
import { Time } from '../../parts/time.tsx'
import { useMay } from '../../shell/viewer-scopes.ts'
import { t, tCount } from '../../words/words.ts'

const route = getRouteApi('/organizations')

/** The organizations of the tenant: search, and changes by others. */
export function OrganizationsScreen() {
  const { search = '' } = route.useSearch()
  const navigate = useNavigate({ from: '/organizations' })
  const mayWrite = useMay('organizations:write')
  const [isOpen, setIsOpen] = useState(false)
  const changeSearch = useCallback(
    (entered: string) => void navigate({ search: { search: entered || undefined }, replace: true }),
    [navigate],
  )
  return (
    <section className="screen">
      <header className="screen-head">
        <h1>{t('Organizations')}</h1>
        <SearchBox
          label={t('Search organizations')}
          placeholder={t('Search by name or slug')}
          search={search}
          onSearch={changeSearch}
        />
        {mayWrite && (
          <button type="button" className="button" onClick={() => setIsOpen(true)}>
            {t('New organization')}
          </button>
        )}
      </header>
      <Suspense fallback={<ListSkeleton />}>
        <OrganizationList search={useDeferredValue(search)} />
      </Suspense>
      {isOpen && <NewOrganizationDialog onClose={() => setIsOpen(false)} />}
    </section>
  )
}

function OrganizationList({ search }: { search: string }) {
  const [query, refresh] = useScreenQuery<organizationsScreenQuery>(
    graphql`
      query organizationsScreenQuery($filter: OrganizationFilter, $first: Int!) {
        viewer {
          eventPosition
        }
        ...organizationsScreen_organizations @arguments(filter: $filter, first: $first)
      }
    `,
    { filter: search ? { search } : {}, first: PAGE_SIZE },
  )
  const { data, loadNext, hasNext, isLoadingNext } = usePaginationFragment<
    organizationsScreenPageQuery,
    organizationsScreen_organizations$key
  >(
    graphql`
      fragment organizationsScreen_organizations on Query
      @argumentDefinitions(
        filter: { type: "OrganizationFilter" }
        after: { type: "String" }
        first: { type: "Int" }
      )
      @refetchable(queryName: "organizationsScreenPageQuery") {
        organizations(first: $first, after: $after, filter: $filter)
          @connection(key: "organizationsScreen_organizations", filters: ["filter"]) {
          totalSize
          edges {
            node {
              id
              slug
              name
              externalId
              createdAt
            }
          }
        }
      }
    `,
    query,
  )
  const mayFollow = useMay('events:read')
  const { organizations } = data
  if (!organizations) return <p className="empty">{t('You may not read organizations.')}</p>
  return (
    <>
      {mayFollow && (
        <LiveChanges
          types={['ORGANIZATION_CREATED', 'ORGANIZATION_UPDATED', 'ORGANIZATION_DELETED']}
          after={query.viewer?.eventPosition}
          onChange={() => refresh({ first: countPage(organizations.edges.length) })}
        />
      )}
      <p className="count" role="status">
        {tCount(organizations.totalSize, '{count} organization', '{count} organizations')}
      </p>
      {organizations.edges.length === 0 ? (
        <p className="empty">
          {search
            ? t('No organization matches. Change the search.')
            : t(
                'There are no organizations yet. An organization is a customer of yours, to which users belong.',
              )}
        </p>
      ) : (
        <table className="rows">
          <thead>
            <tr>
              <th scope="col">{t('Name')}</th>
              <th scope="col">{t('Slug')}</th>
              <th scope="col">{t('External id')}</th>
              <th scope="col">{t('Created')}</th>
            </tr>
          </thead>
          <tbody>
            {organizations.edges.map(({ node }) => (
              <tr key={node.id}>
                <th scope="row">
                  <Link
                    to="/organizations/$organizationId"
                    params={{ organizationId: node.id }}
                    className="row-link"
                  >
                    <span className="truncated">{node.name}</span>
                  </Link>
                </th>
                <td className="truncated">{node.slug}</td>
                <td className="truncated" data-label={t('External id')}>
                  {node.externalId ?? <span className="none">{t('none')}</span>}
                </td>
                <td data-label={t('Created')}>
                  <Time at={node.createdAt} />
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

/** Creates an organization, and shows it. */
function NewOrganizationDialog({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate()
  const create = useProblemMutation<organizationsScreenCreateMutation>(graphql`
    mutation organizationsScreenCreateMutation($input: CreateOrganizationInput!) {
      createOrganization(input: $input) {
        ... on CreateOrganizationPayload {
          organization {
            id
          }
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const input = { name: readText(form, 'name'), slug: readText(form, 'slug') }
    create.run({ input }, ({ createOrganization: created }) => {
      onClose()
      if (created && 'organization' in created && created.organization)
        void navigate({
          to: '/organizations/$organizationId',
          params: { organizationId: created.organization.id },
        })
    })
  }
  return (
    <Dialog title={t('New organization')} onClose={onClose}>
      <form onSubmit={submit} noValidate>
        <Field label={t('Name')} name="name" problem={create.problem}>
          {(props) => <input {...props} autoComplete="off" />}
        </Field>
        <Field
          label={t('Slug')}
          name="slug"
          hint={t('Lower-case letters, digits and hyphens, for URLs and tokens.')}
          problem={create.problem}
        >
          {(props) => <input {...props} autoComplete="off" />}
        </Field>
        <ProblemText problem={create.problem} shown={['name', 'slug']} />
        <div className="actions">
          <button type="submit" className="button" disabled={create.isRunning}>
            {t('Create organization')}
          </button>
          <button type="button" className="button quiet" onClick={onClose}>
            {t('Cancel')}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
