import { LANGUAGES } from '../languages/catalogs.ts'
import {
  METADATA_PREFIX,
  type MemberSchema,
  type SignUpFieldSetting,
  type SignUpProfileField,
} from '../model/sign-up.ts'

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
  /** Of a select. A stored value outside this list is offered as well. */
  choices: readonly string[]
  /** An example of a value, for fields whose form is not obvious. */
  example: string | null
  schema: MemberSchema | null
}

/** The groups of the profile, in their order. */
export const PROFILE_GROUPS = ['names', 'about', 'region'] as const
type ProfileGroup = (typeof PROFILE_GROUPS)[number]

type ProfileInput = Pick<SignUpField, 'autocomplete'> & { group: ProfileGroup } & Partial<
    Pick<SignUpField, 'input' | 'choices' | 'example'>
  >

const PROFILE_INPUTS: Record<SignUpProfileField, ProfileInput> = {
  name: { group: 'names', autocomplete: 'name' },
  givenName: { group: 'names', autocomplete: 'given-name' },
  middleName: { group: 'names', autocomplete: 'additional-name' },
  familyName: { group: 'names', autocomplete: 'family-name' },
  nickname: { group: 'names', autocomplete: 'nickname' },
  preferredUsername: { group: 'names', autocomplete: 'off' },
  birthdate: { group: 'about', autocomplete: 'bday', input: 'date' },
  gender: { group: 'about', autocomplete: 'sex' },
  website: { group: 'about', autocomplete: 'url', input: 'url' },
  locale: { group: 'region', autocomplete: 'language', input: 'select', choices: LANGUAGES },
  zoneinfo: { group: 'region', autocomplete: 'off', example: 'Europe/Zurich' },
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
  const { group: _, ...input } = PROFILE_INPUTS[field as SignUpProfileField]
  return {
    ...common,
    input: 'text',
    ...input,
    label: label ?? field,
    profile: label === null ? (field as SignUpProfileField) : null,
  }
}

/** A date of birth may lack its year, or be a year alone, which no date field shows. */
const BIRTHDATE_INPUT = { input: 'text', example: '1990-12-31' } as const

/** The fields of a profile, which are optional. */
export const listProfileFields = (): SignUpField[] =>
  Object.keys(PROFILE_INPUTS).map((field) => ({
    ...toField({ field, required: false, label: null, schema: null }),
    ...(field === 'birthdate' && BIRTHDATE_INPUT),
  }))

/** The groups of fields of a profile. */
export const groupProfileFields = (fields: readonly SignUpField[]) =>
  PROFILE_GROUPS.map((group) => ({
    group,
    fields: fields.filter(({ profile }) => profile && PROFILE_INPUTS[profile].group === group),
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
