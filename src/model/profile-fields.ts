/** How a form asks for a field: `autocomplete` of HTML (section 4.10.18.7), and the kind of input. */
type ProfileInput = { autocomplete: string; input?: 'date' | 'url' | 'select'; example?: string }

/**
 * The texts of a profile, in the order of the API: columns of a user, and claims in scope `profile` (OIDC Core, section
 * 5.1). Users change them themselves. A consent page has the `words` of the claim; without any, it has its name. Forms
 * ask for the fields with an `input`, none of which is unique in a tenant: the answer to such a field would reveal
 * what other users have. `PROFILE_GROUPS` has their order.
 */
export const PROFILE_FIELDS = {
  name: { words: 'See your full name', input: { autocomplete: 'name' } },
  givenName: { words: 'See your given name', input: { autocomplete: 'given-name' } },
  familyName: { words: 'See your family name', input: { autocomplete: 'family-name' } },
  middleName: { words: 'See your middle name', input: { autocomplete: 'additional-name' } },
  nickname: { words: 'See your nickname', input: { autocomplete: 'nickname' } },
  preferredUsername: { words: 'See your user name', input: { autocomplete: 'off' } },
  profile: { words: 'See the address of your profile page' },
  picture: { words: 'See your picture' },
  website: { words: 'See the address of your website', input: { autocomplete: 'url', input: 'url' } },
  gender: { words: 'See your gender', input: { autocomplete: 'sex' } },
  birthdate: { words: 'See your date of birth', input: { autocomplete: 'bday', input: 'date' } },
  zoneinfo: { words: 'See your time zone', input: { autocomplete: 'off', example: 'Europe/Zurich' } },
  locale: { words: 'See your language', input: { autocomplete: 'language', input: 'select' } },
} as const satisfies Record<string, { words?: string; input?: ProfileInput }>

export type ProfileField = keyof typeof PROFILE_FIELDS
export const PROFILE_FIELD_NAMES = Object.keys(PROFILE_FIELDS) as ProfileField[]

/** The claim of a field: that of `givenName` is `given_name`. */
export const getClaimName = (field: ProfileField): string =>
  field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** The text of the claim on a consent page, if there is one. */
export const getClaimWords = (field: ProfileField): string | undefined =>
  (PROFILE_FIELDS[field] as { words?: string }).words

/** A field that forms ask for. */
export type AskedProfileField = {
  [Name in ProfileField]: (typeof PROFILE_FIELDS)[Name] extends { input: object } ? Name : never
}[ProfileField]

const isAsked = (name: ProfileField): name is AskedProfileField => 'input' in PROFILE_FIELDS[name]
export const ASKED_PROFILE_FIELDS = PROFILE_FIELD_NAMES.filter(isAsked)

export const getProfileInput = (name: AskedProfileField): ProfileInput => PROFILE_FIELDS[name].input

/** The groups of the fields on a page, both in their order. */
export const PROFILE_GROUPS = {
  names: ['name', 'givenName', 'middleName', 'familyName', 'nickname', 'preferredUsername'],
  about: ['birthdate', 'gender', 'website'],
  region: ['locale', 'zoneinfo'],
} as const satisfies Record<string, readonly AskedProfileField[]>
