import { useEffect, useState } from 'react'
import { fetchQuery, graphql, useRelayEnvironment } from 'react-relay/hooks'
import type { jobProgressCancelMutation } from '../generated/jobProgressCancelMutation.graphql.ts'
import type { jobProgressQuery, jobProgressQuery$data } from '../generated/jobProgressQuery.graphql.ts'
import { t } from '../words/words.ts'
import { ProblemText } from './form.tsx'
import { useProblemMutation } from './mutation.ts'
import { type Problem, toProblem } from './result.ts'

const QUERY = graphql`
  query jobProgressQuery($id: ID!) {
    bulkJob(id: $id) {
      status
      total
      done
      failed
      problem
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
`
type Job = NonNullable<jobProgressQuery$data['bulkJob']>

const POLL_MS = 1000

/** A job as it goes on. The server has no stream of its numbers. */
function useJob(id: string): { job: Job | null; problem: Problem | null; ended: boolean } {
  const environment = useRelayEnvironment()
  const [job, setJob] = useState<Job | null>(null)
  const [problem, setProblem] = useState<Problem | null>(null)
  useEffect(() => {
    let timer: number | undefined
    let isStopped = false
    const read = (): void => {
      fetchQuery<jobProgressQuery>(environment, QUERY, { id }).subscribe({
        next: ({ bulkJob }) => {
          if (isStopped || !bulkJob) return
          setProblem(null)
          setJob(bulkJob)
          if (bulkJob.status === 'SELECTING' || bulkJob.status === 'RUNNING')
            timer = window.setTimeout(read, POLL_MS)
        },
        error: (error: Error) => {
          if (isStopped) return
          setProblem(toProblem(error))
          timer = window.setTimeout(read, 3 * POLL_MS)
        },
      })
    }
    read()
    return () => {
      isStopped = true
      clearTimeout(timer)
    }
  }, [environment, id])
  const ended = job !== null && job.status !== 'SELECTING' && job.status !== 'RUNNING'
  return { job, problem, ended }
}

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

/** The progress of a bulk job, those that it could not change, and its cancellation. */
export function JobProgress({ jobId }: { jobId: string }) {
  const { job, problem, ended } = useJob(jobId)
  const cancel = useProblemMutation<jobProgressCancelMutation>(graphql`
    mutation jobProgressCancelMutation($bulkJobId: ID!) {
      cancelBulkJob(input: { bulkJobId: $bulkJobId }) {
        ... on CancelBulkJobPayload {
          bulkJob {
            id
          }
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  return (
    <div>
      <p role="status">
        <progress
          max={Math.max(job?.total ?? 0, 1)}
          value={ended ? Math.max(job?.total ?? 0, 1) : (job?.done ?? 0) + (job?.failed ?? 0)}
          aria-label={t('Progress')}
        />{' '}
        {job ? describe(job) : t('Starting …')}
      </p>
      {!ended && <p className="hint">{t('It goes on when this is closed.')}</p>}
      <ProblemText problem={problem ?? (ended ? null : cancel.problem)} />
      {job && (job.failures?.nodes.length ?? 0) > 0 && (
        <ul className="problem">
          {job.failures?.nodes.map(({ userId, user, message }) => (
            <li key={userId}>
              {user?.name ?? user?.email ?? <code>{userId}</code>}: {message}
            </li>
          ))}
        </ul>
      )}
      {!ended && (
        <p className="actions">
          <button
            type="button"
            className="button quiet"
            disabled={cancel.isRunning}
            onClick={() => cancel.run({ bulkJobId: jobId })}
          >
            {t('Stop')}
          </button>
        </p>
      )}
    </div>
  )
}
