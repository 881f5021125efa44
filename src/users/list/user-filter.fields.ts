import * as z from 'zod'
import { toEmailKey } from '../../schema/address-keys.ts'
import { boolean, keptNumber, requiredText, searchText, text, timeRange } from '../../schema/input-shapes.ts'
import { defineFilter, defineOrder, type Given } from '../../schema/lists.ts'
import { toPhoneNumberKey } from '../../schema/phone-numbers.ts'
import { asId } from '../../schema/response-shapes.ts'
import { roleName } from '../../schema/token-name.ts'
import { EmailLookup, PhoneNumberLookup } from '../users.fields.ts'

const MAX_PATHS = 10

const scalar = z.union(
  [text(), keptNumber, z.boolean(), z.null()],
  'must be text, a number, true, false or null',
)

/** Which users a list is about. */
export const USER_FILTER = defineFilter(
  {
    search: {
      shape: searchText,
      column: null,
      description:
        'Prefixes of words of the names or of the e-mail address, independent of case and accents, and parts of words of names in scripts without spaces, such as 太郎; a word with an @ is a prefix of the address, and example.com or @example.com a prefix of its domain.',
      example: 'lovel ada@',
    },
    email: {
      shape: EmailLookup.shape.email,
      column: '"emailKey"',
      toKey: toEmailKey,
      description: 'The e-mail address, however it is spelled.',
    },
    phoneNumber: {
      shape: PhoneNumberLookup.shape.phoneNumber,
      column: '"phoneNumberKey"',
      toKey: toPhoneNumberKey,
      description: 'The phone number, however it is written.',
    },
    externalId: {
      shape: requiredText(),
      description: 'Identifier in the system that the user was imported from.',
    },
    locked: { shape: boolean, description: 'Whether the user is locked.' },
    emailVerified: { shape: boolean, description: 'Whether the e-mail address was proven.' },
    phoneNumberVerified: { shape: boolean, description: 'Whether the phone number was proven.' },
    hasCredential: {
      shape: boolean,
      scope: 'credentials:read',
      description: 'Whether the user has a credential.',
    },
    role: {
      shape: roleName,
      column: null,
      description: 'Has this role.',
      example: 'admin',
    },
    idpId: {
      shape: asId(requiredText(200)),
      column: null,
      scope: 'idps:read',
      description: 'Linked with this identity provider.',
    },
    organizationId: {
      shape: asId(requiredText(200)),
      column: null,
      scope: 'organizations:read',
      description: 'Member of this organization.',
      example: 'organization_01k7r3m8wxe4gbr5v2c9t6hznq',
    },
    createdAt: { shape: timeRange, description: 'Created in this time.' },
    updatedAt: { shape: timeRange, description: 'Last changed in this time.' },
    lastSeenAt: { shape: timeRange, description: 'Last active in this time.' },
    appMetadata: {
      shape: z
        .record(requiredText(), scalar, 'must be an object of paths and values')
        .refine((paths) => Object.keys(paths).length > 0, 'must have a path')
        .refine((paths) => Object.keys(paths).length <= MAX_PATHS, `must have at most ${MAX_PATHS} paths`)
        .meta({ minProperties: 1 }),
      column: null,
      scope: 'users:read_app_metadata',
      description: 'Values of appMetadata by path, members joined with dots; of a list, one of its elements.',
      example: { 'subscription.plan': 'pro' },
    },
  },
  'Only users that match all members. search, email, phoneNumber and externalId combine with everything, flags with each other; other members cannot be combined.',
)

/** A valid filter with the given members only. */
export type UserFilter = Given<typeof USER_FILTER.members>
export type UserFilterMember = keyof UserFilter

/** What a search finds is sorted up to so many words of users: they are read one by one. */
export const MAX_SORTED = 2000

/** What users can be ordered by, besides the order of their ids, which is that of creation. */
export const USER_ORDER = defineOrder(
  'User',
  {
    createdAt: 'When they were created.',
    updatedAt: 'When they were last changed.',
    lastSeenAt: 'When they were last active.',
    email: 'E-mail address, normalized.',
    name: 'Full display name, ignoring case and accents.',
  },
  {
    description: 'How users are ordered.',
    fields: 'Fields by which users can be ordered. Users without a value come last in both directions.',
    field: `The field of the order; users without a value come last. A search that matches at most ${MAX_SORTED} words of users can have each order. Default: for a range of the filter its field, for a search the matched word, otherwise the id.`,
  },
)
export type UserOrderField = (typeof USER_ORDER.by.fields)[number]
