import { LANGUAGES } from '../languages/catalogs.ts'
import { type AskedProfileField, getProfileInput, PROFILE_GROUPS } from '../model/profile-fields.ts'
import { METADATA_PREFIX, type MemberSchema, type SignUpFieldSetting } from '../model/sign-up.ts'

/** A field of the sign-up page. */
export type SignUpField = {
  /** The name of the field: that of a member of the user, or `userMetadata.NAME`. */
  name: string
  /** The label that the tenant chose, or the name of the member. */
  label: string
  /** The field of the profile whose label pages show in their language; null where the tenant chose one. */
  profile: AskedProfileField | null
  isRequired: boolean
  /** `autocomplete` of HTML, section 4.10.18.7. */
  autocomplete: string
  input: 'text' | 'number' | 'date' | 'url' | 'email' | 'checkbox' | 'select'
  /** Of a select. A stored value outside this list is offered as well. */
  choices: readonly string[]
  /** An example of a value, for fields whose form is not obvious. */
  example: string | null
  schema: MemberSchema | null
}

const INPUTS_BY_FORMAT = { email: 'email', uri: 'url', date: 'date' } as const

function selectInput(schema: MemberSchema | null): SignUpField['input'] {
  if (schema?.enum) return 'select'
  if (schema?.type === 'boolean') return 'checkbox'
  if (schema?.type === 'integer' || schema?.type === 'number') return 'number'
  return schema?.format ? INPUTS_BY_FORMAT[schema.format] : 'text'
}

function toField({ field, required, label, schema }: SignUpFieldSetting): SignUpField {
  const common = {
    name: field,
    profile: null,
    isRequired: required,
    choices: schema?.enum ?? [],
    example: null,
    schema,
  }
  if (field.startsWith(METADATA_PREFIX)) {
    const member = field.slice(METADATA_PREFIX.length)
    return { ...common, label: label ?? member, autocomplete: 'off', input: selectInput(schema) }
  }
  return {
    ...common,
    input: 'text',
    ...(field === 'locale' && { choices: LANGUAGES }),
    ...getProfileInput(field as AskedProfileField),
    label: label ?? field,
    profile: label === null ? (field as AskedProfileField) : null,
  }
}

/** A date of birth may lack its year, or be a year alone, which no date field shows. */
const BIRTHDATE_INPUT = { input: 'text', example: '1990-12-31' } as const

/** The fields of a profile, which are optional. */
export const listProfileFields = (): SignUpField[] =>
  Object.values(PROFILE_GROUPS)
    .flat()
    .map((field) => ({
      ...toField({ field, required: false, label: null, schema: null }),
      ...(field === 'birthdate' && BIRTHDATE_INPUT),
    }))

type ProfileGroup = keyof typeof PROFILE_GROUPS

/** The groups of fields of a profile. */
export const groupProfileFields = (fields: readonly SignUpField[]) =>
  Object.entries<readonly string[]>(PROFILE_GROUPS).map(([group, names]) => ({
    group: group as ProfileGroup,
    fields: fields.filter(({ name }) => names.includes(name)),
  }))

/** The fields of the sign-up page of a tenant. */
export const listSignUpFields = ({ signUpFields }: { signUpFields: unknown }): SignUpField[] =>
  (signUpFields as SignUpFieldSetting[]).map(toField)

/** The consent to the terms of use, and the version that the page showed. */
const TERMS_FIELDS = ['terms', 'terms-version']

/** The fields as they were entered, those of the terms of use included; an empty field is omitted. */
export const readEntries = (
  fields: readonly SignUpField[],
  form: Record<string, string>,
): Record<string, string> =>
  Object.fromEntries(
    [...fields.map(({ name }) => name), ...TERMS_FIELDS]
      .map((name) => [name, (form[name] ?? '').trim()])
      .filter(([, value]) => value !== ''),
  )
