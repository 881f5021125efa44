import { Link } from '@tanstack/react-router'
import { graphql } from 'react-relay/hooks'
import '../users/users.css'
import type {
  BulkJobAction,
  jobsScreenQuery,
  jobsScreenQuery$data,
} from '../../generated/jobsScreenQuery.graphql.ts'
import { JobState, LiveJobs } from '../../parts/job-progress.tsx'
import { useScreenQuery } from '../../parts/screen-query.ts'
import { Time } from '../../parts/time.tsx'
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
            ...jobProgress_job
          }
        }
      }
    `,
    {},
  )
  const jobs = bulkJobs?.nodes.toReversed() ?? []
  return (
    <section className="screen">
      <LiveJobs after={viewer?.eventPosition} onStart={refresh} />
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
      <div className="sections">
        {jobs.map((job) => (
          <JobCard key={job.id} job={job} />
        ))}
      </div>
    </section>
  )
}

function JobCard({ job }: { job: NonNullable<jobsScreenQuery$data['bulkJobs']>['nodes'][number] }) {
  const { action, roles, clientId, createdAt } = job
  return (
    <section className="card">
      <h2>
        {[ACTIONS[action] ?? action, ...roles].join(' ')}
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
      <JobState job={job} />
    </section>
  )
}
