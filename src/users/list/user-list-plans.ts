import { type FieldIssue, InvalidInput } from '../../core/errors.ts'
import {
  USER_FILTER,
  USER_ORDER,
  type UserFilter,
  type UserFilterMember,
  type UserOrderField,
} from './user-filter.fields.ts'

/** The order of a list: by a field, by id (creation), or by matched word and id. */
export type UserListOrder = UserOrderField | 'id' | 'word'

/** A way to read a list of users by an index, without reading users outside the list. */
export type UserList = {
  /** Filter members that select this list; any of several. */
  by: readonly UserFilterMember[]
  /** The default order and the orders that may be requested. A list of one user has every order. */
  order: UserListOrder
  orderBy: readonly UserOrderField[]
  /** Further members that may be given. They are tested on the rows that `by` found. */
  combinable: readonly UserFilterMember[]
  /** The index, or several of which each covers a part. */
  indexes: readonly string[]
}

export const FLAG_MEMBERS = ['locked', 'emailVerified', 'phoneNumberVerified', 'hasCredential'] as const
const createFullList = (order: UserOrderField | 'id', ...indexes: string[]): UserList => ({
  by: [],
  order,
  orderBy: order === 'id' ? [] : [order],
  combinable: [],
  indexes,
})
const createRangeList = (member: 'createdAt' | 'updatedAt' | 'lastSeenAt', index: string): UserList => ({
  ...createFullList(member, index),
  by: [member],
})
const createUniqueList = (member: UserFilterMember, index: string): UserList => ({
  by: [member],
  order: 'id',
  orderBy: USER_ORDER.by.fields,
  combinable: USER_FILTER.names,
  indexes: [index],
})

const createSearchList = (order: UserOrderField | 'word'): UserList => ({
  by: ['search'],
  order,
  orderBy: order === 'word' ? [] : [order],
  combinable: USER_FILTER.names,
  indexes: ['UserTerm_pkey'],
})

/**
 * Every supported list of users; the first that matches is used. Other combinations are rejected, because
 * they would read thousands of users to find a few. test/contract verifies the plan of each on a large
 * tenant. See docs/decisions/0013.
 */
export const USER_LISTS: readonly UserList[] = [
  createUniqueList('email', 'User_email_key'),
  createUniqueList('phoneNumber', 'User_phoneNumber_key'),
  createUniqueList('externalId', 'User_externalId_key'),
  createSearchList('word'),
  // What a search finds is sorted, up to MAX_SORTED.
  ...USER_ORDER.by.fields.map(createSearchList),
  createRangeList('createdAt', 'User_tenantId_createdAt_id_idx'),
  createRangeList('updatedAt', 'User_tenantId_updatedAt_id_idx'),
  createRangeList('lastSeenAt', 'User_tenantId_lastSeenAt_id_idx'),
  { by: FLAG_MEMBERS, order: 'id', orderBy: [], combinable: FLAG_MEMBERS, indexes: ['User_flags_idx'] },
  { by: ['role'], order: 'id', orderBy: [], combinable: [], indexes: ['User_roles_idx'] },
  { by: ['idpId'], order: 'id', orderBy: [], combinable: [], indexes: ['IdpUser_tenantId_idpId_userId_idx'] },
  { by: ['organizationId'], order: 'id', orderBy: [], combinable: [], indexes: ['Membership_user_key'] },
  { by: ['appMetadata'], order: 'id', orderBy: [], combinable: [], indexes: ['UserTerm_pkey'] },
  createFullList('id', 'User_pkey'),
  createFullList('createdAt', 'User_tenantId_createdAt_id_idx'),
  createFullList('updatedAt', 'User_tenantId_updatedAt_id_idx'),
  createFullList('lastSeenAt', 'User_tenantId_lastSeenAt_id_idx'),
  createFullList('name', 'User_tenantId_nameKey_id_idx'),
  createFullList('email', 'User_email_key', 'User_without_email_idx'),
]

const COMBINATION_HINT =
  'search, email, phoneNumber and externalId combine with everything, and flags with each other'

/** Selects the list of a filter and an order. Throws InvalidInput that names what cannot be combined. */
export function selectUserList(filter: UserFilter, orderBy: UserOrderField | null): UserList {
  const given = USER_FILTER.names.filter((member) => filter[member] !== undefined)
  const fitting = USER_LISTS.filter(
    (list) =>
      (list.by.length === 0 ? given.length === 0 : list.by.some((member) => given.includes(member))) &&
      given.every((member) => list.by.includes(member) || list.combinable.includes(member)),
  )
  const list = fitting.find((one) => orderBy === null || one.orderBy.includes(orderBy))
  if (list) return list
  throw new InvalidInput(
    fitting.length > 0 ? findOrderIssues(fitting, given) : createCombinationIssues(given),
  )
}

function findOrderIssues(fitting: UserList[], given: UserFilterMember[]): FieldIssue[] {
  const possible = [...new Set(fitting.flatMap(({ orderBy }) => orderBy))]
  const instead = possible.length > 0 ? `, only ${possible.join(', ')}` : '; it has an order of its own'
  return [{ field: 'orderBy', description: `cannot be combined with ${given.join(', ')}${instead}` }]
}

const createCombinationIssues = (given: UserFilterMember[]): FieldIssue[] =>
  given.map((field) => ({
    field,
    description: `cannot be combined with ${given.filter((other) => other !== field).join(', ')}: ${COMBINATION_HINT}`,
  }))
