import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { graphql } from 'react-relay/hooks'
import { usePaginationFragment } from 'react-relay/relay-hooks/usePaginationFragment'
import type {
  appRoleHolders_appRole$data,
  appRoleHolders_appRole$key,
} from '../../generated/appRoleHolders_appRole.graphql.ts'
import type { appRoleHoldersPageQuery } from '../../generated/appRoleHoldersPageQuery.graphql.ts'
import { MoreRows, PAGE_SIZE } from '../../parts/more-rows.tsx'
import { t } from '../../words/words.ts'
import { toPathId } from '../applications/kinds.ts'

type Holder = NonNullable<appRoleHolders_appRole$data['holders']>['edges'][number]['node']

/** A holder, which leads to the screen where the role is given and taken. */
function describeHolder(holder: Holder): { link: ReactNode; kind: string } {
  const { userId, user, clientId, client, groupId, group, organization } = holder
  if (groupId)
    return {
      link: (
        <Link to="/groups/$groupId" params={{ groupId }}>
          {group?.name ?? groupId}
        </Link>
      ),
      kind: organization ? t('group of {organization}', { organization: organization.name }) : t('group'),
    }
  if (clientId)
    return {
      link: (
        <Link
          to="/applications/$clientId"
          params={{ clientId: toPathId(clientId) }}
          search={{ tab: 'roles' }}
        >
          {client?.name ?? clientId}
        </Link>
      ),
      kind: t('machine client'),
    }
  const name = user?.name ?? user?.email ?? userId ?? holder.holderId
  return {
    link: userId && (
      <Link to="/users/$userId" params={{ userId }} search={{ tab: 'permissions' }}>
        {name}
      </Link>
    ),
    kind: organization ? t('member of {organization}', { organization: organization.name }) : t('user'),
  }
}

/** Who holds a role directly; the members of a group hold it by the group. */
export function AppRoleHolders({ appRole }: { appRole: appRoleHolders_appRole$key }) {
  const { data, loadNext, hasNext, isLoadingNext } = usePaginationFragment<
    appRoleHoldersPageQuery,
    appRoleHolders_appRole$key
  >(
    graphql`
      fragment appRoleHolders_appRole on AppRole
      @argumentDefinitions(after: { type: "String" }, first: { type: "Int" })
      @refetchable(queryName: "appRoleHoldersPageQuery") {
        holders(first: $first, after: $after) @connection(key: "appRoleHolders_holders") {
          totalSize
          edges {
            node {
              holderId
              userId
              clientId
              groupId
              user {
                name
                email
              }
              client {
                name
              }
              group {
                name
              }
              organization {
                name
              }
            }
          }
        }
      }
    `,
    appRole,
  )
  const { holders } = data
  if (!holders) return null
  return (
    <section className="card">
      <h2>{t('Held by ({count})', { count: holders.totalSize })}</h2>
      {holders.edges.length === 0 && <p className="empty">{t('Nobody has this role.')}</p>}
      <ul className="sessions">
        {holders.edges.map(({ node }) => {
          const { link, kind } = describeHolder(node)
          return (
            <li key={node.holderId}>
              <div>
                {link}
                <span>{kind}</span>
              </div>
            </li>
          )
        })}
      </ul>
      <MoreRows hasMore={hasNext} isLoading={isLoadingNext} load={() => void loadNext(PAGE_SIZE)} />
    </section>
  )
}
