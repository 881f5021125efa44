import { type ReactNode, useEffect, useRef, useState } from 'react'
import { commitMutation, useRelayEnvironment } from 'react-relay/hooks'
import type { Environment, GraphQLTaggedNode, Variables } from 'relay-runtime'
import type { BulkUserAction } from '../generated/userJobMutation.graphql.ts'
import { type Scope, useMay } from '../shell/viewer-scopes.ts'
import { t } from '../words/words.ts'
import { Dialog } from './dialog.tsx'
import { findResponseProblem } from './result.ts'

/** An action on selected rows: a mutation for each of them. */
export type BulkAction = {
  label: string
  scope: Scope
  /** What follows, for the question before it. */
  consequence: string
  /** Absent for an action that is always a job. */
  mutation?: GraphQLTaggedNode
  toVariables: (id: string) => Variables
  /** The action of a job of the server, for many rows. */
  job?: BulkUserAction
  /** Nothing brings the rows back: the person types how many there are. */
  isFinal?: true
}

/** What the dialog of a job is given: the rows, or null for all that match the variables of the list. */
export type JobDialogProps = {
  action: BulkAction
  ids: readonly string[] | null
  variables: Variables
  what: string
  onClose: () => void
}

/** Rows that are changed one after another; more are a job. */
const MAX_ROWS = 100
/** Rows of a job that are named by their ids. */
const MAX_NAMED = 1000

/** Why the action has failed for a row; null when it is done. */
const runAction = (environment: Environment, action: BulkAction, id: string): Promise<string | null> =>
  new Promise((resolve) => {
    if (!action.mutation) return resolve(null)
    commitMutation(environment, {
      mutation: action.mutation,
      variables: action.toVariables(id),
      onCompleted: (response, errors) => resolve(findResponseProblem(response, errors)?.message ?? null),
      onError: ({ message }) => resolve(message),
    })
  })

/** A button that asks, and then runs an action for each of the rows, or for all that match the variables. */
export function BulkActionButton({
  action,
  ids,
  count,
  variables,
  describeCount,
  JobDialog,
}: {
  action: BulkAction
  /** Null for all that match. */
  ids: readonly string[] | null
  count: number
  variables: Variables
  describeCount: (count: number) => string
  JobDialog: ((props: JobDialogProps) => ReactNode) | undefined
}) {
  const mayRun = useMay(action.scope)
  // The rows of the question that is open: the selection may change behind it.
  const [asked, setAsked] = useState<{ ids: readonly string[] | null; count: number } | null>(null)
  const isJob = action.job !== undefined && JobDialog !== undefined
  if (!mayRun || (ids === null && !isJob)) return null
  const max = isJob ? MAX_NAMED : MAX_ROWS
  const isTooMany = ids !== null && ids.length > max
  const onClose = () => setAsked(null)
  return (
    <>
      <button
        type="button"
        className="chip"
        disabled={isTooMany}
        title={isTooMany ? t('For {count} rows at most', { count: max }) : undefined}
        onClick={() => setAsked({ ids, count })}
      >
        {action.label}
      </button>
      {asked &&
        (isJob && (asked.ids === null || asked.ids.length > MAX_ROWS || !action.mutation) ? (
          <JobDialog
            action={action}
            ids={asked.ids}
            variables={variables}
            what={describeCount(asked.count)}
            onClose={onClose}
          />
        ) : (
          <BulkDialog
            action={action}
            ids={asked.ids ?? []}
            what={describeCount(asked.count)}
            onClose={onClose}
          />
        ))}
    </>
  )
}

function BulkDialog({
  action,
  ids,
  what,
  onClose,
}: {
  action: BulkAction
  ids: readonly string[]
  what: string
  onClose: () => void
}) {
  const environment = useRelayEnvironment()
  const [done, setDone] = useState<number | null>(null)
  const [failures, setFailures] = useState<readonly { id: string; message: string }[]>([])
  const isStopped = useRef(false)
  useEffect(() => {
    // An effect may run again after its end.
    isStopped.current = false
    return () => {
      isStopped.current = true
    }
  }, [])
  const run = async () => {
    for (const [index, id] of ids.entries()) {
      if (isStopped.current) return
      setDone(index)
      const message = await runAction(environment, action, id)
      if (message !== null) setFailures((former) => [...former, { id, message }])
    }
    setDone(ids.length)
  }
  const isFinished = done === ids.length
  return (
    <Dialog title={`${action.label}: ${what}`} onClose={onClose}>
      {done === null ? (
        <p>{action.consequence}</p>
      ) : (
        <p role="status">
          <progress max={ids.length} value={done} aria-label={t('Rows')} />{' '}
          {isFinished
            ? t('Done for {count} of {what}.', { count: ids.length - failures.length, what })
            : t('{done} of {what}', { done, what })}
        </p>
      )}
      {failures.length > 0 && (
        <ul className="problem">
          {failures.map(({ id, message }) => (
            <li key={id}>
              <code>{id}</code>: {message}
            </li>
          ))}
        </ul>
      )}
      <p className="actions">
        {done === null && (
          <button type="button" className="button danger" onClick={() => void run()}>
            {action.label}
          </button>
        )}
        <button type="button" className="button quiet" onClick={onClose}>
          {isFinished ? t('Close') : t('Cancel')}
        </button>
      </p>
    </Dialog>
  )
}
