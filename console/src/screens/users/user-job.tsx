import { type FormEvent, Suspense, useState } from 'react'
import { graphql, useLazyLoadQuery } from 'react-relay/hooks'
import type { UserFilter, userJobMutation } from '../../generated/userJobMutation.graphql.ts'
import type { userJobRolesQuery } from '../../generated/userJobRolesQuery.graphql.ts'
import type { JobDialogProps } from '../../parts/bulk-actions.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Field, ProblemText } from '../../parts/form.tsx'
import { JobProgress } from '../../parts/job-progress.tsx'
import { useProblemMutation } from '../../parts/mutation.ts'
import { t } from '../../words/words.ts'
import { RoleChoice } from '../roles/role-choice.tsx'

/** Asks, starts a job for users by their ids or for all that match the filter, and shows its progress. */
export function UserJobDialog({ action, ids, variables, what, onClose }: JobDialogProps) {
  const [jobId, setJobId] = useState<string | null>(null)
  const [typed, setTyped] = useState('')
  const start = useProblemMutation<userJobMutation>(graphql`
    mutation userJobMutation($input: BulkUpdateUsersInput!) {
      bulkUpdateUsers(input: $input) {
        ... on BulkUpdateUsersPayload {
          bulkJob {
            id
          }
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const takesRoles = action.job?.endsWith('_ROLES') ?? false
  const [roles, setRoles] = useState<readonly string[]>([])
  const isConfirmed = takesRoles ? roles.length > 0 : !action.isFinal || typed.trim() === what
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!isConfirmed || start.isRunning || !action.job) return
    const filter = variables.filter as UserFilter
    start.run(
      {
        input: {
          action: action.job,
          ...(takesRoles && { roles: [...roles] }),
          ...(ids ? { userIds: [...ids] } : { filter }),
        },
      },
      ({ bulkUpdateUsers: started }) => {
        if (started && 'bulkJob' in started && started.bulkJob) setJobId(started.bulkJob.id)
      },
    )
  }
  return (
    <Dialog title={`${action.label}: ${what}`} onClose={onClose}>
      {jobId === null ? (
        <form onSubmit={submit}>
          <p>{action.consequence}</p>
          {takesRoles && (
            <Suspense>
              <JobRoles chosen={roles} onChange={setRoles} />
            </Suspense>
          )}
          {action.isFinal && (
            <Field label={t('Type “{name}” to confirm', { name: what })} name="confirmation">
              {(props) => (
                <input
                  {...props}
                  autoComplete="off"
                  value={typed}
                  onChange={({ target }) => setTyped(target.value)}
                />
              )}
            </Field>
          )}
          <ProblemText problem={start.problem} />
          <div className="actions">
            <button type="submit" className="button danger" disabled={!isConfirmed || start.isRunning}>
              {action.label}
            </button>
            <button type="button" className="button quiet" onClick={onClose}>
              {t('Cancel')}
            </button>
          </div>
        </form>
      ) : (
        <JobProgress jobId={jobId} />
      )}
    </Dialog>
  )
}

function JobRoles({ chosen, onChange }: { chosen: readonly string[]; onChange: (chosen: string[]) => void }) {
  const query = useLazyLoadQuery<userJobRolesQuery>(
    graphql`
      query userJobRolesQuery {
        ...roleChoice_query
      }
    `,
    {},
  )
  return <RoleChoice query={query} chosen={chosen} hasWords onChange={onChange} />
}
