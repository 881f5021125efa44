import { type Edits, listChanged, type Saved } from './edits.ts'
import './changed-meanwhile.css'

/** Names the values that somebody else has saved since the first edit, and asks whose are kept. */
export function ChangedMeanwhile<Values extends object>({
  edits,
  saved,
  labels,
  setEdits,
}: {
  edits: NonNullable<Edits<Values>>
  saved: Saved<Values>
  labels: Readonly<Record<keyof Values, string>>
  setEdits: (edits: Edits<Values>) => void
}) {
  const changed = listChanged(edits, saved)
  return (
    <div className="card changed" role="status">
      <p>
        {/* A secret is not among the values. */}
        Somebody else has changed {changed.map((name) => labels[name]).join(', ') || 'a secret'} meanwhile.
        What you entered is kept.
      </p>
      <ul>
        {changed
          .filter((name) => edits.values[name] !== undefined)
          .map((name) => (
            <li key={String(name)}>
              {labels[name]} is now <code>{String(saved.values[name]) || 'empty'}</code>
            </li>
          ))}
      </ul>
      <div className="actions">
        <button type="button" className="button quiet" onClick={() => setEdits({ ...edits, since: saved })}>
          Keep my entries
        </button>
        <button type="button" className="button quiet" onClick={() => setEdits(null)}>
          Show theirs
        </button>
      </div>
    </div>
  )
}
