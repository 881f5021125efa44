import { isJsonObject } from '../core/json/json-object.ts'
import { getMember } from './filter.ts'
import { ScimError } from './scim-errors.ts'

export const USER_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:User'
export const GROUP_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:Group'
export const ENTERPRISE_SCHEMA = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'

/** An attribute as `/Schemas` describes it (RFC 7643, section 7). Input is read by the same table. */
export type Attribute = {
  name: string
  type: 'string' | 'boolean' | 'complex' | 'reference'
  description: string
  multiValued?: true
  required?: true
  caseExact?: true
  isReadOnly?: true
  uniqueness?: 'server'
  subAttributes?: readonly Attribute[]
}

const string = (name: string, description: string, more: Partial<Attribute> = {}): Attribute => ({
  name,
  type: 'string',
  description,
  ...more,
})
const complex = (name: string, description: string, subAttributes: Attribute[]): Attribute => ({
  name,
  type: 'complex',
  description,
  subAttributes,
})
const list = (name: string, description: string, subAttributes: Attribute[]): Attribute => ({
  ...complex(name, description, subAttributes),
  multiValued: true,
})

const TYPE = string('type', 'A label such as work.')
const PRIMARY: Attribute = {
  name: 'primary',
  type: 'boolean',
  description: 'Whether it is the preferred one.',
}
const REFERENCE = { type: 'reference', caseExact: true } as const
const EXTERNAL_ID = string('externalId', 'Identifier at the client; unique for the client.', {
  caseExact: true,
})

/** The attributes of a user. Other ones of the core schema are ignored. */
export const USER_ATTRIBUTES: readonly Attribute[] = [
  string('userName', 'Name at the client, usually the e-mail address; unique for the client.', {
    required: true,
    uniqueness: 'server',
  }),
  EXTERNAL_ID,
  { name: 'active', type: 'boolean', description: 'False locks the user, or ends the membership.' },
  complex('name', 'The parts of the name.', [
    string('formatted', 'Full name, as displayName.'),
    string('familyName', 'Last name.'),
    string('givenName', 'First name.'),
    string('middleName', 'Middle name.'),
    string('honorificPrefix', 'Title; kept for the client.'),
    string('honorificSuffix', 'Suffix; kept for the client.'),
  ]),
  string('displayName', 'Full name.'),
  string('nickName', 'Casual name.'),
  string('profileUrl', 'URL of the profile page.', REFERENCE),
  string('title', 'Title at work; kept for the client.'),
  string('userType', 'Relation to the organization; kept for the client.'),
  string('preferredLanguage', 'Language tag, as locale.'),
  string('locale', 'Language tag.'),
  string('timezone', 'Name of the time zone database.'),
  list('emails', 'The e-mail address. The primary one of several counts, then the one of type work.', [
    string('value', 'The address.'),
    string('display', 'Ignored.'),
    TYPE,
    PRIMARY,
  ]),
  list('phoneNumbers', 'Phone numbers; kept for the client.', [
    string('value', 'The number.'),
    string('display', 'The number for people.'),
    TYPE,
    PRIMARY,
  ]),
  list('addresses', 'Postal addresses; kept for the client.', [
    string('formatted', 'The whole address.'),
    string('streetAddress', 'Street and number.'),
    string('locality', 'City.'),
    string('region', 'Region.'),
    string('postalCode', 'Postal code.'),
    string('country', 'Country.'),
    TYPE,
    PRIMARY,
  ]),
  {
    ...list('groups', 'The groups that the user is in directly.', [
      string('value', 'Id of the group.', { isReadOnly: true }),
      string('$ref', 'Its URL.', { ...REFERENCE, isReadOnly: true }),
      string('display', 'Its name.', { isReadOnly: true }),
      { ...TYPE, isReadOnly: true },
    ]),
    isReadOnly: true,
  },
]

/** The attributes of the enterprise extension, which are kept for the client. */
export const ENTERPRISE_ATTRIBUTES: readonly Attribute[] = [
  ...['employeeNumber', 'costCenter', 'organization', 'division', 'department'].map((name) =>
    string(name, 'Kept for the client.'),
  ),
  complex('manager', 'Kept for the client.', [
    string('value', 'Id of the manager.'),
    string('$ref', 'Its URL.', REFERENCE),
    string('displayName', 'Name of the manager.'),
  ]),
]

/** The attributes of a group. */
export const GROUP_ATTRIBUTES: readonly Attribute[] = [
  string('displayName', 'Name of the group; unique.', { required: true, uniqueness: 'server' }),
  EXTERNAL_ID,
  list('members', 'The users in the group.', [
    string('value', 'Id of the user.'),
    string('$ref', 'Its URL.', REFERENCE),
    string('display', 'Name of the user.', { isReadOnly: true }),
    { ...TYPE, description: 'User.' },
  ]),
]

/** A resource whose attributes have the names and types of the table. */
export type Json = Record<string, unknown>

/** Attributes of RFC 7643 that are not stored. */
const IGNORED = new Set(
  ['password', 'ims', 'photos', 'entitlements', 'roles', 'x509Certificates'].map((name) =>
    name.toLowerCase(),
  ),
)
export const isIgnored = (name: string): boolean => IGNORED.has(name.toLowerCase())
const SERVICE = new Set(['id', 'meta', 'schemas'])
export const isServiceAttribute = (name: string): boolean => SERVICE.has(name.toLowerCase())

export const findAttribute = (attributes: readonly Attribute[], name: string): Attribute | undefined =>
  attributes.find((attribute) => attribute.name.toLowerCase() === name.toLowerCase())

/** Values of a list. */
const MAX_VALUES = 50

const createTypeError = (name: string, expected: string): ScimError =>
  new ScimError('invalidValue', `${name} must be ${expected}.`)

function readBoolean(value: unknown, name: string): boolean {
  // Entra ID sends "True" and "False".
  const text = String(value).toLowerCase()
  if (text !== 'true' && text !== 'false') throw createTypeError(name, 'true or false')
  return text === 'true'
}

/** Throws ScimError invalidValue. */
export function requireFewValues(name: string, values: readonly unknown[], max = MAX_VALUES): void {
  if (values.length > max) throw createTypeError(name, `a list of at most ${max} values`)
}

/** Reads a value of an attribute; undefined for none, such as null, '' and the empty list. Throws ScimError invalidValue. */
export function readValue(attribute: Attribute, value: unknown, max = MAX_VALUES): unknown {
  const { name, type, multiValued, subAttributes = [] } = attribute
  if (value === undefined || value === null || value === '') return undefined
  if (multiValued) {
    const values = Array.isArray(value) ? value : [value]
    requireFewValues(name, values, max)
    const read = values.map((one) => readComplex(attribute, one)).filter((one) => one !== undefined)
    return read.length > 0 ? read : undefined
  }
  if (type === 'boolean') return readBoolean(value, name)
  if (type === 'complex') return readComplex({ ...attribute, subAttributes }, value)
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (typeof value !== 'string') throw createTypeError(name, 'a string')
  return value
}

/** The value of a complex attribute. A text is its `value`, as Entra ID sends a manager. */
function readComplex({ name, subAttributes = [] }: Attribute, value: unknown): Json | undefined {
  const object = typeof value === 'string' ? { value } : value
  if (!isJsonObject(object)) throw createTypeError(name, 'an object')
  const read = readMembers(subAttributes, object, `${name}.`)
  return Object.keys(read).length > 0 ? read : undefined
}

function readMembers(attributes: readonly Attribute[], object: Json, prefix = ''): Json {
  const read: Json = {}
  for (const attribute of attributes) {
    if (attribute.isReadOnly) continue
    const value = readValue(
      { ...attribute, name: prefix + attribute.name },
      getMember(object, attribute.name),
    )
    if (value !== undefined) read[attribute.name] = value
  }
  return read
}

/** Reads a user: known attributes in their names, others left out. Throws ScimError. */
export function readUser(body: unknown): Json {
  if (!isJsonObject(body)) throw new ScimError('invalidSyntax', 'The body must be an object.')
  const user = readMembers(USER_ATTRIBUTES, body)
  const extension = getMember(body, ENTERPRISE_SCHEMA)
  const read = isJsonObject(extension) ? readMembers(ENTERPRISE_ATTRIBUTES, extension) : {}
  if (Object.keys(read).length > 0) user[ENTERPRISE_SCHEMA] = read
  return user
}
