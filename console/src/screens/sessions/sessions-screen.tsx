import { graphql, useLazyLoadQuery } from 'react-relay/hooks'
import type { sessionsScreenClientsQuery } from '../../generated/sessionsScreenClientsQuery.graphql.ts'
import type { sessionsScreenEndedSubscription } from '../../generated/sessionsScreenEndedSubscription.graphql.ts'
import type {
  SessionFilter,
  SessionOrderField,
  sessionsScreenQuery,
} from '../../generated/sessionsScreenQuery.graphql.ts'
import type { sessionsScreenStartedSubscription } from '../../generated/sessionsScreenStartedSubscription.graphql.ts'
import { type Filter, type ListValues, ORGANIZATION_FILTER, toRange } from '../../parts/filter-bar.tsx'
import { type ListDefinition, ListScreen, type LiveRows } from '../../parts/list-screen.tsx'
import { useLive } from '../../parts/live-events.ts'
import { useMay } from '../../shell/viewer-scopes.ts'
import { t, tCount } from '../../words/words.ts'
import { SESSION_COLUMNS, useSession } from './session-columns.tsx'
import { SESSION_EXPORT } from './session-export.ts'

const FILTERS: readonly Filter[] = [
  { name: 'ip', label: t('IP address'), group: 'ip', kind: 'text', placeholder: '203.0.113.7' },
  { name: 'seenBefore', label: t('Last seen before'), group: 'lastSeen', kind: 'day', daysAgo: 7 },
  { name: 'seenFrom', label: t('Last seen from'), group: 'lastSeen', kind: 'day', daysAgo: 1 },
  { name: 'createdFrom', label: t('Started from'), group: 'created', kind: 'day', daysAgo: 7 },
  { name: 'createdBefore', label: t('Started before'), group: 'created', kind: 'day', daysAgo: 0 },
  { name: 'user', label: t('User'), kind: 'text', placeholder: 'user_…' },
]
/** It needs a scope of its own. */
const CLIENT_FILTER: Filter = {
  name: 'client',
  label: t('Application'),
  group: 'client',
  kind: 'loaded',
  Options: ClientOptions,
}

function ClientOptions() {
  const { clients } = useLazyLoadQuery<sessionsScreenClientsQuery>(
    graphql`
      query sessionsScreenClientsQuery {
        clients(first: 200) {
          nodes {
            id
            name
          }
        }
      }
    `,
    {},
  )
  return clients?.nodes.map(({ id, name }) => (
    <option key={id} value={id}>
      {name}
    </option>
  ))
}

const ORDERS: Record<string, SessionOrderField> = { lastSeen: 'LAST_SEEN_AT', created: 'CREATED_AT' }

const toFilter = (values: ListValues): SessionFilter => ({
  userId: values.user,
  clientId: values.client,
  organizationId: values.organization,
  ip: values.ip,
  createdAt: toRange(values.createdFrom, values.createdBefore),
  lastSeenAt: toRange(values.seenFrom, values.seenBefore),
})

/** Those of a user are sorted; other orders have an index of all sessions, or of a period. */
function canSort(column: string, values: ListValues): boolean {
  const { userId, clientId, organizationId, ip, createdAt, lastSeenAt } = toFilter(values)
  if (userId) return true
  if (clientId || organizationId || ip) return false
  return (!createdAt || column === 'created') && (!lastSeenAt || column === 'lastSeen')
}

const SESSIONS: ListDefinition<
  sessionsScreenQuery,
  NonNullable<sessionsScreenQuery['response']['sessions']>['nodes'][number],
  ReturnType<typeof useSession>
> = {
  title: t('Sessions'),
  name: 'sessions',
  describeCount: (count) => tCount(count, '{count} session', '{count} sessions'),
  empty: t('No session matches, or nobody is signed in.'),
  columns: SESSION_COLUMNS,
  useRow: useSession,
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
  getConnection: ({ sessions }) => sessions,
  toVariables: (values) => ({
    filter: toFilter(values),
    orderBy: {
      field: ORDERS[values.sort?.replace(/^-/, '') ?? ''],
      direction: !values.sort || values.sort.startsWith('-') ? 'DESC' : 'ASC',
    },
  }),
  canSort,
  actions: [
    {
      label: t('End'),
      scope: 'sessions:write',
      consequence: t('Their users are signed out there, and can sign in again.'),
      mutation: graphql`
        mutation sessionsScreenEndMutation($sessionId: ID!) {
          revokeSession(input: { sessionId: $sessionId }) {
            ... on RevokeSessionPayload {
              revokedSessionId
            }
            ...result_problem @alias(as: "problem") @relay(mask: false)
          }
        }
      `,
      toVariables: (sessionId) => ({ sessionId }),
    },
  ],
  exported: SESSION_EXPORT,
  Live: LiveSessions,
}

/** The sessions of the tenant, on arrival and at their end. */
export function SessionsScreen() {
  const filters = [
    ...FILTERS,
    ...(useMay('clients:read') ? [CLIENT_FILTER] : []),
    ...(useMay('organizations:read') ? [ORGANIZATION_FILTER] : []),
  ]
  return <ListScreen definition={SESSIONS} filters={filters} />
}

/** Announces sessions that start, and marks those that end. */
function LiveSessions({ after, announce, withdraw }: { after: string | null | undefined } & LiveRows) {
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
      if (id) announce([id])
    },
  })
  return null
}
