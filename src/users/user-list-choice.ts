import { type FieldFault, InvalidInput } from '../errors.ts'
import {
  FILTER_MEMBERS,
  type FilterMember,
  USER_ORDER_FIELDS,
  type UserFilter,
  type UserOrderField,
} from './user-filter.fields.ts'

/** What a list is ordered by: by a field, by id (creation), or as a search finds them (by word, then id). */
export type ListOrder = UserOrderField | 'id' | 'word'

/** One way to read a list of users without looking at users who are not in it. */
export type UserList = {
  /** Members of the filter that choose it; of several, any. */
  by: readonly FilterMember[]
  /** The order, and those that may be asked for by name: one user has every order. */
  order: ListOrder
  orderBy: readonly UserOrderField[]
  /** Members that may come along: tested on what `by` found. */
  with: readonly FilterMember[]
  /** The index that leads to the rows of a page; of several, each to a part. */
  indexes: readonly string[]
}

export const FLAGS = ['locked', 'emailVerified', 'phoneNumberVerified', 'hasCredential'] as const
const all = (order: UserOrderField | 'id', ...indexes: string[]): UserList => ({
  by: [],
  order,
  orderBy: order === 'id' ? [] : [order],
  with: [],
  indexes,
})
const range = (member: 'createdAt' | 'updatedAt' | 'lastSeenAt', index: string): UserList => ({
  ...all(member, index),
  by: [member],
})
const unique = (member: FilterMember, index: string): UserList => ({
  by: [member],
  order: 'id',
  orderBy: USER_ORDER_FIELDS,
  with: FILTER_MEMBERS,
  indexes: [index],
})

/**
 * Every list of users that there is; the first that fits is taken. What is not here is refused, as it would read users
 * by the thousand to find a few (test/contract/plans.test.ts explains each of them on a large tenant).
 */
export const USER_LISTS: readonly UserList[] = [
  unique('email', 'User_email_key'),
  unique('phoneNumber', 'User_phoneNumber_key'),
  unique('externalId', 'User_externalId_key'),
  { by: ['search'], order: 'word', orderBy: [], with: FILTER_MEMBERS, indexes: ['UserTerm_pkey'] },
  range('createdAt', 'User_tenantId_createdAt_id_idx'),
  range('updatedAt', 'User_tenantId_updatedAt_id_idx'),
  range('lastSeenAt', 'User_tenantId_lastSeenAt_id_idx'),
  { by: FLAGS, order: 'id', orderBy: [], with: FLAGS, indexes: ['User_flags_idx'] },
  { by: ['idpId'], order: 'id', orderBy: [], with: [], indexes: ['IdpUser_tenantId_idpId_userId_idx'] },
  { by: ['appMetadata'], order: 'id', orderBy: [], with: [], indexes: ['UserTerm_pkey'] },
  all('id', 'User_pkey'),
  all('createdAt', 'User_tenantId_createdAt_id_idx'),
  all('updatedAt', 'User_tenantId_updatedAt_id_idx'),
  all('lastSeenAt', 'User_tenantId_lastSeenAt_id_idx'),
  all('name', 'User_tenantId_nameKey_id_idx'),
  all('email', 'User_email_key', 'User_without_email_idx'),
]

const HINT = 'search, email, phoneNumber and externalId combine with everything, and flags with each other'

/** The list that a filter and an order come to. Throws InvalidInput that says what cannot be combined. */
export function chooseList(filter: UserFilter, orderBy: UserOrderField | null): UserList {
  const given = FILTER_MEMBERS.filter((member) => filter[member] !== undefined)
  const fitting = USER_LISTS.filter(
    (list) =>
      (list.by.length === 0 ? given.length === 0 : list.by.some((member) => given.includes(member))) &&
      given.every((member) => list.by.includes(member) || list.with.includes(member)),
  )
  const list = fitting.find((one) => orderBy === null || one.orderBy.includes(orderBy))
  if (list) return list
  throw new InvalidInput(fitting.length > 0 ? orderFaults(fitting, given) : combinationFaults(given))
}

function orderFaults(fitting: UserList[], given: FilterMember[]): FieldFault[] {
  const possible = [...new Set(fitting.flatMap(({ orderBy }) => orderBy))]
  const instead = possible.length > 0 ? `, only ${possible.join(', ')}` : '; it has an order of its own'
  return [{ field: 'orderBy', description: `cannot be combined with ${given.join(', ')}${instead}` }]
}

const combinationFaults = (given: FilterMember[]): FieldFault[] =>
  given.map((field) => ({
    field,
    description: `cannot be combined with ${given.filter((other) => other !== field).join(', ')}: ${HINT}`,
  }))
