import * as z from 'zod'
import { boolean, direction, keptNumber, requiredText, text, timeRange } from '../../schema/input-shapes.ts'
import { EmailLookup, PhoneNumberLookup } from '../users.fields.ts'

const MAX_PATHS = 10

const scalar = z.union(
  [text(), keptNumber, z.boolean(), z.null()],
  'must be text, a number, true, false or null',
)

/** Blank text filters nothing; text without a letter or digit would match every user. */
const searchText = text(200)
  .refine((value) => value.trim() === '' || /[\p{L}\p{N}]/u.test(value), 'must have a letter or a digit')
  .meta({ pattern: String.raw`^\s*$|[\p{L}\p{N}]` })
  .transform((value) => (value.trim() === '' ? null : value))

/** Which users a list is about: those that are all of this. Null counts as omitted. */
export const UserFilter = z.strictObject(
  {
    search: searchText.nullish().meta({
      description:
        'Prefixes of words of the names or of the e-mail address, independent of case and accents, and parts of words of names in scripts without spaces, such as 太郎; a word with an @ is a prefix of the address, and example.com or @example.com a prefix of its domain.',
      example: 'lovel ada@',
    }),
    email: EmailLookup.shape.email
      .nullish()
      .meta({ description: 'The e-mail address, however it is spelled.' }),
    phoneNumber: PhoneNumberLookup.shape.phoneNumber
      .nullish()
      .meta({ description: 'The phone number, however it is written.' }),
    externalId: requiredText()
      .nullish()
      .meta({ description: 'Identifier in the system that the user was imported from.' }),
    locked: boolean.nullish().meta({ description: 'Whether the user is locked.' }),
    emailVerified: boolean.nullish().meta({ description: 'Whether the e-mail address was proven.' }),
    phoneNumberVerified: boolean.nullish().meta({ description: 'Whether the phone number was proven.' }),
    hasCredential: boolean
      .nullish()
      .meta({ description: 'Whether the user has a credential. Requires scope credentials:read.' }),
    idpId: requiredText(200)
      .nullish()
      .meta({ description: 'Linked with this identity provider. Requires scope idps:read.' }),
    createdAt: timeRange.nullish().meta({ description: 'Created in this time.' }),
    updatedAt: timeRange.nullish().meta({ description: 'Last changed in this time.' }),
    lastSeenAt: timeRange.nullish().meta({ description: 'Last active in this time.' }),
    appMetadata: z
      .record(requiredText(), scalar, 'must be an object of paths and values')
      .refine((paths) => Object.keys(paths).length > 0, 'must have a path')
      .refine((paths) => Object.keys(paths).length <= MAX_PATHS, `must have at most ${MAX_PATHS} paths`)
      .nullish()
      .meta({
        description:
          'Values of appMetadata by path, members joined with dots; of a list, one of its elements. Requires scope users:read_app_metadata.',
        example: { 'subscription.plan': 'pro' },
      }),
  },
  'must be an object',
)

/** What users can be ordered by, besides the order of their ids, which is that of creation. */
export const USER_ORDER_FIELDS = ['createdAt', 'updatedAt', 'lastSeenAt', 'email', 'name'] as const

export const UserOrder = z.strictObject({
  orderBy: z
    .enum(USER_ORDER_FIELDS, `must be one of ${USER_ORDER_FIELDS.join(', ')}`)
    .nullish()
    .meta({
      description:
        'The field of the order; users without a value come last. Default: for a range of the filter its field, for a search the matched word, otherwise the id.',
    }),
  direction: direction
    .nullish()
    .meta({ description: 'Ascending (the default) or descending.', example: 'desc' }),
})

export type UserOrderField = (typeof USER_ORDER_FIELDS)[number]

type ParsedUserFilter = z.output<typeof UserFilter>
/** A valid filter with the given members only. */
export type UserFilter = { [Member in keyof ParsedUserFilter]?: NonNullable<ParsedUserFilter[Member]> }
export type UserFilterMember = keyof UserFilter
export const USER_FILTER_MEMBERS = Object.keys(UserFilter.shape) as UserFilterMember[]

const isConstraining = (value: unknown): boolean =>
  value !== null &&
  value !== undefined &&
  (typeof value !== 'object' ||
    Object.values(value).some((member) => member !== null && member !== undefined))

/** Removes members that are null, and ranges without bounds. A path of appMetadata may well be null. */
export const toUserFilter = (parsed: ParsedUserFilter): UserFilter =>
  Object.fromEntries(
    USER_FILTER_MEMBERS.filter((member) =>
      member === 'appMetadata' ? Boolean(parsed[member]) : isConstraining(parsed[member]),
    ).map((member) => [member, parsed[member]]),
  )
