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
  /** The label that the tenant chose, or the name of the member. */
  label: string
  /** The field of the profile whose label pages show in their language; null where the tenant chose one. */
  profile: SignUpProfileField | null
  isRequired: boolean
  /** `autocomplete` of HTML, section 4.10.18.7. */
  autocomplete: string
  input: 'text' | 'number' | 'date' | 'url' | 'email' | 'checkbox' | 'select'
  /** Of a select. */
  choices: readonly string[]
  schema: MemberSchema | null
}

type ProfileInput = Pick<SignUpField, 'autocomplete'> & { input?: SignUpField['input'] }

const PROFILE_INPUTS: Record<SignUpProfileField, ProfileInput> = {
  name: { autocomplete: 'name' },
  givenName: { autocomplete: 'given-name' },
  familyName: { autocomplete: 'family-name' },
  middleName: { autocomplete: 'additional-name' },
  nickname: { autocomplete: 'nickname' },
  preferredUsername: { autocomplete: 'off' },
  website: { autocomplete: 'url', input: 'url' },
  gender: { autocomplete: 'sex' },
  birthdate: { autocomplete: 'bday', input: 'date' },
  zoneinfo: { autocomplete: 'off' },
  locale: { autocomplete: 'language' },
}

const INPUTS_BY_FORMAT = { email: 'email', uri: 'url', date: 'date' } as const

function selectInput(schema: MemberSchema | null): SignUpField['input'] {
  if (schema?.enum) return 'select'
  if (schema?.type === 'boolean') return 'checkbox'
  if (schema?.type === 'integer' || schema?.type === 'number') return 'number'
  return schema?.format ? INPUTS_BY_FORMAT[schema.format] : 'text'
}

function toField({ field, required, label, schema }: SignUpFieldSetting): SignUpField {
  const common = { name: field, profile: null, isRequired: required, choices: schema?.enum ?? [], schema }
  if (field.startsWith(METADATA_PREFIX)) {
    const member = field.slice(METADATA_PREFIX.length)
    return { ...common, label: label ?? member, autocomplete: 'off', input: selectInput(schema) }
  }
  const profile = PROFILE_INPUTS[field as SignUpProfileField]
  return {
    ...common,
    autocomplete: profile.autocomplete,
    input: profile.input ?? 'text',
    label: label ?? field,
    profile: label === null ? (field as SignUpProfileField) : null,
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
