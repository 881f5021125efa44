import {
  METADATA_PREFIX,
  type MemberSchema,
  type SignUpFieldSetting,
  type SignUpProfileField,
} from '../core/sign-up.ts'

/** A field of the sign-up page. */
export type SignUpField = {
  /** The name of the field: that of a member of the user, or `userMetadata.NAME`. */
  name: string
  label: string
  isRequired: boolean
  /** `autocomplete` of HTML, section 4.10.18.7. */
  autocomplete: string
  input: 'text' | 'number' | 'date' | 'url' | 'email' | 'checkbox' | 'select'
  /** Of a select. */
  choices: readonly string[]
  schema: MemberSchema | null
}

type ProfileInput = Pick<SignUpField, 'label' | 'autocomplete'> & { input?: SignUpField['input'] }

const PROFILE_INPUTS: Record<SignUpProfileField, ProfileInput> = {
  name: { label: 'Full name', autocomplete: 'name' },
  givenName: { label: 'First name', autocomplete: 'given-name' },
  familyName: { label: 'Last name', autocomplete: 'family-name' },
  middleName: { label: 'Middle name', autocomplete: 'additional-name' },
  nickname: { label: 'Nickname', autocomplete: 'nickname' },
  preferredUsername: { label: 'Display name', autocomplete: 'off' },
  website: { label: 'Website', autocomplete: 'url', input: 'url' },
  gender: { label: 'Gender', autocomplete: 'sex' },
  birthdate: { label: 'Date of birth', autocomplete: 'bday', input: 'date' },
  zoneinfo: { label: 'Time zone', autocomplete: 'off' },
  locale: { label: 'Language', autocomplete: 'language' },
}

const INPUTS_BY_FORMAT = { email: 'email', uri: 'url', date: 'date' } as const

function selectInput(schema: MemberSchema | null): SignUpField['input'] {
  if (schema?.enum) return 'select'
  if (schema?.type === 'boolean') return 'checkbox'
  if (schema?.type === 'integer' || schema?.type === 'number') return 'number'
  return schema?.format ? INPUTS_BY_FORMAT[schema.format] : 'text'
}

function toField({ field, required, label, schema }: SignUpFieldSetting): SignUpField {
  const common = { name: field, isRequired: required, choices: schema?.enum ?? [], schema }
  if (field.startsWith(METADATA_PREFIX)) {
    const member = field.slice(METADATA_PREFIX.length)
    return { ...common, label: label ?? member, autocomplete: 'off', input: selectInput(schema) }
  }
  const profile = PROFILE_INPUTS[field as SignUpProfileField]
  return {
    ...common,
    autocomplete: profile.autocomplete,
    input: profile.input ?? 'text',
    label: label ?? profile.label,
  }
}

/** The fields of a profile, all of them optional. */
export const listProfileFields = (): SignUpField[] =>
  Object.keys(PROFILE_INPUTS).map((field) => toField({ field, required: false, label: null, schema: null }))

/** The fields of the sign-up page of a tenant. */
export const listSignUpFields = ({ signUpFields }: { signUpFields: unknown }): SignUpField[] =>
  (signUpFields as SignUpFieldSetting[]).map(toField)

/** The fields as they were entered; an empty field is omitted. */
export const readEntries = (
  fields: readonly SignUpField[],
  form: Record<string, string>,
): Record<string, string> =>
  Object.fromEntries(
    fields.map(({ name }) => [name, (form[name] ?? '').trim()]).filter(([, value]) => value !== ''),
  )
