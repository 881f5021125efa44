import { type Edits, listChanged, type Saved } from './edits.ts'
import './changed-meanwhile.css'
import { t, tNodes } from '../words/words.ts'

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
        {t('Somebody else has changed {fields} meanwhile. What you entered is kept.', {
          fields: changed.map((name) => labels[name]).join(', ') || t('a secret'),
        })}
      </p>
      <ul>
        {changed
          .filter((name) => edits.values[name] !== undefined)
          .map((name) => (
            <li key={String(name)}>
              {tNodes('{field} is now {value}', {
                field: labels[name],
                value: <code>{String(saved.values[name]) || t('empty')}</code>,
              })}
            </li>
          ))}
      </ul>
      <div className="actions">
        <button type="button" className="button quiet" onClick={() => setEdits({ ...edits, since: saved })}>
          {t('Keep my entries')}
        </button>
        <button type="button" className="button quiet" onClick={() => setEdits(null)}>
          {t('Show theirs')}
        </button>
      </div>
    </div>
  )
}
