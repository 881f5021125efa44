import { Suspense, useDeferredValue } from 'react'
import { graphql, useFragment, useLazyLoadQuery } from 'react-relay/hooks'
import type { jobProgress_job$data, jobProgress_job$key } from '../generated/jobProgress_job.graphql.ts'
import type { jobProgressCancelMutation } from '../generated/jobProgressCancelMutation.graphql.ts'
import type { jobProgressFailuresQuery } from '../generated/jobProgressFailuresQuery.graphql.ts'
import type { jobProgressQuery } from '../generated/jobProgressQuery.graphql.ts'
import type { jobProgressSubscription } from '../generated/jobProgressSubscription.graphql.ts'
import { t } from '../words/words.ts'
import { ProblemText } from './form.tsx'
import { useLive } from './live-events.ts'
import { useProblemMutation } from './mutation.ts'

type Job = Omit<jobProgress_job$data, ' $fragmentType'>

function describe({ status, total, done, failed, problem }: Job): string {
  const counts = { total, done, failed }
  if (status === 'SELECTING') return t('The users are being listed …')
  if (status === 'RUNNING') return t('{done} of {total}', { done: done + failed, total })
  if (status === 'CANCELED') return t('Canceled: {done} of {total} are done.', counts)
  if (status === 'STOPPED') return t('Stopped: {problem}', { problem })
  return failed === 0
    ? t('Done for {total}.', counts)
    : t('Done for {done} of {total}; {failed} could not be changed.', counts)
}

/** Those that a job could not change, the first hundred; read again when there are more. */
function JobFailures({ jobId, failed }: { jobId: string; failed: number }) {
  const { bulkJob } = useLazyLoadQuery<jobProgressFailuresQuery>(
    graphql`
      query jobProgressFailuresQuery($jobId: ID!) {
        bulkJob(id: $jobId) {
          failures(first: 100) {
            nodes {
              userId
              message
              user {
                name
                email
              }
            }
          }
        }
      }
    `,
    { jobId },
    { fetchPolicy: 'network-only', fetchKey: useDeferredValue(failed) },
  )
  return (
    <ul className="problem">
      {bulkJob?.failures?.nodes.map(({ userId, user, message }) => (
        <li key={userId}>
          {user?.name ?? user?.email ?? <code>{userId}</code>}: {message}
        </li>
      ))}
    </ul>
  )
}

/** The progress of a bulk job, those that it could not change, and its cancellation. */
export function JobState({ job: key }: { job: jobProgress_job$key }) {
  const job = useFragment(
    graphql`
      fragment jobProgress_job on BulkJob {
        id
        status
        total
        done
        failed
        problem
      }
    `,
    key,
  )
  const cancel = useProblemMutation<jobProgressCancelMutation>(graphql`
    mutation jobProgressCancelMutation($bulkJobId: ID!) {
      cancelBulkJob(input: { bulkJobId: $bulkJobId }) {
        ... on CancelBulkJobPayload {
          bulkJob {
            ...jobProgress_job
          }
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const { id, status, total, done, failed } = job
  const hasEnded = status !== 'SELECTING' && status !== 'RUNNING'
  const max = Math.max(total, 1)
  return (
    <div>
      <p role="status">
        <progress max={max} value={hasEnded ? max : done + failed} aria-label={t('Progress')} />{' '}
        {describe(job)}
      </p>
      {!hasEnded && <p className="hint">{t('It goes on when this is closed.')}</p>}
      <ProblemText problem={hasEnded ? null : cancel.problem} />
      {failed > 0 && (
        <Suspense>
          <JobFailures jobId={id} failed={failed} />
        </Suspense>
      )}
      {!hasEnded && (
        <p className="actions">
          <button
            type="button"
            className="button quiet"
            disabled={cancel.isRunning}
            onClick={() => cancel.run({ bulkJobId: id })}
          >
            {t('Stop')}
          </button>
        </p>
      )}
    </div>
  )
}

/** Follows a job, or all of them. `onStart` is called for each that is started. */
export function LiveJobs({
  jobId,
  after,
  onStart,
}: {
  jobId?: string
  after: string | null | undefined
  onStart?: () => void
}) {
  useLive<jobProgressSubscription>({
    subscription: graphql`
      subscription jobProgressSubscription($jobId: ID, $after: String) {
        bulkJobChanged(bulkJobId: $jobId, after: $after) {
          ... on BulkJobEvent {
            kind
            bulkJob {
              ...jobProgress_job
            }
          }
        }
      }
    `,
    variables: { jobId, after },
    onNext: (change) => {
      if (change?.bulkJobChanged.kind === 'STARTED') onStart?.()
    },
  })
  return null
}

function Progress({ jobId }: { jobId: string }) {
  const { viewer, bulkJob } = useLazyLoadQuery<jobProgressQuery>(
    graphql`
      query jobProgressQuery($id: ID!) {
        viewer {
          eventPosition
        }
        bulkJob(id: $id) {
          ...jobProgress_job
        }
      }
    `,
    { id: jobId },
    { fetchPolicy: 'network-only' },
  )
  return (
    <>
      <LiveJobs jobId={jobId} after={viewer?.eventPosition} />
      {bulkJob && <JobState job={bulkJob} />}
    </>
  )
}

/** A job as it goes on. */
export const JobProgress = ({ jobId }: { jobId: string }) => (
  <Suspense fallback={<p role="status">{t('Starting …')}</p>}>
    <Progress jobId={jobId} />
  </Suspense>
)
