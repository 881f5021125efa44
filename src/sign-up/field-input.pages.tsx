import type { VNode } from 'preact'
import { LANGUAGES } from '../languages/catalogs.ts'
import { getLanguageName } from '../languages/translations.ts'
import { BidiText, ErrorMessage } from '../pages/page-shell.pages.tsx'
import { useWords } from '../pages/parts/words.pages.tsx'
import type { SignUpField } from './sign-up-fields.ts'

type FieldInputProps = {
  field: SignUpField
  value?: string
  /** What is wrong with the value. */
  issue?: string
  hasFocus: boolean
  /** Whether the label says that the field is optional. */
  showsOptional?: boolean
}

const nameChoice = (field: SignUpField, choice: string): string =>
  field.name === 'locale' && LANGUAGES.includes(choice) ? getLanguageName(choice) : choice

/** The choices of a select, followed by the stored value if the list does not contain it. */
const listChoices = ({ choices }: SignUpField, value?: string): readonly string[] =>
  value && !choices.includes(value) ? [...choices, value] : choices

/** A field about a person with its label and its error. */
export function FieldInput({ field, value, issue, hasFocus, showsOptional = true }: FieldInputProps): VNode {
  const words = useWords()
  const id = `field-${field.name}`
  const name = field.profile ? words.text(`field.${field.profile}`) : field.label
  const attributes = {
    id,
    name: field.name,
    required: field.isRequired,
    autofocus: hasFocus,
    'aria-invalid': issue ? ('true' as const) : undefined,
    'aria-describedby': issue ? `${id}-error` : undefined,
  }
  const label = (
    <label for={id}>
      <BidiText>{name}</BidiText>
      {showsOptional &&
        !field.isRequired &&
        field.input !== 'checkbox' &&
        ` ${words.text('signUp.optional')}`}
    </label>
  )
  const error = issue && (
    <ErrorMessage id={`${id}-error`}>
      {words.text('signUp.issue', { label: name, issue: words.translate(issue) })}
    </ErrorMessage>
  )
  if (field.input === 'checkbox')
    return (
      <div class="field">
        <div class="check">
          <input type="checkbox" value="on" checked={value === 'on'} {...attributes} />
          {label}
        </div>
        {error}
      </div>
    )
  return (
    <div class="field">
      {label}
      {field.input === 'select' ? (
        <select {...attributes}>
          <option value="" />
          {listChoices(field, value).map((choice) => (
            <option key={choice} value={choice} selected={choice === value}>
              {nameChoice(field, choice)}
            </option>
          ))}
        </select>
      ) : (
        <input
          type={field.input as 'text'}
          step={field.schema?.type === 'number' ? 'any' : undefined}
          autocomplete={field.autocomplete}
          placeholder={field.example ?? undefined}
          dir="auto"
          value={value ?? ''}
          {...attributes}
        />
      )}
      {error}
    </div>
  )
}
