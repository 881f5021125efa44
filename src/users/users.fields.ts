import * as z from 'zod'
import type { FieldIssue } from '../core/errors.ts'
import { isJsonObject } from '../core/json/json-object.ts'
import { emailAddress, phoneNumber } from '../schema/address-shapes.ts'
import { expectedUpdatedAt } from '../schema/expected-updated-at.ts'
import { asFormat, toAnswerText } from '../schema/formats.ts'
import { boolean, clearable, metadata, optional, text } from '../schema/input-shapes.ts'
import { languageTag } from '../schema/language-tag.ts'
import { memoizeText } from '../schema/memoize-text.ts'
import { parsePhoneNumber } from '../schema/phone-numbers.ts'
import { createIdShape, instantShape, jsonObjectShape } from '../schema/response-shapes.ts'
import { createAllowedUrl } from '../schema/url-shapes.ts'

export const link = createAllowedUrl({ fragment: true })

const MONTH_AND_DAY =
  '(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)'
/** Year 0 is a leap year of the Gregorian calendar, so that 0000-02-29 is a birthday. */
const LEAP_YEAR = '(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)'
/** OIDC Core, section 5.1: YYYY-MM-DD, 0000-MM-DD when the year is omitted, or YYYY. */
const BIRTHDATE_SYNTAX = new RegExp(`^(?:(?!0000$)[0-9]{4}(?:-${MONTH_AND_DAY})?|${LEAP_YEAR}-02-29)$`)

export const birthdate = asFormat(
  text(10).regex(BIRTHDATE_SYNTAX, 'must be a date as YYYY-MM-DD, 0000-MM-DD or YYYY'),
  'birthdate',
)

/** The name of a time zone in its canonical case, or null. An alias keeps its name. */
const canonicalizeTimeZone = memoizeText((value) => {
  // Offsets such as +01:00 are not names, although newer engines accept them.
  if (!/^[A-Za-z]/.test(value)) return null
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: value }).resolvedOptions()
    return timeZone.toLowerCase() === value.toLowerCase() ? timeZone : value
  } catch {
    return null // RangeError: unknown time zone
  }
})

export const zoneinfo = text(100)
  .refine(
    (value) => canonicalizeTimeZone(value) !== null,
    'must be a name of the time zone database, such as Europe/Berlin',
  )
  .transform((value) => canonicalizeTimeZone(value) ?? value)
  .meta({ format: 'time-zone' })

/** The members of an address, in the order of the API, with a description and an example. */
const ADDRESS_FIELDS = {
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
const createAddressShape = <Shape extends z.ZodType>(id: string, member: Shape, typeName = id) =>
  z
    .strictObject(
      Object.fromEntries(ADDRESS_MEMBERS.map((name) => [name, member.meta(ADDRESS_FIELDS[name])])) as Record<
        AddressMember,
        Shape
      >,
      NOT_AN_OBJECT,
    )
    .meta({ id, typeName, description: 'A postal address (OIDC Core, section 5.1.1).' })

const newAddress = createAddressShape('NewAddress', optional(text()), 'AddressInput')
const address = createAddressShape('AddressInput', clearable(text()))
const AddressShape = createAddressShape('Address', z.string().nullable())

/**
 * The shapes of a field in the input of a creation, in that of a change, and in responses. `note` describes it in input,
 * where the description of the column does not fit.
 */
function defineField<Creation extends z.ZodType, Change extends z.ZodType, Answer extends z.ZodType>(
  { creation, change, answer }: { creation: Creation; change: Change; answer: Answer },
  example?: unknown,
  note?: string,
) {
  const meta = { ...(note && { description: note }), example }
  return { creation: creation.meta(meta), change: change.meta(meta), answer: answer.meta({ example }) }
}
const textField = <Shape extends z.ZodType>(shape: Shape, example: string, note?: string) =>
  defineField(
    { creation: optional(shape), change: clearable(shape), answer: toAnswerText(shape).nullable() },
    example,
    note,
  )
const flag = boolean.nullish()
const flagField = (example: boolean, note?: string) =>
  defineField({ creation: flag, change: flag, answer: z.boolean() }, example, note)
const json = metadata.nullish()
const jsonField = (example: object, note: string) =>
  defineField({ creation: json, change: json, answer: jsonObjectShape }, example, note)
/** A field that the service sets. */
const responseOnlyField = <Answer extends z.ZodType>(answer: Answer, example?: unknown) => ({
  creation: null,
  change: null,
  answer: example === undefined ? answer : answer.meta({ example }),
})

/**
 * Every field of a user, in the order of the API. Input shapes, the REST body and the GraphQL types are built
 * from this list.
 */
export const USER_FIELD_DEFINITIONS = {
  id: responseOnlyField(createIdShape('user')),
  name: textField(text(), 'Ada Lovelace'),
  givenName: textField(text(), 'Ada'),
  familyName: textField(text(), 'Lovelace'),
  middleName: textField(text(), 'Augusta'),
  nickname: textField(text(), 'Ada'),
  preferredUsername: textField(text(), 'ada'),
  profile: textField(link, 'https://example.com/people/ada'),
  picture: textField(link, 'https://example.com/people/ada.jpg'),
  website: textField(link, 'https://ada.example'),
  email: textField(
    emailAddress,
    'ada@example.com',
    'E-mail address (RFC 5322 addr-spec); unique in the tenant. A new one is unverified unless emailVerified says otherwise.',
  ),
  emailVerified: flagField(true, 'Whether the address is verified. Cannot be true without email.'),
  gender: textField(text(), 'female'),
  birthdate: textField(birthdate, '1985-12-10'),
  zoneinfo: textField(zoneinfo, 'Europe/Vienna', 'Name of the time zone database, such as Europe/Berlin.'),
  locale: textField(languageTag, 'de-AT', 'BCP 47 language tag, such as de-AT.'),
  phoneNumber: textField(
    phoneNumber,
    '+436641234567',
    'Phone number, preferably with its country code, in any notation, an extension as ;ext=: then it is stored in E.164. Another number is stored as given, and nobody signs in by it. Unique in the tenant. A new one is unverified unless phoneNumberVerified says otherwise.',
  ),
  phoneNumberVerified: flagField(
    false,
    'Whether the number is verified. Cannot be true without a phoneNumber that has its country code.',
  ),
  locked: flagField(false, 'True locks the user like lockUser, false unlocks.'),
  lockedAt: responseOnlyField(instantShape.nullable(), null),
  address: defineField(
    {
      creation: newAddress.nullish(),
      change: address.nullish(),
      answer: AddressShape.nullable().meta({ description: 'Postal address.' }),
    },
    undefined,
    'Postal address. A change is merged member by member.',
  ),
  userMetadata: jsonField(
    { newsletter: true },
    "Free-form object; the user's own. A change replaces it; 64 KB at most.",
  ),
  appMetadata: jsonField(
    { plan: 'pro' },
    "Free-form object; the applications'. A change replaces it; 64 KB at most.",
  ),
  termsVersion: responseOnlyField(z.string().nullable(), '2026-11'),
  termsAcceptedAt: responseOnlyField(instantShape.nullable()),
  lastSeenAt: responseOnlyField(instantShape.nullable()),
  updatedAt: responseOnlyField(instantShape),
  createdAt: responseOnlyField(instantShape),
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

/** Parts a parsed input into what is to be written and the response-only fields that came along. */
export function splitResponseOnly<Input extends object>(
  input: Input,
): { written: Omit<Input, ResponseOnlyField>; echoed: Partial<Record<ResponseOnlyField, unknown>> } {
  const written = { ...input } as Record<string, unknown>
  const echoed: Partial<Record<ResponseOnlyField, unknown>> = {}
  for (const name of RESPONSE_ONLY_FIELDS) {
    echoed[name] = written[name]
    delete written[name]
  }
  return { written: written as Omit<Input, ResponseOnlyField>, echoed }
}

const mapWritable = <Kind extends 'creation' | 'change'>(kind: Kind) =>
  Object.fromEntries(
    USER_FIELDS.filter(isWritable).map((name) => [name, USER_FIELD_DEFINITIONS[name][kind]]),
  ) as { [Name in WritableField]: Fields[Name][Kind] }
/** The shapes of the fields of a user in a change. */
export const userChanges = mapWritable('change')
/** Fields that the service sets, in input that has come from a response. */
export const responseOnlyShapes = Object.fromEntries(
  RESPONSE_ONLY_FIELDS.map((name) => [name, z.unknown().optional().meta({ readOnly: true })]),
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
