import type { Ctx } from '../context/context.ts'
import { createMemberPicker } from '../core/json/member-picker.ts'
import type { Scope } from '../core/scopes.ts'
import type { WithTextDates } from '../core/time.ts'
import type { User } from '../generated/prisma/client.ts'
import { toEmailKey } from '../schema/address-keys.ts'
import { toStoredPhoneNumber } from '../schema/phone-numbers.ts'
import {
  ADDRESS_MEMBERS,
  type Address,
  toAddressColumn,
  USER_FIELDS,
  type WritableUser,
} from './users.fields.ts'

const APP_METADATA_SCOPE: Scope = 'users:read_app_metadata'

const ADDRESS_COLUMNS = ADDRESS_MEMBERS.map(toAddressColumn)

/** The address of a user; null when no member of it is set. */
export function toAddress(user: User | WithTextDates<User>): Address | null {
  if (ADDRESS_COLUMNS.every((column) => user[column] === null)) return null
  return Object.fromEntries(
    ADDRESS_MEMBERS.map((member) => [member, user[toAddressColumn(member)]]),
  ) as Address
}

const pickFields = createMemberPicker(USER_FIELDS, { datesAsText: true })
const pickOtherFields = createMemberPicker(
  USER_FIELDS.filter((field) => field !== 'appMetadata'),
  { datesAsText: true },
)

/**
 * A user as REST answers it: every field of the specification, in its order, null where unset. appMetadata is
 * left out unless the caller may read it.
 */
export function toUserBody(ctx: Ctx, user: User | WithTextDates<User>): Record<string, unknown> {
  const body = ctx.scopes.has(APP_METADATA_SCOPE) ? pickFields(user) : pickOtherFields(user)
  body.address = toAddress(user)
  return body
}

/** Columns of "User" that are written from outside. */
export type UserColumns = Partial<
  Omit<
    User,
    | 'tenantId'
    | 'id'
    | 'lockedAt'
    | 'lastSeenAt'
    | 'updatedAt'
    | 'createdAt'
    | 'nameKey'
    | 'hasCredential'
    | 'hasSecondFactor'
    | 'credentialRemovedAt'
    | 'codeGeneration'
    | 'passkeyOfferedAt'
  >
>

/** The columns that checked input comes to; only those that the input is about. */
export function toUserColumns(input: WritableUser): UserColumns {
  const {
    address,
    email,
    emailVerified,
    phoneNumber,
    phoneNumberVerified,
    locked,
    userMetadata,
    appMetadata,
    ...texts
  } = input
  const columns: UserColumns = { ...texts }
  if (email !== undefined) {
    columns.email = email?.normalize('NFC') ?? null
    columns.emailKey = email && toEmailKey(email)
  }
  if (phoneNumber !== undefined) {
    const stored = phoneNumber === null ? null : toStoredPhoneNumber(phoneNumber)
    columns.phoneNumber = stored?.number ?? null
    columns.phoneNumberKey = stored?.key ?? null
  }
  if (emailVerified !== undefined) columns.emailVerified = emailVerified ?? false
  if (phoneNumberVerified !== undefined) columns.phoneNumberVerified = phoneNumberVerified ?? false
  if (locked !== undefined) columns.locked = locked ?? false
  if (userMetadata !== undefined) columns.userMetadata = (userMetadata ?? {}) as UserColumns['userMetadata']
  if (appMetadata !== undefined) columns.appMetadata = (appMetadata ?? {}) as UserColumns['appMetadata']
  for (const member of ADDRESS_MEMBERS) {
    const value = address === null ? null : address?.[member]
    if (value !== undefined) columns[toAddressColumn(member)] = value
  }
  return columns
}

const FIELD_BY_COLUMN: Record<string, string> = {
  emailKey: 'email',
  phoneNumberKey: 'phoneNumber',
  ...Object.fromEntries(ADDRESS_MEMBERS.map((member) => [toAddressColumn(member), 'address'])),
}

const COLUMNS_BY_FIELD: Record<string, readonly string[]> = {
  ...Object.fromEntries(USER_FIELDS.map((field) => [field, [field]])),
  address: ADDRESS_MEMBERS.map(toAddressColumn),
  roles: ['roles'],
  externalId: ['externalId'],
  __typename: [],
}

/** The columns that these fields are made of, and the id; null where a field is made of something else. */
export function selectColumnsForFields(fields: Iterable<string>): ReadonlySet<string> | null {
  const columns = new Set(['id'])
  for (const field of fields) {
    const ofField = COLUMNS_BY_FIELD[field]
    if (!ofField) return null
    for (const column of ofField) columns.add(column)
  }
  return columns
}

/** The fields that changed columns belong to, in the order of the columns, each once. */
export const toChangedFields = (columns: readonly string[]): string[] => [
  ...new Set(columns.map((column) => FIELD_BY_COLUMN[column] ?? column)),
]
