import { type ReactNode, useId } from 'react'
import type { Problem } from './result.ts'

/** What an input of a field is given: its id, its name, and the ids of its hint and its problem. */
export type InputProps = {
  id: string
  name: string
  'aria-describedby': string | undefined
  'aria-invalid': true | undefined
}

/** The problems of a field and of its members. */
export const findFieldProblems = (problem: Problem | null | undefined, name: string): Problem['fields'] =>
  problem?.fields.filter(({ field }) => field === name || field.startsWith(`${name}.`)) ?? []

/**
 * A labelled input with a hint and the problem that the server found in it. `name` is the name of the field in the input of
 * the mutation.
 */
export function Field({
  label,
  name,
  hint,
  problem,
  children,
}: {
  label: string
  name: string
  hint?: ReactNode
  problem?: Problem | null
  children: (props: InputProps) => ReactNode
}) {
  const { props, texts } = useDescription(name, hint, problem)
  return (
    <div className="field">
      <label htmlFor={props.id}>{label}</label>
      {children({ ...props, name })}
      {texts}
    </div>
  )
}

/** The hint and the problem of an input, and the attributes by which they describe it. */
function useDescription(name: string | undefined, hint: ReactNode, problem: Problem | null | undefined) {
  const id = useId()
  const found = name === undefined ? [] : findFieldProblems(problem, name)
  const described = [hint && `${id}-hint`, found.length > 0 && `${id}-problem`].filter(Boolean).join(' ')
  return {
    props: {
      id,
      'aria-describedby': described || undefined,
      'aria-invalid': found.length > 0 || undefined,
    } as const,
    texts: (
      <>
        {hint && (
          <p className="hint" id={`${id}-hint`}>
            {hint}
          </p>
        )}
        {found.length > 0 && (
          <p className="field-problem" id={`${id}-problem`}>
            {found.map(({ description }) => description).join(' ')}
          </p>
        )}
      </>
    ),
  }
}

/** The chosen values after one of them is checked or unchecked. */
export const toggleChoice = <Value,>(chosen: readonly Value[], value: Value, isOn: boolean): Value[] =>
  isOn ? [...chosen, value] : chosen.filter((other) => other !== value)

/** A checkbox with its label, what it does, and the problem that the server found in it. */
export function CheckField({
  label,
  hint,
  problem,
  onChange,
  ...attributes
}: {
  label: string
  hint?: ReactNode
  problem?: Problem | null
  name?: string
  defaultChecked?: boolean
  checked?: boolean
  disabled?: boolean
  onChange?: (isOn: boolean) => void
}) {
  const { props, texts } = useDescription(attributes.name, hint, problem)
  return (
    <div className="check">
      <input
        {...attributes}
        {...props}
        type="checkbox"
        onChange={onChange && (({ target }) => onChange(target.checked))}
      />
      <label htmlFor={props.id}>{label}</label>
      {texts}
    </div>
  )
}

/** Why an action has failed, with the fields that no input of the form shows. */
export function ProblemText({ problem, shown = [] }: { problem: Problem | null; shown?: readonly string[] }) {
  if (!problem) return null
  const others = problem.fields.filter(({ field }) => !shown.includes(field.split('.')[0] ?? ''))
  return (
    <div className="problem" role="alert">
      <p>{problem.message}</p>
      {others.length > 0 && (
        <ul>
          {others.map(({ field, description }) => (
            <li key={field}>
              <code>{field}</code>: {description}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

/** The text of a field of a submitted form, without spaces around it. */
export const readText = (form: FormData, name: string): string => String(form.get(name) ?? '').trim()

/** The lines of a text, without empty ones. */
export const toLines = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)

/** The entries of a field, which spaces, commas or lines divide. */
export const readLines = (form: FormData, name: string): string[] =>
  readText(form, name)
    .split(/[\s,]+/)
    .filter(Boolean)
