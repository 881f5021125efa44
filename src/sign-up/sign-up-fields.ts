import {
  METADATA_PREFIX,
  type MemberSchema,
  type SignUpFieldSetting,
  type SignUpProfileField,
} from '../core/sign-up.ts'
import { LANGUAGES } from '../languages/catalogs.ts'

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
  /** Of a select. A stored value that is none of them is offered as well. */
  choices: readonly string[]
  /** An example of a value, for fields whose form is not obvious. */
  example: string | null
  schema: MemberSchema | null
}

type ProfileInput = Pick<SignUpField, 'autocomplete'> &
  Partial<Pick<SignUpField, 'input' | 'choices' | 'example'>>

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
  zoneinfo: { autocomplete: 'off', example: 'Europe/Zurich' },
  locale: { autocomplete: 'language', input: 'select', choices: LANGUAGES },
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
  const profile = PROFILE_INPUTS[field as SignUpProfileField]
  return {
    ...common,
    input: 'text',
    ...profile,
    label: label ?? field,
    profile: label === null ? (field as SignUpProfileField) : null,
  }
}

/** A date of birth may lack its year, or be a year alone, which no date field shows. */
const BIRTHDATE_INPUT = { input: 'text', example: '1990-12-31' } as const

/** The fields of a profile, all of them optional. */
export const listProfileFields = (): SignUpField[] =>
  Object.keys(PROFILE_INPUTS).map((field) => ({
    ...toField({ field, required: false, label: null, schema: null }),
    ...(field === 'birthdate' && BIRTHDATE_INPUT),
  }))

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
