import { Link } from '@tanstack/react-router'
import { graphql } from 'react-relay/hooks'
import type { BulkJobAction, jobsScreenQuery } from '../../generated/jobsScreenQuery.graphql.ts'
import { JobProgress } from '../../parts/job-progress.tsx'
import { LiveChanges } from '../../parts/live-changes.tsx'
import { useScreenQuery } from '../../parts/screen-query.ts'
import { Time } from '../../parts/time.tsx'
import { useMay } from '../../shell/viewer-scopes.ts'
import { t } from '../../words/words.ts'
import { toPathId } from '../applications/kinds.ts'

const ACTIONS: Partial<Record<BulkJobAction, string>> = {
  LOCK: t('Lock'),
  UNLOCK: t('Unlock'),
  END_SESSIONS: t('End sessions'),
  SET_ROLES: t('Set roles'),
  ADD_ROLES: t('Add roles'),
  REMOVE_ROLES: t('Remove roles'),
  DELETE: t('Delete'),
  REVOKE_CLIENT_ACCESS: t('Revoke all access'),
}

/** The changes of many users, those of the last week included. */
export function JobsScreen() {
  const [{ viewer, bulkJobs }, refresh] = useScreenQuery<jobsScreenQuery>(
    graphql`
      query jobsScreenQuery {
        viewer {
          eventPosition
        }
        bulkJobs(last: 100) {
          nodes {
            id
            action
            roles
            clientId
            createdAt
          }
        }
      }
    `,
    {},
  )
  const mayFollow = useMay('events:read')
  const jobs = bulkJobs?.nodes.toReversed() ?? []
  return (
    <section className="screen">
      {mayFollow && (
        <LiveChanges types={['BULK_JOB_STARTED']} after={viewer?.eventPosition} onChange={refresh} />
      )}
      <header className="screen-head">
        <h1>{t('Changes of many users')}</h1>
        <div className="actions">
          <Link to="/users" className="button quiet">
            {t('Users')}
          </Link>
        </div>
      </header>
      {jobs.length === 0 && (
        <p className="empty">
          {t('None in the last week. Select users in the list to change them together.')}
        </p>
      )}
      {jobs.map(({ id, action, roles, clientId, createdAt }) => (
        <section key={id} className="card">
          <h2>
            {[ACTIONS[action] ?? action, ...roles.map((role) => role.toLowerCase())].join(' ')}
            {clientId && (
              <>
                {' '}
                <Link to="/applications/$clientId" params={{ clientId: toPathId(clientId) }}>
                  <code>{clientId}</code>
                </Link>
              </>
            )}
          </h2>
          <p className="hint">
            {t('Started')} <Time at={createdAt} />
          </p>
          <JobProgress jobId={id} />
        </section>
      ))}
    </section>
  )
}
