import { Link } from '@tanstack/react-router'
import { graphql, useLazyLoadQuery } from 'react-relay/hooks'
import type { usersScreenChangesSubscription } from '../../generated/usersScreenChangesSubscription.graphql.ts'
import type { usersScreenProvidersQuery } from '../../generated/usersScreenProvidersQuery.graphql.ts'
import type {
  UserFilter,
  UserOrderField,
  usersScreenQuery,
} from '../../generated/usersScreenQuery.graphql.ts'
import type { usersScreenRolesQuery } from '../../generated/usersScreenRolesQuery.graphql.ts'
import { type Filter, type ListValues, ORGANIZATION_FILTER, toRange } from '../../parts/filter-bar.tsx'
import { type ListDefinition, ListScreen, type LiveRows } from '../../parts/list-screen.tsx'
import { useLive } from '../../parts/live-events.ts'
import { useMay } from '../../shell/viewer-scopes.ts'
import { t, tCount } from '../../words/words.ts'
import { useLiveLocks } from './live-locks.ts'
import { USER_ACTIONS } from './user-actions.ts'
import { USER_COLUMNS, useUser } from './user-columns.tsx'
import { USER_EXPORT } from './user-export.ts'
import { UserJobDialog } from './user-job.tsx'

const YES_NO = [
  ['yes', t('yes')],
  ['no', t('no')],
] as const
const NO_YES = [
  ['no', t('no')],
  ['yes', t('yes')],
] as const

const FILTERS: readonly Filter[] = [
  { name: 'locked', label: t('Locked'), group: 'flags', kind: 'choice', options: YES_NO },
  { name: 'emailVerified', label: t('Email verified'), group: 'flags', kind: 'choice', options: NO_YES },
  { name: 'phoneVerified', label: t('Phone verified'), group: 'flags', kind: 'choice', options: NO_YES },
  {
    name: 'role',
    label: t('Role'),
    group: 'role',
    kind: 'loaded',
    Options: RoleOptions,
  },
  { name: 'seenBefore', label: t('Last seen before'), group: 'lastSeen', kind: 'day', daysAgo: 365 },
  { name: 'seenFrom', label: t('Last seen from'), group: 'lastSeen', kind: 'day', daysAgo: 30 },
  { name: 'createdFrom', label: t('Created from'), group: 'created', kind: 'day', daysAgo: 30 },
  { name: 'createdBefore', label: t('Created before'), group: 'created', kind: 'day', daysAgo: 0 },
  { name: 'externalId', label: t('External id'), kind: 'text', placeholder: t('of an import') },
]
/** Filters that need a scope of their own. */
const CREDENTIAL_FILTER: Filter = {
  name: 'credential',
  label: t('Passkey or second factor'),
  group: 'flags',
  kind: 'choice',
  options: NO_YES,
}
const PROVIDER_FILTER: Filter = {
  name: 'provider',
  label: t('Provider'),
  group: 'provider',
  kind: 'loaded',
  Options: ProviderOptions,
}

function RoleOptions() {
  const { roles } = useLazyLoadQuery<usersScreenRolesQuery>(
    graphql`
      query usersScreenRolesQuery {
        roles {
          role
        }
      }
    `,
    {},
  )
  return roles?.map(({ role }) => (
    <option key={role} value={role}>
      {role}
    </option>
  ))
}

function ProviderOptions() {
  const { identityProviders } = useLazyLoadQuery<usersScreenProvidersQuery>(
    graphql`
      query usersScreenProvidersQuery {
        identityProviders(first: 200) {
          nodes {
            id
            name
          }
        }
      }
    `,
    {},
  )
  return identityProviders?.nodes.map(({ id, name }) => (
    <option key={id} value={id}>
      {name}
    </option>
  ))
}

const toFlag = (value: string | undefined): boolean | undefined =>
  value === 'yes' ? true : value === 'no' ? false : undefined

const ORDERS: Record<string, UserOrderField> = {
  name: 'NAME',
  address: 'EMAIL',
  lastSeen: 'LAST_SEEN_AT',
  created: 'CREATED_AT',
  updated: 'UPDATED_AT',
}

const toFilter = (values: ListValues): UserFilter => ({
  search: values.search,
  locked: toFlag(values.locked),
  emailVerified: toFlag(values.emailVerified),
  phoneNumberVerified: toFlag(values.phoneVerified),
  hasCredential: toFlag(values.credential),
  role: values.role,
  idpId: values.provider,
  organizationId: values.organization,
  externalId: values.externalId,
  createdAt: toRange(values.createdFrom, values.createdBefore),
  lastSeenAt: toRange(values.seenFrom, values.seenBefore),
})

/** An order by name, address and time has an index of all users; a period has that of its time. */
function canSort(column: string, values: ListValues): boolean {
  const { search, externalId, createdAt, lastSeenAt, ...flags } = toFilter(values)
  if (search || externalId) return true
  if (Object.values(flags).some((value) => value !== undefined)) return false
  return (!createdAt || column === 'created') && (!lastSeenAt || column === 'lastSeen')
}

const USERS: ListDefinition<
  usersScreenQuery,
  NonNullable<usersScreenQuery['response']['users']>['nodes'][number],
  ReturnType<typeof useUser>
> = {
  title: t('Users'),
  name: 'users',
  describeCount: (count) => tCount(count, '{count} user', '{count} users'),
  empty: t('No user matches. Change the search or the filter.'),
  searchLabel: t('Search by name, address or id'),
  columns: USER_COLUMNS,
  useRow: useUser,
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
  getConnection: ({ users }) => users,
  toVariables: (values) => ({
    filter: toFilter(values),
    orderBy: {
      field: ORDERS[values.sort?.replace(/^-/, '') ?? ''],
      // A search has the order of the words that it finds, other lists begin with the newest user.
      direction: (values.sort ? values.sort.startsWith('-') : !values.search) ? 'DESC' : 'ASC',
    },
  }),
  canSort,
  actions: USER_ACTIONS,
  JobDialog: UserJobDialog,
  exported: USER_EXPORT,
  Live: LiveUsers,
}

/** The users of the tenant: search, filters, and their state as it changes. */
export function UsersScreen() {
  const filters = [
    ...FILTERS,
    ...(useMay('credentials:read') ? [CREDENTIAL_FILTER] : []),
    ...(useMay('idps:read') ? [PROVIDER_FILTER] : []),
    ...(useMay('organizations:read') ? [ORGANIZATION_FILTER] : []),
  ]
  const action = useMay('users:write') && (
    <>
      <Link to="/users/jobs" className="button quiet">
        {t('Jobs')}
      </Link>
      <Link to="/users/import" className="button quiet">
        {t('Import')}
      </Link>
      <Link to="/users/new" className="button">
        {t('New user')}
      </Link>
    </>
  )
  return <ListScreen definition={USERS} filters={filters} action={action} />
}

/** Follows locks, announces new users, and marks those that are deleted. */
function LiveUsers({ after, announce, withdraw }: { after: string | null | undefined } & LiveRows) {
  useLiveLocks({ after })
  useLive<usersScreenChangesSubscription>({
    subscription: graphql`
      subscription usersScreenChangesSubscription($after: String) {
        events(types: [USER_CREATED, USER_DELETED], after: $after) {
          id
          position
          type
          ... on AuditEvent {
            subjectIds
          }
        }
      }
    `,
    variables: { after },
    updater: (store, response) => {
      if (response?.events.type !== 'USER_DELETED') return
      for (const id of response.events.subjectIds ?? []) store.get(id)?.setValue(true, 'isDeleted')
    },
    onNext: (response) => {
      const { type, subjectIds = [] } = response?.events ?? {}
      if (type === 'USER_CREATED') announce(subjectIds)
      else for (const id of subjectIds) withdraw(id)
    },
  })
  return null
}
