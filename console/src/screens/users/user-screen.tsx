import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { graphql, useLazyLoadQuery } from 'react-relay/hooks'
import type { userScreenLockMutation } from '../../generated/userScreenLockMutation.graphql.ts'
import type { userScreenQuery } from '../../generated/userScreenQuery.graphql.ts'
import type { userScreenUnlockMutation } from '../../generated/userScreenUnlockMutation.graphql.ts'
import { Avatar } from '../../parts/avatar.tsx'
import { CopiedText } from '../../parts/copied-text.tsx'
import { ProblemText } from '../../parts/form.tsx'
import { useProblemMutation } from '../../parts/mutation.ts'
import { notify } from '../../parts/notices.tsx'
import { Time } from '../../parts/time.tsx'
import { useMay } from '../../shell/viewer-scopes.ts'
import { EventList } from '../log/event-list.tsx'
import { useLiveLocks } from './live-locks.ts'
import { UserSessions } from './user-sessions.tsx'

const route = getRouteApi('/users/$userId')

/** One user: the profile, the sessions as they start and end, and what happened. */
export function UserScreen() {
  const { userId } = route.useParams()
  const [generation, setGeneration] = useState(0)
  const data = useLazyLoadQuery<userScreenQuery>(
    graphql`
      query userScreenQuery($userId: ID!) {
        viewer {
          eventPosition
        }
        user(id: $userId) {
          id
          name
          email
          emailVerified
          phoneNumber
          phoneNumberVerified
          picture
          locale
          zoneinfo
          roles
          locked
          lockedAt
          lastSeenAt
          createdAt
          ...userSessions_user
        }
        events(filter: { subjectId: $userId }, direction: DESC, first: 30) {
          edges {
            node {
              id
              ...eventList_event
            }
          }
        }
      }
    `,
    { userId },
    { fetchKey: generation, fetchPolicy: 'store-and-network' },
  )
  useLiveLocks({ userId, after: data.viewer?.eventPosition }, () => setGeneration((former) => former + 1))
  const mayWrite = useMay('users:write')
  const lock = useProblemMutation<userScreenLockMutation>(graphql`
    mutation userScreenLockMutation($userId: ID!) {
      lockUser(input: { userId: $userId }) {
        ... on LockUserPayload {
          user {
            id
            locked
            lockedAt
          }
        }
        ... on UserError {
          message
        }
      }
    }
  `)
  const unlock = useProblemMutation<userScreenUnlockMutation>(graphql`
    mutation userScreenUnlockMutation($userId: ID!) {
      unlockUser(input: { userId: $userId }) {
        ... on UnlockUserPayload {
          user {
            id
            locked
            lockedAt
          }
        }
        ... on UserError {
          message
        }
      }
    }
  `)
  const { user, events } = data
  if (!user)
    return (
      <div className="outcome">
        <h1>There is no such user</h1>
        <p>The user may have been deleted since.</p>
        <Link to="/users" className="button">
          All users
        </Link>
      </div>
    )
  const name = user.name ?? user.email ?? user.phoneNumber ?? user.id
  return (
    <section className="screen">
      <header className="screen-head user-head">
        <Avatar name={user.name ?? user.email ?? ''} picture={user.picture ?? null} />
        <div>
          <h1>{name}</h1>
          <CopiedText text={user.id} />
        </div>
        {user.locked && <span className="badge danger">Locked</span>}
        {mayWrite && (
          <button
            type="button"
            className={`button ${user.locked ? '' : 'danger'}`}
            disabled={lock.isRunning || unlock.isRunning}
            onClick={() =>
              user.locked
                ? unlock.run({ userId })
                : lock.run({ userId }, () => notify(`${name} is locked.`, () => unlock.run({ userId })))
            }
          >
            {user.locked ? 'Unlock' : 'Lock and end all sessions'}
          </button>
        )}
      </header>
      <ProblemText problem={lock.problem ?? unlock.problem} />
      <div className="columns">
        <dl className="facts card">
          <dt>Email</dt>
          <dd>
            {user.email ?? <span className="none">none</span>}
            {user.email && (
              <span className={`badge ${user.emailVerified ? 'calm' : 'warning'}`}>
                {user.emailVerified ? 'verified' : 'not verified'}
              </span>
            )}
          </dd>
          <dt>Phone</dt>
          <dd>
            {user.phoneNumber ?? <span className="none">none</span>}
            {user.phoneNumber && (
              <span className={`badge ${user.phoneNumberVerified ? 'calm' : 'warning'}`}>
                {user.phoneNumberVerified ? 'verified' : 'not verified'}
              </span>
            )}
          </dd>
          <dt>Roles</dt>
          <dd>
            {user.roles.length > 0 ? user.roles.join(', ').toLowerCase() : <span className="none">none</span>}
          </dd>
          <dt>Language</dt>
          <dd>{user.locale ?? <span className="none">unknown</span>}</dd>
          <dt>Time zone</dt>
          <dd>{user.zoneinfo ?? <span className="none">unknown</span>}</dd>
          <dt>Last seen</dt>
          <dd>
            <Time at={user.lastSeenAt} />
          </dd>
          <dt>Created</dt>
          <dd>
            <Time at={user.createdAt} />
          </dd>
        </dl>
        <div>
          <UserSessions user={user} after={data.viewer?.eventPosition} />
          {events && (
            <section className="card">
              <h2>What happened</h2>
              <EventList events={events.edges.map(({ node }) => node)} />
            </section>
          )}
        </div>
      </div>
    </section>
  )
}
