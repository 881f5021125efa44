import { InvalidInput } from '../../core/errors.ts'
import { ADDRESS_MEMBERS, userChanges } from '../users.fields.ts'

/** A column that is left out. */
export const NO_FIELD = '-'
const METADATA_FIELD = /^(?:userMetadata|appMetadata)\.[\w-]{1,100}$/
const OBJECTS = ['address', 'userMetadata', 'appMetadata']
/** Fields with names, which a cell has with semicolons or vertical bars between them. */
const LISTS = ['appRoles', 'groups']
const FLAGS = ['emailVerified', 'phoneNumberVerified', 'locked']

/** The fields that a column of a CSV file can have, besides members of metadata such as `appMetadata.plan`. */
export const CSV_FIELDS: readonly string[] = [
  'externalId',
  ...Object.keys(userChanges).filter((field) => !OBJECTS.includes(field)),
  ...ADDRESS_MEMBERS.map((member) => `address.${member}`),
  ...LISTS,
]

/** Names of columns in spreadsheets, in English and German, without what is not a letter. */
const SYNONYMS: Record<string, string> = {
  mail: 'email',
  emailaddress: 'email',
  mailaddress: 'email',
  emailadresse: 'email',
  fullname: 'name',
  displayname: 'name',
  anzeigename: 'name',
  firstname: 'givenName',
  forename: 'givenName',
  vorname: 'givenName',
  lastname: 'familyName',
  surname: 'familyName',
  nachname: 'familyName',
  familienname: 'familyName',
  phone: 'phoneNumber',
  mobile: 'phoneNumber',
  telephone: 'phoneNumber',
  telefon: 'phoneNumber',
  telefonnummer: 'phoneNumber',
  mobil: 'phoneNumber',
  handy: 'phoneNumber',
  language: 'locale',
  sprache: 'locale',
  timezone: 'zoneinfo',
  zeitzone: 'zoneinfo',
  birthday: 'birthdate',
  dateofbirth: 'birthdate',
  geburtsdatum: 'birthdate',
  geburtstag: 'birthdate',
  employeeid: 'externalId',
  personalnummer: 'externalId',
  kundennummer: 'externalId',
  street: 'address.streetAddress',
  strasse: 'address.streetAddress',
  city: 'address.locality',
  ort: 'address.locality',
  stadt: 'address.locality',
  state: 'address.region',
  zip: 'address.postalCode',
  zipcode: 'address.postalCode',
  postcode: 'address.postalCode',
  plz: 'address.postalCode',
  postleitzahl: 'address.postalCode',
  country: 'address.country',
  land: 'address.country',
  gesperrt: 'locked',
  roles: 'appRoles',
  rollen: 'appRoles',
  gruppen: 'groups',
}

const toLetters = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replace(/[^\p{L}]/gu, '')
const BY_LETTERS = new Map([
  ...Object.entries(SYNONYMS),
  ...CSV_FIELDS.map((field) => [toLetters(field.replace('address.', '')), field] as const),
  ...CSV_FIELDS.map((field) => [toLetters(field), field] as const),
])

/** The field that the name of a column means; null when it means none. */
export function guessField(name: string): string | null {
  const trimmed = name.trim()
  return METADATA_FIELD.test(trimmed) ? trimmed : (BY_LETTERS.get(toLetters(trimmed)) ?? null)
}

/** The columns of a CSV file: their names, and their fields. */
export type CsvColumns = { names: string[]; fields: string[] }

/**
 * The fields of the columns of a header: those that are given, or the guesses. Throws InvalidInput for a field that does
 * not exist or occurs twice, for another number of columns, and for names that say nothing.
 */
export function resolveColumns(names: string[], given: readonly string[] | null | undefined): CsvColumns {
  const fields = given ? [...given] : names.map((name) => guessField(name) ?? '')
  const reject = (description: string) => new InvalidInput([{ field: 'columns', description }])
  if (fields.length !== names.length)
    throw reject(`must have ${names.length} fields, one for each column of the file`)
  const used = fields.filter((field) => field !== NO_FIELD)
  for (const [index, field] of fields.entries()) {
    if (field !== NO_FIELD && !CSV_FIELDS.includes(field) && !METADATA_FIELD.test(field))
      throw reject(
        given
          ? `has ${JSON.stringify(field.slice(0, 100))}, which is not a field of a user; ${NO_FIELD} leaves a column out`
          : `is required, because ${JSON.stringify((names[index] ?? '').slice(0, 100))} is not a field of a user; ${NO_FIELD} leaves a column out`,
      )
    if (used.indexOf(field) !== used.lastIndexOf(field)) throw reject(`has ${field} twice`)
  }
  if (used.length === 0) throw reject('has no field')
  return { names, fields }
}

/** The value of a cell. Spreadsheets write flags in words, and our exports an apostrophe before a formula. */
function toValue(field: string, cell: string): unknown {
  if (LISTS.includes(field)) return cell.split(/[;|]/).flatMap((name) => name.trim() || [])
  if (!FLAGS.includes(field)) return cell.replace(/^'(?=[=+\-@\t\r])/, '')
  if (/^(?:true|yes|1|wahr|ja|x)$/i.test(cell)) return true
  return /^(?:false|no|0|falsch|nein)$/i.test(cell) ? false : cell
}

/** A record as a line of an import. Empty cells are left out: they change nothing. Throws InvalidInput for too many cells. */
export function toUserLine(cells: readonly string[], { names, fields }: CsvColumns): Record<string, unknown> {
  if (cells.slice(names.length).some((cell) => cell.trim() !== ''))
    throw new InvalidInput([
      { field: '', description: `has ${cells.length} cells, and the first line ${names.length}` },
    ])
  const line: Record<string, unknown> = {}
  for (const [index, field] of fields.entries()) {
    const cell = cells[index]?.trim() ?? ''
    if (field === NO_FIELD || cell === '') continue
    const [object = '', member] = field.split('.')
    if (member === undefined) line[field] = toValue(field, cell)
    else line[object] = { ...(line[object] as object), [member]: toValue(field, cell) }
  }
  return line
}

/** The name of the column that has a field. */
export const findColumn = ({ names, fields }: CsvColumns, field: string): string | undefined =>
  names[fields.indexOf(field)]
