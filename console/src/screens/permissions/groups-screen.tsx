import './permissions.css'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { graphql } from 'react-relay/hooks'
import { usePaginationFragment } from 'react-relay/relay-hooks/usePaginationFragment'
import type {
  groupsScreen_groups$data,
  groupsScreen_groups$key,
} from '../../generated/groupsScreen_groups.graphql.ts'
import type { groupsScreenPageQuery } from '../../generated/groupsScreenPageQuery.graphql.ts'
import type { groupsScreenQuery } from '../../generated/groupsScreenQuery.graphql.ts'
import { LiveChanges } from '../../parts/live-changes.tsx'
import { MoreRows } from '../../parts/more-rows.tsx'
import { useScreenQuery } from '../../parts/screen-query.ts'
import { useMay } from '../../shell/viewer-scopes.ts'
import { t, tCount } from '../../words/words.ts'
import { NewGroupDialog } from './new-group.tsx'

/** A tree needs the groups around those that it shows: pages are as large as the API has them. */
const PAGE = 1000

type Group = NonNullable<groupsScreen_groups$data['groups']>['edges'][number]['node']

/** The groups of the tenant itself, nested. Those of an organization are on the screen of the organization. */
export function GroupsScreen() {
  const [query, refresh] = useScreenQuery<groupsScreenQuery>(
    graphql`
      query groupsScreenQuery {
        viewer {
          eventPosition
        }
        ...groupsScreen_groups
      }
    `,
    {},
  )
  const { data, loadNext, hasNext, isLoadingNext } = usePaginationFragment<
    groupsScreenPageQuery,
    groupsScreen_groups$key
  >(
    graphql`
      fragment groupsScreen_groups on Query
      @argumentDefinitions(after: { type: "String" }, first: { type: "Int", defaultValue: 1000 })
      @refetchable(queryName: "groupsScreenPageQuery") {
        groups(first: $first, after: $after, filter: { owner: TENANT })
          @connection(key: "groupsScreen_groups") {
          totalSize
          edges {
            node {
              id
              name
              description
              parentId
            }
          }
        }
      }
    `,
    query,
  )
  const mayFollow = useMay('events:read')
  const mayWrite = useMay('roles:write')
  const [isOpen, setIsOpen] = useState(false)
  const { groups } = data
  if (!groups) return <p className="empty">{t('You may not read groups.')}</p>
  return (
    <section className="screen">
      {mayFollow && (
        <LiveChanges
          types={['GROUP_CREATED', 'GROUP_UPDATED', 'GROUP_DELETED']}
          after={query.viewer?.eventPosition}
          onChange={refresh}
        />
      )}
      <header className="screen-head">
        <h1>{t('Groups')}</h1>
        {mayWrite && (
          <button type="button" className="button" onClick={() => setIsOpen(true)}>
            {t('New group')}
          </button>
        )}
      </header>
      <p className="count" role="status">
        {tCount(groups.totalSize, '{count} group of the tenant', '{count} groups of the tenant')}
      </p>
      {groups.edges.length === 0 ? (
        <p className="empty">
          {t(
            'There are no groups yet. A group gives its members roles together. Groups of an organization are on its screen.',
          )}
        </p>
      ) : (
        <table className="rows">
          <thead>
            <tr>
              <th scope="col">{t('Name')}</th>
              <th scope="col">{t('Description')}</th>
            </tr>
          </thead>
          <tbody>
            {nestGroups(groups.edges.map(({ node }) => node)).map(({ group, depth }) => (
              <tr key={group.id}>
                <th scope="row" className={`depth-${depth}`}>
                  <Link to="/groups/$groupId" params={{ groupId: group.id }} className="row-link">
                    {depth > 0 && <span className="hidden">{t('nested:')}</span>}
                    <span className="truncated">{group.name}</span>
                  </Link>
                </th>
                <td className="truncated">{group.description}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <MoreRows hasMore={hasNext} isLoading={isLoadingNext} load={() => void loadNext(PAGE)} />
      {isOpen && <NewGroupDialog organizationId={null} parentId={null} onClose={() => setIsOpen(false)} />}
    </section>
  )
}

/** Groups by name, each before those that are nested in it. */
function nestGroups(groups: readonly Group[]): { group: Group; depth: number }[] {
  const known = new Set(groups.map(({ id }) => id))
  const sorted = groups.toSorted((one, other) => one.name.localeCompare(other.name))
  const walk = (parentId: string | null, depth: number): { group: Group; depth: number }[] =>
    sorted
      .filter((group) => (known.has(group.parentId ?? '') ? group.parentId : null) === parentId)
      .flatMap((group) => [{ group, depth }, ...walk(group.id, depth + 1)])
  return walk(null, 0)
}
