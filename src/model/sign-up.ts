/** Who may create an account on the hosted pages. */
export const SIGN_UP_MODES = ['off', 'open', 'domains', 'invitation'] as const
export type SignUpMode = (typeof SIGN_UP_MODES)[number]

/** Lifetime of the link of an invitation, in seconds. */
export const INVITATION_LIFETIME_SECONDS = { min: 300, max: 2_592_000, standard: 259_200 }

/** The prefix of a field that is a member of userMetadata. */
export const METADATA_PREFIX = 'userMetadata.'

/** The keywords of JSON Schema that describe a member of userMetadata. */
export type MemberSchema = {
  type: 'string' | 'integer' | 'number' | 'boolean'
  enum?: string[]
  format?: 'email' | 'uri' | 'date'
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
}

/** A field that a new user is asked for, as the settings of a tenant have it. */
export type SignUpFieldSetting = {
  field: string
  required: boolean
  label: string | null
  schema: MemberSchema | null
}

export const DEFAULT_SIGN_UP_FIELDS: SignUpFieldSetting[] = [
  { field: 'name', required: true, label: null, schema: null },
]
