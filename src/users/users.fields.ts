import { z } from 'zod'
import type { FieldFault } from '../errors.ts'
import { expectedUpdatedAt } from '../expected-updated-at.ts'
import { allowedUrl, boolean, clearable, metadata, text } from '../fields.ts'
import { idOf, jsonObject, time } from '../shapes.ts'
import { emailKeyOf, phoneNumberOf } from './addresses.ts'

/** The members of an address, in the order of the specification: what they are, and an example. */
export const ADDRESS = {
  formatted: {
    description: 'The whole address as one text, for display or a label.',
    example: 'Lange Gasse 7\n1080 Wien\nAustria',
  },
  streetAddress: {
    description: 'Street with house number, or what stands for it; may have several lines.',
    example: 'Lange Gasse 7',
  },
  locality: { description: 'City or place.', example: 'Wien' },
  region: { description: 'State, province or region.', example: 'Wien' },
  postalCode: { description: 'Postal code.', example: '1080' },
  country: { description: 'Country.', example: 'Austria' },
} as const
export type AddressMember = keyof typeof ADDRESS
export const ADDRESS_MEMBERS = Object.keys(ADDRESS) as AddressMember[]
export type Address = Record<AddressMember, string | null>

/** The column of a member of the address. */
export const addressColumn = <Member extends AddressMember>(member: Member) =>
  `address${member.charAt(0).toUpperCase()}${member.slice(1)}` as `address${Capitalize<Member>}`

const link = allowedUrl({ fragment: true })

const NOT_AN_OBJECT = 'must be an object'

const emailAddress = text(254)
  .refine(
    (value) => emailKeyOf(value) !== null,
    'must be an e-mail address such as name@example.com (RFC 5322 addr-spec)',
  )
  .meta({ format: 'idn-email' })

const phoneNumber = text(100).refine(
  (value) => phoneNumberOf(value) !== null,
  'must be a phone number, best in E.164 form such as +14155552671',
)

const isRealDate = (year: number, month: number, day: number): boolean => {
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day
}

/** OIDC Core, section 5.1: YYYY-MM-DD, 0000-MM-DD when the year is omitted, or YYYY. */
function isBirthdate(value: string): boolean {
  if (/^\d{4}$/.test(value)) return value !== '0000'
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(value) ?? []
  // Year 0 was a leap year, so that 0000-02-29 is a birthday.
  return day !== undefined && isRealDate(Number(year), Number(month), Number(day))
}

const birthdate = text(10).refine(isBirthdate, 'must be a date as YYYY-MM-DD, 0000-MM-DD or YYYY')

const REMEMBERED = 1000
/** Longer than any name of either kind; longer texts are not worth their memory. */
const REMEMBERED_LENGTH = 100
/** Asks Intl once for each text: it takes a tenth of a millisecond, which an import of a million users pays twice each. */
function remembering(find: (value: string) => string | null): (value: string) => string | null {
  const found = new Map<string, string | null>()
  return (value) => {
    if (value.length > REMEMBERED_LENGTH) return find(value)
    let answer = found.get(value)
    if (answer === undefined) {
      if (found.size >= REMEMBERED) found.clear()
      answer = find(value)
      found.set(value, answer)
    }
    return answer
  }
}

/** The zone's name in its usual letter case, or null. An alias keeps its name. */
const zoneNameOf = remembering((value) => {
  // Offsets such as +01:00 are no names, though newer engines take them.
  if (!/^[A-Za-z]/.test(value)) return null
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: value }).resolvedOptions()
    return timeZone.toLowerCase() === value.toLowerCase() ? timeZone : value
  } catch {
    return null // RangeError: no such zone
  }
})

const zoneinfo = text(100)
  .refine(
    (value) => zoneNameOf(value) !== null,
    'must be a name of the time zone database, such as Europe/Berlin',
  )
  .transform((value) => zoneNameOf(value) ?? value)

const languageTagOf = remembering((value) => {
  try {
    return Intl.getCanonicalLocales(value)[0] ?? null
  } catch {
    return null // RangeError: not well-formed
  }
})

const locale = text(100)
  .refine((value) => languageTagOf(value) !== null, 'must be a BCP 47 language tag, such as de-AT')
  .transform((value) => languageTagOf(value) ?? value)

/** An address of which each member has this shape. */
const addressOf = <Shape extends z.ZodType>(id: string, member: Shape) =>
  z
    .strictObject(
      Object.fromEntries(ADDRESS_MEMBERS.map((name) => [name, member.meta(ADDRESS[name])])) as Record<
        AddressMember,
        Shape
      >,
      NOT_AN_OBJECT,
    )
    .meta({ id, description: 'A postal address (OIDC Core, section 5.1.1).' })

const address = addressOf('AddressInput', clearable(text()))
const AddressShape = addressOf('Address', z.string().nullable())

/** What the kinds of fields answer. */
const ANSWERS = {
  id: idOf('user'),
  text: z.string().nullable(),
  flag: z.boolean(),
  time,
  timeIfAny: time.nullable(),
  address: AddressShape.nullable().meta({ description: 'Postal address.' }),
  json: jsonObject,
}
type Kind = keyof typeof ANSWERS

/** A field of the specification: what kind of value it answers, the shape of its input where it has any, an example. */
const written = <
  WrittenKind extends Extract<Kind, 'text' | 'flag' | 'address' | 'json'>,
  Shape extends z.ZodType,
>(
  kind: WrittenKind,
  shape: Shape,
  example?: unknown,
) => ({
  kind,
  shape: clearable(shape).meta({ example }),
  answer: ANSWERS[kind].meta({ example }),
})
/** What the service alone sets. */
const responseOnly = <OwnKind extends Extract<Kind, 'id' | 'time' | 'timeIfAny'>>(
  kind: OwnKind,
  example?: null,
) => ({
  kind,
  shape: null,
  answer: example === undefined ? ANSWERS[kind] : ANSWERS[kind].meta({ example }),
})

/**
 * Every field of a user, in the order of the specification. This is the one list: input shapes, the REST body and
 * the GraphQL types follow it (test/contract/parity.test.ts).
 */
export const FIELDS = {
  id: responseOnly('id'),
  name: written('text', text(), 'Ada Lovelace'),
  givenName: written('text', text(), 'Ada'),
  familyName: written('text', text(), 'Lovelace'),
  middleName: written('text', text(), 'Augusta'),
  nickname: written('text', text(), 'Ada'),
  preferredUsername: written('text', text(), 'ada'),
  profile: written('text', link, 'https://example.com/people/ada'),
  picture: written('text', link, 'https://example.com/people/ada.jpg'),
  website: written('text', link, 'https://ada.example'),
  email: written('text', emailAddress, 'ada@example.com'),
  emailVerified: written('flag', boolean, true),
  gender: written('text', text(), 'female'),
  birthdate: written('text', birthdate, '1985-12-10'),
  zoneinfo: written('text', zoneinfo, 'Europe/Vienna'),
  locale: written('text', locale, 'de-AT'),
  phoneNumber: written('text', phoneNumber, '+436641234567'),
  phoneNumberVerified: written('flag', boolean, false),
  locked: written('flag', boolean, false),
  lockedAt: responseOnly('timeIfAny', null),
  address: written('address', address),
  userMetadata: written('json', metadata, { newsletter: true }),
  appMetadata: written('json', metadata, { plan: 'pro' }),
  lastSeenAt: responseOnly('timeIfAny'),
  updatedAt: responseOnly('time'),
  createdAt: responseOnly('time'),
}

type Fields = typeof FIELDS
export type UserField = keyof Fields
export const USER_FIELDS = Object.keys(FIELDS) as UserField[]

export type ResponseOnlyField = {
  [Name in UserField]: Fields[Name]['shape'] extends null ? Name : never
}[UserField]
type WritableField = Exclude<UserField, ResponseOnlyField>
const isWritable = (name: UserField): name is WritableField => FIELDS[name].shape !== null
export const RESPONSE_ONLY_FIELDS = USER_FIELDS.filter((name): name is ResponseOnlyField => !isWritable(name))
export const WRITABLE_FIELDS = USER_FIELDS.filter(isWritable)

const writable = Object.fromEntries(WRITABLE_FIELDS.map((name) => [name, FIELDS[name].shape])) as {
  [Name in WritableField]: Fields[Name]['shape']
}
const responseOnlyShapes = Object.fromEntries(
  RESPONSE_ONLY_FIELDS.map((name) => [name, z.unknown().meta({ readOnly: true }).optional()]),
) as Record<ResponseOnlyField, z.ZodOptional<z.ZodUnknown>>

/** What is wrong with the flags of a user, given the addresses that they are about. */
export function flagFaults(user: {
  email?: unknown
  emailVerified?: unknown
  phoneNumber?: unknown
  phoneNumberVerified?: unknown
}): FieldFault[] {
  const faults: FieldFault[] = []
  if (user.emailVerified === true && !user.email)
    faults.push({ field: 'emailVerified', description: 'cannot be true without email' })
  const number = typeof user.phoneNumber === 'string' ? phoneNumberOf(user.phoneNumber) : null
  if (user.phoneNumberVerified === true && !number?.canBeVerified)
    faults.push({
      field: 'phoneNumberVerified',
      description: user.phoneNumber
        ? 'cannot be true unless phoneNumber is in E.164 form, with its extension as ;ext='
        : 'cannot be true without phoneNumber',
    })
  return faults
}

const isObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Input of a creation: '' and null count as omitted. */
export const UserCreate = z
  .strictObject(writable, NOT_AN_OBJECT)
  .superRefine(
    (user, context) => {
      for (const { field, description } of flagFaults(user))
        context.addIssue({ code: 'custom', path: [field], message: description })
    },
    // Also when other fields are faulty, so that every fault is named at once.
    { when: ({ value }) => isObject(value) },
  )
  .meta({ id: 'UserCreate', model: 'User' })

/** Input of a change: omitted is unchanged, '' and null unset. Response-only fields may come along unchanged. */
export const UserPatch = z
  .strictObject({ ...writable, ...responseOnlyShapes, expectedUpdatedAt }, NOT_AN_OBJECT)
  .meta({ id: 'UserPatch', model: 'User', example: { nickname: 'Countess', locked: false, website: null } })

/** A user as REST answers it: every field, null where unset; appMetadata only to who may read it. */
export const UserShape = z
  .object({
    ...(Object.fromEntries(USER_FIELDS.map((name) => [name, FIELDS[name].answer])) as {
      [Name in UserField]: Fields[Name]['answer']
    }),
    appMetadata: FIELDS.appMetadata.answer.optional(),
  })
  .meta({ id: 'User', model: 'User' })

export type ParsedPatch = z.output<typeof UserPatch>
export type WritableUser = z.output<z.ZodObject<typeof writable>>

/** Input of the two look-ups, as REST's query and GraphQL's arguments have it. */
export const EmailLookup = z.strictObject({ email: emailAddress.meta({ example: 'ada@example.com' }) })
export const PhoneNumberLookup = z.strictObject({
  phoneNumber: phoneNumber.meta({ example: '+436641234567' }),
})
