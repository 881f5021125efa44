import '../../parts/tabs.css'
import './users.css'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useDeferredValue } from 'react'
import { graphql } from 'react-relay/hooks'
import type { userActionsLockMutation } from '../../generated/userActionsLockMutation.graphql.ts'
import type { userActionsUnlockMutation } from '../../generated/userActionsUnlockMutation.graphql.ts'
import type { userScreenDeleteMutation } from '../../generated/userScreenDeleteMutation.graphql.ts'
import type { userScreenQuery } from '../../generated/userScreenQuery.graphql.ts'
import { Avatar } from '../../parts/avatar.tsx'
import { CopiedText } from '../../parts/copied-text.tsx'
import { ConfirmedButton } from '../../parts/dialog.tsx'
import { ProblemText } from '../../parts/form.tsx'
import { LiveChanges } from '../../parts/live-changes.tsx'
import { PAGE_SIZE } from '../../parts/more-rows.tsx'
import { useProblemMutation } from '../../parts/mutation.ts'
import { notify } from '../../parts/notices.tsx'
import { useScreenQuery } from '../../parts/screen-query.ts'
import { useLacks, useMay } from '../../shell/viewer-scopes.ts'
import { t } from '../../words/words.ts'
import { EventList } from '../log/event-list.tsx'
import { UserPermissions } from '../permissions/user-permissions.tsx'
import { LOCK_USER, UNLOCK_USER } from './user-actions.ts'
import { UserApiKeys } from './user-api-keys.tsx'
import { UserConsents } from './user-consents.tsx'
import { UserCredentials } from './user-credentials.tsx'
import { SIGN_IN_EVENTS, UserEvents } from './user-events.tsx'
import { UserFacts } from './user-facts.tsx'
import { UserLimits } from './user-limits.tsx'
import { UserLinks } from './user-links.tsx'
import { UserOrganizations } from './user-organizations.tsx'
import { UserProfile } from './user-profile.tsx'
import { UserSessions } from './user-sessions.tsx'

const route = getRouteApi('/users/$userId')

const TABS = {
  overview: t('Overview'),
  profile: t('Profile'),
  'sign-in': t('Sign-in'),
  permissions: t('Permissions'),
  events: t('Events'),
} as const
type Tab = keyof typeof TABS
const isTab = (text: string | undefined): text is Tab => text !== undefined && text in TABS

/** One user in five tabs, each of which is one request. What happens to the user is shown at once. */
export function UserScreen() {
  const { userId } = route.useParams()
  const search = route.useSearch()
  const tab = useDeferredValue<Tab>(isTab(search.tab) ? search.tab : 'overview')
  const isAttempts = useDeferredValue(search.only === 'attempts')
  const [data, refresh] = useScreenQuery<userScreenQuery>(
    graphql`
      query userScreenQuery(
        $userId: ID!
        $overview: Boolean!
        $profile: Boolean!
        $signIn: Boolean!
        $permissions: Boolean!
        $organizationId: ID
        $events: Boolean!
        $types: [EventType!]
        $first: Int
      ) {
        viewer {
          eventPosition
        }
        user(id: $userId) {
          id
          name
          email
          phoneNumber
          picture
          locked
          roles
          ... @include(if: $overview) @alias(as: "overview") {
            ...userFacts_user
            ...userSessions_user
            ...userOrganizations_user
          }
          ... @include(if: $profile) @alias(as: "profile") {
            ...userProfile_user
          }
          ... @include(if: $signIn) @alias(as: "signIn") {
            ...userCredentials_user
            ...userLinks_user
            ...userConsents_user
            ...userLimits_user
          }
          ... @include(if: $permissions) @alias(as: "permitted") {
            ...userPermissions_user @arguments(organizationId: $organizationId)
          }
        }
        roles {
          role
          scopes {
            scope
          }
        }
        ... @include(if: $overview) @alias(as: "overview") {
          ...roleChoice_query
          recent: events(filter: { subjectId: $userId }, direction: DESC, first: 30) {
            edges {
              node {
                id
                ...eventList_event
              }
            }
          }
        }
        ... @include(if: $signIn) @alias(as: "keys") {
          ...userApiKeys_query @arguments(userId: $userId)
        }
        ... @include(if: $events) @alias(as: "log") {
          ...userEvents_events @arguments(userId: $userId, types: $types, first: $first)
        }
      }
    `,
    {
      userId,
      overview: tab === 'overview',
      profile: tab === 'profile',
      signIn: tab === 'sign-in',
      permissions: tab === 'permissions',
      organizationId: search.organization,
      events: tab === 'events',
      types: isAttempts ? SIGN_IN_EVENTS : null,
      first: PAGE_SIZE,
    },
  )
  const mayRead = useMay('events:read')
  const mayChange = useMayChange(data)
  const { user, overview, keys, log } = data
  if (!user)
    return (
      <div className="outcome">
        <h1>{t('There is no such user')}</h1>
        <p>{t('The user may have been deleted since.')}</p>
        <Link to="/users" className="button">
          {t('All users')}
        </Link>
      </div>
    )
  const after = data.viewer?.eventPosition
  return (
    <section className="screen user-screen">
      {mayRead && !log && <LiveChanges subjectId={userId} after={after} onChange={refresh} />}
      <UserHead user={user} mayChange={mayChange} />
      <nav className="tabs" aria-label={t('Of the user')}>
        {Object.entries(TABS).map(([name, label]) => (
          <Link
            key={name}
            to="/users/$userId"
            params={{ userId }}
            search={name === 'overview' ? {} : { tab: name }}
            activeOptions={{ exact: true }}
            aria-current={name === tab ? 'page' : undefined}
          >
            {label}
          </Link>
        ))}
      </nav>
      {overview && user.overview && (
        <div className="columns">
          <UserFacts user={user.overview} query={overview} mayChange={mayChange} />
          <div>
            <UserSessions user={user.overview} after={after} mayChange={mayChange} />
            <UserOrganizations user={user.overview} />
            {overview.recent && (
              <section className="card">
                <h2>{t('What happened')}</h2>
                <EventList events={overview.recent.edges.map(({ node }) => node)} about={userId} />
              </section>
            )}
          </div>
        </div>
      )}
      {user.profile && (
        <UserProfile key={userId} user={user.profile} mayChange={mayChange} onConflict={refresh} />
      )}
      {user.signIn && (
        <div className="sections">
          <UserCredentials user={user.signIn} mayChange={mayChange} onChange={refresh} />
          <UserLimits user={user.signIn} mayChange={mayChange} onChange={refresh} />
          <UserLinks user={user.signIn} onChange={refresh} />
          {keys && <UserApiKeys userId={userId} query={keys} onChange={refresh} />}
          <UserConsents user={user.signIn} mayChange={mayChange} onChange={refresh} />
        </div>
      )}
      {user.permitted && (
        <UserPermissions
          user={user.permitted}
          organizationId={search.organization}
          after={after}
          onChange={refresh}
        />
      )}
      {log && (
        <UserEvents
          userId={userId}
          query={log}
          isAttempts={isAttempts}
          after={after}
          onChange={(first) => refresh({ first })}
        />
      )}
    </section>
  )
}

/** Whether the viewer may change the user: whose roles permit more than the viewer may, is changed by others only. */
function useMayChange({ user, roles }: userScreenQuery['response']): boolean {
  const mayWrite = useMay('users:write')
  const lacksScope = useLacks()
  return mayWrite && !roles?.some(({ role, scopes }) => user?.roles.includes(role) && lacksScope(scopes))
}

function UserHead({
  user,
  mayChange,
}: {
  user: NonNullable<userScreenQuery['response']['user']>
  mayChange: boolean
}) {
  const userId = user.id
  const navigate = useNavigate()
  const lock = useProblemMutation<userActionsLockMutation>(LOCK_USER)
  const unlock = useProblemMutation<userActionsUnlockMutation>(UNLOCK_USER)
  const deletion = useProblemMutation<userScreenDeleteMutation>(graphql`
    mutation userScreenDeleteMutation($userId: ID!) {
      deleteUser(input: { userId: $userId }) {
        ... on DeleteUserPayload {
          deletedUserId
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const name = user.name ?? user.email ?? user.phoneNumber ?? user.id
  return (
    <>
      <header className="screen-head user-head">
        <Avatar name={user.name ?? user.email ?? ''} picture={user.picture ?? null} />
        <div>
          <h1>{name}</h1>
          <CopiedText text={user.id} />
        </div>
        {user.locked && <span className="badge danger">{t('Locked')}</span>}
        <div className="actions">
          <Link className="button quiet" to="/explain" search={{ user: userId }}>
            {t('Explain a sign-in')}
          </Link>
          {mayChange && (
            <>
              <button
                type="button"
                className={`button ${user.locked ? '' : 'danger'}`}
                disabled={lock.isRunning || unlock.isRunning}
                onClick={() =>
                  user.locked
                    ? unlock.run({ userId })
                    : lock.run({ userId }, () =>
                        notify(t('{name} is locked.', { name }), () => unlock.run({ userId })),
                      )
                }
              >
                {user.locked ? t('Unlock') : t('Lock and end all sessions')}
              </button>
              <ConfirmedButton
                label={t('Delete')}
                title={t('Delete {name}?', { name })}
                consequence={
                  <p>
                    {t(
                      'The user, the sessions, passkeys, links and consents are deleted. Nothing brings them back. To keep somebody out for a time, lock the user instead.',
                    )}
                  </p>
                }
                name={name}
                isRunning={deletion.isRunning}
                problem={deletion.problem}
                onConfirm={(close) =>
                  deletion.run({ userId }, () => {
                    close()
                    notify(t('{name} is deleted.', { name }))
                    void navigate({ to: '/users' })
                  })
                }
              />
            </>
          )}
        </div>
      </header>
      <ProblemText problem={lock.problem ?? unlock.problem} />
    </>
  )
}
