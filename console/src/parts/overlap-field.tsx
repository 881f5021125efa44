import { t } from '../words/words.ts'
import { Field } from './form.tsx'

/** How long a replaced secret still works: seconds and words, the standard first. */
const OVERLAPS = [
  [86_400, t('A day')],
  [3600, t('An hour')],
  [604_800, t('A week')],
  [2_592_000, t('30 days')],
  [0, t('Not at all: it stops working at once')],
] as const

export const STANDARD_OVERLAP_SECONDS: number = OVERLAPS[0][0]

/** Asks how long the present secret works beside the new one. */
export const OverlapField = ({
  label,
  value,
  onChange,
}: {
  label: string
  value: number
  onChange: (seconds: number) => void
}) => (
  <Field label={label} name="overlapSeconds">
    {(props) => (
      <select {...props} value={value} onChange={({ target }) => onChange(Number(target.value))}>
        {OVERLAPS.map(([seconds, words]) => (
          <option key={seconds} value={seconds}>
            {words}
          </option>
        ))}
      </select>
    )}
  </Field>
)
