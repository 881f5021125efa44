/** A record of an export, as its system writes it. */
export type SourceRecord = Record<string, unknown>

/** The parameters of the hashes of a Firebase project. */
export type HashConfig = { signerKey: string; saltSeparator: string; rounds: number; memoryCost: number }

/** What an export does not say. */
export type SourceConfig = {
  /** The parameters of the hashes, for Firebase. */
  hash: HashConfig | null
  /** The identity provider here of each one there; identities at others stay behind. */
  providers: Readonly<Record<string, string>>
  /** The role here of each one there, where the names differ; an empty name leaves a role behind. */
  roles: Readonly<Record<string, string>>
  /** The RP ID of the passkeys there; without it, they stay behind. */
  rpId: string | null
  /** The organizations of users by their user names, for Keycloak. */
  organizations: ReadonlyMap<string, object[]>
}

/** A system that users come from. */
export type Source = {
  /** The member of the document that has the users; without it, the file is a list or has a record a line. */
  member?: string
  /** The line of an import that a record becomes. Its fields are checked as those of any import. */
  toLine: (record: SourceRecord, config: SourceConfig) => Record<string, unknown>
}

/** The members that have a value. */
export const omitEmpty = (line: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(line).filter(
      ([, value]) =>
        value !== undefined &&
        value !== null &&
        value !== '' &&
        !(typeof value === 'object' && Object.keys(value).length === 0),
    ),
  )

/** A text, or undefined for any other value. Systems write numbers and flags where people entered a text. */
export const readText = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined

/** A flag, which CSV files have as a text. */
export const readFlag = (value: unknown): boolean => value === true || value === 'true' || value === 't'

/** An object, which CSV files have as JSON; empty for any other value. */
export function readObject(value: unknown): SourceRecord {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as SourceRecord
  if (typeof value !== 'string' || !value.startsWith('{')) return {}
  try {
    return JSON.parse(value) as SourceRecord
  } catch {
    return {}
  }
}

export const readList = (value: unknown): SourceRecord[] =>
  Array.isArray(value) ? value.map(readObject) : []

/** The URL of a picture. Systems also have pictures as data, which are left out. */
export const readUrl = (value: unknown): string | undefined => {
  const text = readText(value)
  return text && /^https?:\/\//.test(text) ? text : undefined
}

/** An address with its flag, which is of no use without it. */
export const readEmail = (email: unknown, isVerified: unknown): SourceRecord => {
  const address = readText(email)
  return address === undefined ? {} : { email: address, emailVerified: readFlag(isVerified) }
}
export const readPhoneNumber = (number: unknown, isVerified: unknown): SourceRecord => {
  const phoneNumber = readText(number)
  return phoneNumber === undefined ? {} : { phoneNumber, phoneNumberVerified: readFlag(isVerified) }
}

/** The identity of a user at a provider, if it is known here. */
export function toIdentity({ providers }: SourceConfig, provider: unknown, subject: unknown): SourceRecord[] {
  const idpId = Object.hasOwn(providers, String(provider)) ? providers[String(provider)] : undefined
  const externalId = readText(typeof subject === 'number' ? String(subject) : subject)
  return idpId && externalId ? [{ idpId, externalId }] : []
}

/** The names of roles here, once each. */
export const toRoles = ({ roles }: SourceConfig, names: unknown): string[] => [
  ...new Set(readNames(names).flatMap((name) => (Object.hasOwn(roles, name) ? roles[name] : name) || [])),
]

export const readNames = (list: unknown): string[] =>
  Array.isArray(list) ? list.flatMap((name) => readText(name) ?? []) : []

/** The hash of a crypt text of bcrypt; undefined for any other value. */
export const readBcrypt = (value: unknown): object | undefined =>
  /^\$2[abxy]\$/.test(readText(value) ?? '') ? { hash: { algorithm: 'bcrypt', value } } : undefined
