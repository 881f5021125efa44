import * as z from 'zod'
import type { FieldIssue } from '../core/errors.ts'
import { isJsonObject } from '../core/json-object.ts'
import { expectedUpdatedAt } from '../schema/expected-updated-at.ts'
import { boolean, clearable, metadata, optional, text } from '../schema/input-shapes.ts'
import { languageTag } from '../schema/language-tag.ts'
import { parsePhoneNumber } from '../schema/phone-numbers.ts'
import { createIdShape, instantShape, jsonObjectShape } from '../schema/response-shapes.ts'
import { birthdate, emailAddress, link, phoneNumber, zoneinfo } from './user-texts.fields.ts'

/** The members of an address, in the order of the API, with a description and an example. */
export const ADDRESS_FIELDS = {
  formatted: {
    description: 'The whole address as one text, for display or a label.',
    example: 'Lange Gasse 7\n1080 Wien\nAustria',
  },
  streetAddress: {
    description: 'Street and house number, or an equivalent; may have several lines.',
    example: 'Lange Gasse 7',
  },
  locality: { description: 'City or place.', example: 'Wien' },
  region: { description: 'State, province or region.', example: 'Wien' },
  postalCode: { description: 'Postal code.', example: '1080' },
  country: { description: 'Country.', example: 'Austria' },
} as const
export type AddressMember = keyof typeof ADDRESS_FIELDS
export const ADDRESS_MEMBERS = Object.keys(ADDRESS_FIELDS) as AddressMember[]
export type Address = Record<AddressMember, string | null>

/** The column of a member of the address. */
export const toAddressColumn = <Member extends AddressMember>(member: Member) =>
  `address${member.charAt(0).toUpperCase()}${member.slice(1)}` as `address${Capitalize<Member>}`

const NOT_AN_OBJECT = 'must be an object'

/** An address whose members have this shape. */
const createAddressShape = <Shape extends z.ZodType>(id: string, member: Shape) =>
  z
    .strictObject(
      Object.fromEntries(ADDRESS_MEMBERS.map((name) => [name, member.meta(ADDRESS_FIELDS[name])])) as Record<
        AddressMember,
        Shape
      >,
      NOT_AN_OBJECT,
    )
    .meta({ id, description: 'A postal address (OIDC Core, section 5.1.1).' })

const newAddress = createAddressShape('NewAddress', optional(text()))
const address = createAddressShape('AddressInput', clearable(text()))
const AddressShape = createAddressShape('Address', z.string().nullable())

/** The response shape of each kind of field. */
const RESPONSE_SHAPES = {
  id: createIdShape('user'),
  text: z.string().nullable(),
  flag: z.boolean(),
  time: instantShape,
  timeIfAny: instantShape.nullable(),
  address: AddressShape.nullable().meta({ description: 'Postal address.' }),
  json: jsonObjectShape,
}
type FieldKind = keyof typeof RESPONSE_SHAPES

/** The kind of a field, its shapes in the input of a creation and of a change, and that of its value. */
const defineField = <Kind extends FieldKind, Creation extends z.ZodType, Change extends z.ZodType>(
  kind: Kind,
  creation: Creation,
  change: Change,
  example?: unknown,
) => ({
  kind,
  creation: creation.meta({ example }),
  change: change.meta({ example }),
  answer: RESPONSE_SHAPES[kind].meta({ example }),
})
const textField = <Shape extends z.ZodType>(shape: Shape, example: string) =>
  defineField('text', optional(shape), clearable(shape), example)
const flagField = (example: boolean) => defineField('flag', boolean.nullish(), boolean.nullish(), example)
const jsonField = (example: object) => defineField('json', metadata.nullish(), metadata.nullish(), example)
/** A read-only field. */
const responseOnlyField = <OwnKind extends Extract<FieldKind, 'id' | 'text' | 'time' | 'timeIfAny'>>(
  kind: OwnKind,
  example?: string | null,
) => ({
  kind,
  creation: null,
  change: null,
  answer: example === undefined ? RESPONSE_SHAPES[kind] : RESPONSE_SHAPES[kind].meta({ example }),
})

/**
 * Every field of a user, in the order of the API. Input shapes, the REST body and the GraphQL types are built
 * from this list (test/contract/parity.test.ts).
 */
export const USER_FIELD_DEFINITIONS = {
  id: responseOnlyField('id'),
  name: textField(text(), 'Ada Lovelace'),
  givenName: textField(text(), 'Ada'),
  familyName: textField(text(), 'Lovelace'),
  middleName: textField(text(), 'Augusta'),
  nickname: textField(text(), 'Ada'),
  preferredUsername: textField(text(), 'ada'),
  profile: textField(link, 'https://example.com/people/ada'),
  picture: textField(link, 'https://example.com/people/ada.jpg'),
  website: textField(link, 'https://ada.example'),
  email: textField(emailAddress, 'ada@example.com'),
  emailVerified: flagField(true),
  gender: textField(text(), 'female'),
  birthdate: textField(birthdate, '1985-12-10'),
  zoneinfo: textField(zoneinfo, 'Europe/Vienna'),
  locale: textField(languageTag, 'de-AT'),
  phoneNumber: textField(phoneNumber, '+436641234567'),
  phoneNumberVerified: flagField(false),
  locked: flagField(false),
  lockedAt: responseOnlyField('timeIfAny', null),
  address: defineField('address', newAddress.nullish(), address.nullish()),
  userMetadata: jsonField({ newsletter: true }),
  appMetadata: jsonField({ plan: 'pro' }),
  termsVersion: responseOnlyField('text', '2026-11'),
  termsAcceptedAt: responseOnlyField('timeIfAny'),
  lastSeenAt: responseOnlyField('timeIfAny'),
  updatedAt: responseOnlyField('time'),
  createdAt: responseOnlyField('time'),
}

type Fields = typeof USER_FIELD_DEFINITIONS
export type UserField = keyof Fields
export const USER_FIELDS = Object.keys(USER_FIELD_DEFINITIONS) as UserField[]

export type ResponseOnlyField = {
  [Name in UserField]: Fields[Name]['change'] extends null ? Name : never
}[UserField]
type WritableField = Exclude<UserField, ResponseOnlyField>
const isWritable = (name: UserField): name is WritableField => USER_FIELD_DEFINITIONS[name].change !== null
export const RESPONSE_ONLY_FIELDS = USER_FIELDS.filter((name): name is ResponseOnlyField => !isWritable(name))
export const WRITABLE_FIELDS = USER_FIELDS.filter(isWritable)

const mapWritable = <Kind extends 'creation' | 'change'>(kind: Kind) =>
  Object.fromEntries(WRITABLE_FIELDS.map((name) => [name, USER_FIELD_DEFINITIONS[name][kind]])) as {
    [Name in WritableField]: Fields[Name][Kind]
  }
/** The shapes of the fields of a user in a change. */
export const userChanges = mapWritable('change')
const responseOnlyShapes = Object.fromEntries(
  RESPONSE_ONLY_FIELDS.map((name) => [name, z.unknown().meta({ readOnly: true }).optional()]),
) as Record<ResponseOnlyField, z.ZodOptional<z.ZodUnknown>>

/** Issues of the verified flags of a user, given the addresses. */
export function findVerificationIssues(user: {
  email?: unknown
  emailVerified?: unknown
  phoneNumber?: unknown
  phoneNumberVerified?: unknown
}): FieldIssue[] {
  const issues: FieldIssue[] = []
  if (user.emailVerified === true && !user.email)
    issues.push({ field: 'emailVerified', description: 'cannot be true without email' })
  const number = typeof user.phoneNumber === 'string' ? parsePhoneNumber(user.phoneNumber) : null
  if (user.phoneNumberVerified === true && !number)
    issues.push({
      field: 'phoneNumberVerified',
      description: user.phoneNumber
        ? 'cannot be true unless phoneNumber has a country code (E.164)'
        : 'cannot be true without phoneNumber',
    })
  return issues
}

/** Input of createUser: null counts as omitted. */
export const UserCreate = z
  .strictObject(mapWritable('creation'), NOT_AN_OBJECT)
  .superRefine(
    (user, context) => {
      for (const { field, description } of findVerificationIssues(user))
        context.addIssue({ code: 'custom', path: [field], message: description })
    },
    // Also when other fields are invalid, so that all issues are reported at once.
    { when: ({ value }) => isJsonObject(value) },
  )
  .meta({ id: 'UserCreate', model: 'User' })

/**
 * Input of updateUser: omitted is unchanged, null and, for text, '' unset. Read-only fields are accepted with their
 * returned value.
 */
export const UserPatch = z
  .strictObject({ ...userChanges, ...responseOnlyShapes, expectedUpdatedAt }, NOT_AN_OBJECT)
  .meta({ id: 'UserPatch', model: 'User', example: { nickname: 'Countess', locked: false, website: null } })

/** A user as REST returns it: every field, null where unset; appMetadata only with the scope for it. */
export const UserShape = z
  .object({
    ...(Object.fromEntries(USER_FIELDS.map((name) => [name, USER_FIELD_DEFINITIONS[name].answer])) as {
      [Name in UserField]: Fields[Name]['answer']
    }),
    appMetadata: USER_FIELD_DEFINITIONS.appMetadata.answer.optional(),
  })
  .meta({ id: 'User', model: 'User' })

export type ParsedPatch = z.output<typeof UserPatch>
export type WritableUser = z.output<z.ZodObject<typeof userChanges>>

/** A + that was not percent-encoded is received as a space. */
function restorePlus(text: unknown): unknown {
  if (typeof text !== 'string' || !/^ [0-9]/.test(text)) return text
  const restored = `+${text.slice(1)}`
  return parsePhoneNumber(restored) === null ? text : restored
}

/** Input of the lookups by e-mail address and phone number. */
export const EmailLookup = z.strictObject({ email: emailAddress.meta({ example: 'ada@example.com' }) })
export const PhoneNumberLookup = z.strictObject({
  phoneNumber: z.preprocess(restorePlus, phoneNumber.meta({ example: '+436641234567' })),
})
