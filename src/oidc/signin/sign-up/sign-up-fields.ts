import type { FieldIssue } from '../../../core/errors.ts'

/** A field of the sign-up page. */
export type SignUpField = {
  /** The field of the user. */
  name: string
  label: string
  /** The token of HTML, section 4.10.18.7. */
  autocomplete: string
  isRequired: boolean
}

/** The fields of the sign-up page. */
export const SIGN_UP_FIELDS: readonly SignUpField[] = [
  { name: 'name', label: 'Full name', autocomplete: 'name', isRequired: true },
]

/** The fields of a user as they were entered; an empty field is omitted. */
export const readFields = (form: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    SIGN_UP_FIELDS.map(({ name }) => [name, (form[name] ?? '').trim()]).filter(([, value]) => value !== ''),
  )

/** Issues of required fields that were left empty. */
export const findMissingFields = (values: Record<string, string>): FieldIssue[] =>
  SIGN_UP_FIELDS.filter(({ name, isRequired }) => isRequired && values[name] === undefined).map(
    ({ name }) => ({ field: name, description: 'is required' }),
  )
