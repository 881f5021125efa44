import { type FormEvent, type ReactNode, useState } from 'react'
import { t, tCount } from '../words/words.ts'
import { ChangedMeanwhile } from './changed-meanwhile.tsx'
import { addEdits, type Edits, listChanged, type Saved, settleEdits } from './edits.ts'
import { ProblemText } from './form.tsx'
import type { Problem } from './result.ts'
import { LeavingGuard } from './settings-form.tsx'

/**
 * A form whose entries are kept when somebody else saves meanwhile: the person chooses then. Only the entries are sent.
 * Values are compared by `===`, so that a list is a text.
 */
export function EditedForm<Values extends object>({
  saved,
  labels,
  isRunning,
  problem,
  shown,
  onSave,
  children,
}: {
  saved: Saved<Values>
  labels: Readonly<Record<keyof Values, string>>
  isRunning: boolean
  problem: Problem | null
  /** The fields at which the form shows problems. */
  shown: readonly string[]
  /** Calls `settle` with what is saved then. */
  onSave: (
    entered: Partial<Values>,
    expectedUpdatedAt: string,
    settle: (saved: Saved<Values>) => void,
  ) => void
  children: (values: Values, enter: (entered: Partial<Values>) => void, isEdited: boolean) => ReactNode
}) {
  const [edits, setEdits] = useState<Edits<Values>>(null)
  const changed = listChanged(edits, saved)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!edits || isRunning) return
    const { values } = edits
    // A change of something else is not a conflict.
    onSave(values, changed.length > 0 ? edits.since.updatedAt : saved.updatedAt, (next) =>
      setEdits((former) => settleEdits(former, values, next)),
    )
  }
  return (
    <form onSubmit={submit} noValidate>
      {edits && changed.length > 0 && (
        <ChangedMeanwhile edits={edits} saved={saved} labels={labels} setEdits={setEdits} />
      )}
      {children(
        { ...saved.values, ...edits?.values },
        (entered) => setEdits((former) => addEdits(former, entered, { saved, isSaving: isRunning })),
        edits !== null,
      )}
      {edits && (
        <div className="save-bar">
          <ProblemText problem={problem} shown={shown} />
          <div className="actions">
            <button type="submit" className="button" disabled={isRunning}>
              {tCount(Object.keys(edits.values).length, 'Save {count} change', 'Save {count} changes')}
            </button>
            <button type="button" className="button quiet" onClick={() => setEdits(null)}>
              {t('Discard')}
            </button>
          </div>
        </div>
      )}
      {edits && <LeavingGuard isInSearch />}
    </form>
  )
}
