import { Link } from '@tanstack/react-router'
import { graphql, useFragment } from 'react-relay/hooks'
import type { userSessions_user$key } from '../../generated/userSessions_user.graphql.ts'
import type { userSessionsEndAllMutation } from '../../generated/userSessionsEndAllMutation.graphql.ts'
import type { userSessionsEndedSubscription } from '../../generated/userSessionsEndedSubscription.graphql.ts'
import type { userSessionsRevokeMutation } from '../../generated/userSessionsRevokeMutation.graphql.ts'
import type { userSessionsStartedSubscription } from '../../generated/userSessionsStartedSubscription.graphql.ts'
import { ConfirmedButton } from '../../parts/dialog.tsx'
import { ProblemText } from '../../parts/form.tsx'
import { useLive } from '../../parts/live-events.ts'
import { useProblemMutation } from '../../parts/mutation.ts'
import { Time } from '../../parts/time.tsx'
import { describeBrowser } from '../../parts/user-agent.ts'
import { useMay } from '../../shell/viewer-scopes.ts'
import { t } from '../../words/words.ts'

/** Sessions that the card has; the others are in the list of sessions. */
const MAX_SESSIONS = 20

/** The sessions of a user, which come and go as they start and end anywhere. */
export function UserSessions({
  user: key,
  after,
  mayChange,
}: {
  user: userSessions_user$key
  after: string | null | undefined
  mayChange: boolean
}) {
  const user = useFragment(
    graphql`
      fragment userSessions_user on User {
        id
        sessions(first: 20) @connection(key: "userSessions_sessions") {
          __id
          totalSize
          edges {
            node {
              id
              ...userSessions_session @relay(mask: false)
            }
          }
        }
      }
    `,
    key,
  )
  const connections = user.sessions ? [user.sessions.__id] : []
  useLive<userSessionsEndedSubscription>({
    subscription: graphql`
      subscription userSessionsEndedSubscription($userId: ID, $connections: [ID!]!, $after: String) {
        sessionChanged(userId: $userId, kinds: [ENDED], after: $after) {
          ... on Event {
            position
          }
          ... on SessionEvent {
            sessionId @deleteEdge(connections: $connections)
          }
        }
      }
    `,
    variables: { userId: user.id, connections, after },
  })
  useLive<userSessionsStartedSubscription>({
    subscription: graphql`
      subscription userSessionsStartedSubscription($userId: ID, $connections: [ID!]!, $after: String) {
        sessionChanged(userId: $userId, kinds: [STARTED], after: $after) {
          ... on Event {
            position
          }
          ... on SessionEvent {
            session @prependNode(connections: $connections, edgeTypeName: "SessionEdge") {
              id
              ...userSessions_session @relay(mask: false)
            }
          }
        }
      }
    `,
    variables: { userId: user.id, connections, after },
  })
  const mayRevoke = useMay('sessions:write') && mayChange
  const revoke = useProblemMutation<userSessionsRevokeMutation>(graphql`
    mutation userSessionsRevokeMutation($sessionId: ID!, $connections: [ID!]!) {
      revokeSession(input: { sessionId: $sessionId }) {
        ... on RevokeSessionPayload {
          revokedSessionId @deleteEdge(connections: $connections)
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const endAll = useProblemMutation<userSessionsEndAllMutation>(graphql`
    mutation userSessionsEndAllMutation($userId: ID!, $connections: [ID!]!) {
      revokeUserSessions(input: { userId: $userId }) {
        ... on RevokeUserSessionsPayload {
          revokedSessionIds @deleteEdge(connections: $connections)
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  if (!user.sessions) return null
  const { edges, totalSize } = user.sessions
  // The total is read with the screen; sessions come and go meanwhile.
  const count = edges.length < MAX_SESSIONS ? edges.length : Math.max(totalSize, edges.length)
  return (
    <section className="card">
      <h2>
        {t('Sessions')} <span className="badge">{count}</span>
        {mayRevoke && edges.length > 0 && (
          <ConfirmedButton
            label={t('End all sessions')}
            title={t('End all sessions?')}
            consequence={<p>{t('The user is signed out everywhere and can sign in again.')}</p>}
            isRunning={endAll.isRunning}
            problem={endAll.problem}
            onConfirm={(close) => endAll.run({ userId: user.id, connections }, close)}
          />
        )}
      </h2>
      <ProblemText problem={revoke.problem} />
      {edges.length === 0 && <p className="empty">{t('No session. A sign-in appears here at once.')}</p>}
      <ul className="sessions">
        {edges.map(({ node }) => (
          <li key={node.id}>
            <div>
              <strong>{describeBrowser(node.userAgent)}</strong>
              <span>
                {[node.lastSeenLocation, node.lastSeenIp, node.client?.name].filter(Boolean).join(' · ')}
              </span>
            </div>
            <Time at={node.lastSeenAt ?? node.createdAt} />
            {mayRevoke && (
              <button
                type="button"
                className="button quiet"
                disabled={revoke.isRunning}
                aria-label={t('End the session of {userAgent}', {
                  userAgent: describeBrowser(node.userAgent),
                })}
                onClick={() => revoke.run({ sessionId: node.id, connections })}
              >
                {t('End')}
              </button>
            )}
          </li>
        ))}
      </ul>
      {count > edges.length && (
        <Link to="/sessions" search={{ user: user.id }}>
          {t('All {count} sessions', { count })}
        </Link>
      )}
    </section>
  )
}

graphql`
  fragment userSessions_session on Session {
    userAgent
    lastSeenIp
    lastSeenLocation
    lastSeenAt
    createdAt
    client {
      id
      name
    }
  }
`
