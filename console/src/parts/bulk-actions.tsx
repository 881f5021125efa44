import { useEffect, useRef, useState } from 'react'
import { commitMutation, useRelayEnvironment } from 'react-relay/hooks'
import type { Environment, GraphQLTaggedNode, Variables } from 'relay-runtime'
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
  mutation: GraphQLTaggedNode
  toVariables: (id: string) => Variables
}

/** Rows of one action. */
const MAX_ROWS = 100

/** Why the action has failed for a row; null when it is done. */
const runAction = (environment: Environment, action: BulkAction, id: string): Promise<string | null> =>
  new Promise((resolve) => {
    commitMutation(environment, {
      mutation: action.mutation,
      variables: action.toVariables(id),
      onCompleted: (response, errors) => resolve(findResponseProblem(response, errors)?.message ?? null),
      onError: ({ message }) => resolve(message),
    })
  })

/** A button that asks, and then runs an action for each of the rows. */
export function BulkActionButton({
  action,
  ids,
  describeCount,
}: {
  action: BulkAction
  ids: readonly string[]
  describeCount: (count: number) => string
}) {
  const mayRun = useMay(action.scope)
  // The rows of the question that is open: the selection may change behind it.
  const [asked, setAsked] = useState<readonly string[] | null>(null)
  if (!mayRun) return null
  return (
    <>
      <button
        type="button"
        className="chip"
        disabled={ids.length > MAX_ROWS}
        title={ids.length > MAX_ROWS ? t('For {count} rows at most', { count: MAX_ROWS }) : undefined}
        onClick={() => setAsked(ids)}
      >
        {action.label}
      </button>
      {asked && (
        <BulkDialog
          action={action}
          ids={asked}
          what={describeCount(asked.length)}
          onClose={() => setAsked(null)}
        />
      )}
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
