import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { graphql, useFragment } from 'react-relay/hooks'
import type { applicationSessions_sessions$key } from '../../generated/applicationSessions_sessions.graphql.ts'
import type { applicationSessionsRevokeAllMutation } from '../../generated/applicationSessionsRevokeAllMutation.graphql.ts'
import type { applicationSessionsRevokeMutation } from '../../generated/applicationSessionsRevokeMutation.graphql.ts'
import type { applicationSessionsSubscription } from '../../generated/applicationSessionsSubscription.graphql.ts'
import { ConfirmedButton } from '../../parts/dialog.tsx'
import { ProblemText } from '../../parts/form.tsx'
import { JobProgress } from '../../parts/job-progress.tsx'
import { useLive } from '../../parts/live-events.ts'
import { useProblemMutation } from '../../parts/mutation.ts'
import { Time } from '../../parts/time.tsx'
import { describeBrowser } from '../../parts/user-agent.ts'
import { useMay } from '../../shell/viewer-scopes.ts'
import { t } from '../../words/words.ts'

/** The sessions that were started through an application, as they start and end. `onStarted` loads them again. */
export function ApplicationSessions({
  query,
  clientId,
  name,
  after,
  onStarted,
}: {
  query: applicationSessions_sessions$key
  clientId: string
  name: string
  after: string | null | undefined
  onStarted: () => void
}) {
  const { sessions } = useFragment(
    graphql`
      fragment applicationSessions_sessions on Query @argumentDefinitions(clientId: { type: "ID!" }) {
        sessions(filter: { clientId: $clientId }, first: 50) {
          totalSize
          nodes {
            id
            isEnded
            userAgent
            lastSeenIp
            lastSeenLocation
            lastSeenAt
            createdAt
            user {
              id
              name
              email
            }
          }
        }
      }
    `,
    query,
  )
  useLive<applicationSessionsSubscription>({
    subscription: graphql`
      subscription applicationSessionsSubscription($after: String) {
        sessionChanged(kinds: [STARTED, ENDED], after: $after) {
          ... on Event {
            position
          }
          ... on SessionEvent {
            kind
            sessionId
            session {
              clientId
            }
          }
        }
      }
    `,
    variables: { after },
    updater: (store, response) => {
      const event = response?.sessionChanged
      if (event?.kind === 'ENDED' && event.sessionId) store.get(event.sessionId)?.setValue(true, 'isEnded')
    },
    onNext: (response) => {
      if (response?.sessionChanged.session?.clientId === clientId) onStarted()
    },
  })
  const mayRevoke = useMay('sessions:write')
  const [ended, setEnded] = useState<ReadonlySet<string>>(new Set())
  const revoke = useProblemMutation<applicationSessionsRevokeMutation>(graphql`
    mutation applicationSessionsRevokeMutation($sessionId: ID!) {
      revokeSession(input: { sessionId: $sessionId }) {
        ... on RevokeSessionPayload {
          revokedSessionId
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const mayRevokeAll = useMay('clients:write')
  const [jobId, setJobId] = useState<string | null>(null)
  const revokeAll = useProblemMutation<applicationSessionsRevokeAllMutation>(graphql`
    mutation applicationSessionsRevokeAllMutation($clientId: ID!) {
      revokeClientAccess(input: { clientId: $clientId }) {
        ... on RevokeClientAccessPayload {
          bulkJob {
            id
          }
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  if (!sessions) return <p className="empty">{t('You may not read sessions.')}</p>
  const shown = sessions.nodes.filter(({ id, isEnded }) => !isEnded && !ended.has(id))
  const end = (sessionId: string, onDone?: () => void) =>
    revoke.run({ sessionId }, () => {
      setEnded((former) => new Set([...former, sessionId]))
      onDone?.()
    })
  /** One after another, so that an error names the first that could not be ended. */
  const endAll = ([first, ...others]: readonly { id: string }[], onDone: () => void): void =>
    first ? end(first.id, () => endAll(others, onDone)) : onDone()
  return (
    <section className="card">
      <h2>
        {t('Sessions')}{' '}
        <span className="badge">{Math.max(sessions.totalSize - ended.size, shown.length)}</span>
      </h2>
      <ProblemText problem={revoke.problem} />
      {shown.length === 0 && (
        <p className="empty">
          {t('No session was started through this application. Those of browsers belong to the tenant.')}
        </p>
      )}
      <ul className="sessions">
        {shown.map((session) => {
          const person = session.user?.name ?? session.user?.email ?? t('Unknown user')
          return (
            <li key={session.id}>
              <div>
                {session.user ? (
                  <Link to="/users/$userId" params={{ userId: session.user.id }}>
                    {person}
                  </Link>
                ) : (
                  <strong>{person}</strong>
                )}
                <span>
                  {[describeBrowser(session.userAgent), session.lastSeenLocation, session.lastSeenIp]
                    .filter(Boolean)
                    .join(' · ')}
                </span>
              </div>
              <Time at={session.lastSeenAt ?? session.createdAt} />
              {mayRevoke && (
                <button
                  type="button"
                  className="button quiet"
                  disabled={revoke.isRunning}
                  aria-label={t('End the session of {person}', { person })}
                  onClick={() => end(session.id)}
                >
                  {t('End')}
                </button>
              )}
            </li>
          )
        })}
      </ul>
      {jobId !== null && <JobProgress key={jobId} jobId={jobId} />}
      <div className="actions">
        {mayRevokeAll && (
          <ConfirmedButton
            label={t('Revoke all access')}
            title={t('Revoke all access of {name}', { name })}
            consequence={t(
              'All sessions and tokens of the application end, of all users, as after an incident. They stay signed in to the tenant, and can sign in to the application again. Rotate its secret first.',
            )}
            name={name}
            isRunning={revokeAll.isRunning}
            problem={revokeAll.problem}
            onConfirm={(close) =>
              revokeAll.run({ clientId }, ({ revokeClientAccess: started }) => {
                close()
                if (started && 'bulkJob' in started && started.bulkJob) setJobId(started.bulkJob.id)
              })
            }
          />
        )}
        {shown.length > 0 && (
          <>
            {mayRevoke && (
              <ConfirmedButton
                label={
                  shown.length === 1
                    ? t('End this session')
                    : t('End these {count} sessions', { count: shown.length })
                }
                title={t('End sessions of {name}', { name })}
                consequence={t('These people must sign in again.')}
                name={name}
                isRunning={revoke.isRunning}
                problem={revoke.problem}
                onConfirm={(close) =>
                  endAll(shown, () => {
                    close()
                    onStarted()
                  })
                }
              />
            )}
            <Link to="/sessions" search={{ client: clientId }} className="button quiet">
              {t('All in the list of sessions')}
            </Link>
          </>
        )}
      </div>
    </section>
  )
}
