import type { Ctx, Scope } from '../ctx.ts'
import type { FieldFault } from '../errors.ts'
import type { User } from '../generated/prisma/client.ts'
import { emailKeyOf, phoneNumberOf } from './addresses.ts'
import {
  ADDRESS_MEMBERS,
  type Address,
  addressColumn,
  type ParsedPatch,
  RESPONSE_ONLY_FIELDS,
  type ResponseOnlyField,
  USER_FIELDS,
  type WritableUser,
} from './users.fields.ts'

const APP_METADATA_SCOPE: Scope = 'users:read_app_metadata'

/** The address of a user; null when no member of it is set. */
export function addressOf(user: User): Address | null {
  const members = ADDRESS_MEMBERS.map((member) => [member, user[addressColumn(member)]] as const)
  return members.some(([, value]) => value !== null) ? (Object.fromEntries(members) as Address) : null
}

/**
 * A user as REST answers it: every field of the specification, in its order, null where unset. appMetadata is left
 * out unless the caller may read it.
 */
export function toUser(ctx: Ctx, user: User): Record<string, unknown> {
  const body: Record<string, unknown> = {}
  for (const field of USER_FIELDS) {
    if (field === 'address') body[field] = addressOf(user)
    else if (field !== 'appMetadata' || ctx.scopes.has(APP_METADATA_SCOPE)) body[field] = user[field]
  }
  return body
}

/** Columns of "User" that are written from outside. */
export type UserColumns = Partial<
  Omit<
    User,
    'tenantId' | 'id' | 'lockedAt' | 'lastSeenAt' | 'updatedAt' | 'createdAt' | 'nameKey' | 'hasCredential'
  >
>

/** The columns that checked input comes to; only those that the input is about. */
export function toColumns(input: WritableUser): UserColumns {
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
    columns.emailKey = email && emailKeyOf(email)
  }
  if (phoneNumber !== undefined) {
    const number = phoneNumber === null ? null : phoneNumberOf(phoneNumber)
    columns.phoneNumber = number?.shown ?? null
    columns.phoneNumberKey = number?.key ?? null
  }
  if (emailVerified !== undefined) columns.emailVerified = emailVerified ?? false
  if (phoneNumberVerified !== undefined) columns.phoneNumberVerified = phoneNumberVerified ?? false
  if (locked !== undefined) columns.locked = locked ?? false
  if (userMetadata !== undefined) columns.userMetadata = (userMetadata ?? {}) as UserColumns['userMetadata']
  if (appMetadata !== undefined) columns.appMetadata = (appMetadata ?? {}) as UserColumns['appMetadata']
  for (const member of ADDRESS_MEMBERS) {
    const value = address === null ? null : address?.[member]
    if (value !== undefined) columns[addressColumn(member)] = value
  }
  return columns
}

type Echoed = Partial<Record<ResponseOnlyField, unknown>>

/** Parts a checked patch into what is to be written and the response-only fields that came along. */
export function splitPatch(patch: ParsedPatch): { fields: WritableUser; echoed: Echoed } {
  const { id, lockedAt, lastSeenAt, updatedAt, createdAt, expectedUpdatedAt, ...fields } = patch
  return { fields, echoed: { id, lockedAt, lastSeenAt, updatedAt, createdAt } }
}

const isSame = (sent: unknown, current: string | Date | null): boolean =>
  current instanceof Date
    ? typeof sent === 'string' && Date.parse(sent) === current.getTime()
    : (sent === '' ? null : sent) === current

/** The response-only fields that were sent with another value than the user had before the change. */
export const echoFaults = (
  echoed: Echoed,
  { user, before }: { user: User; before: Pick<User, 'lockedAt' | 'updatedAt'> },
): FieldFault[] =>
  RESPONSE_ONLY_FIELDS.filter(
    (field) => echoed[field] !== undefined && !isSame(echoed[field], { ...user, ...before }[field]),
  ).map((field) => ({ field, description: 'is set by the service' }))

const FIELD_OF_COLUMN: Record<string, string> = {
  emailKey: 'email',
  phoneNumberKey: 'phoneNumber',
  ...Object.fromEntries(ADDRESS_MEMBERS.map((member) => [addressColumn(member), 'address'])),
}

const COLUMNS_OF_FIELD: Record<string, readonly string[]> = {
  ...Object.fromEntries(USER_FIELDS.map((field) => [field, [field]])),
  address: ADDRESS_MEMBERS.map(addressColumn),
  roles: ['roles'],
  externalId: ['externalId'],
  __typename: [],
}

/** The columns that these fields are made of, and the id; null where a field is made of something else. */
export function columnsOfFields(fields: Iterable<string>): ReadonlySet<string> | null {
  const columns = new Set(['id'])
  for (const field of fields) {
    const ofField = COLUMNS_OF_FIELD[field]
    if (!ofField) return null
    for (const column of ofField) columns.add(column)
  }
  return columns
}

/** The fields that changed columns belong to, in the order of the columns, each once. */
export const fieldsOfColumns = (columns: readonly string[]): string[] => [
  ...new Set(columns.map((column) => FIELD_OF_COLUMN[column] ?? column)),
]
