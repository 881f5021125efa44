import { type FieldFault, InvalidInput } from '../errors.ts'
import {
  FILTER_MEMBERS,
  type FilterMember,
  type SessionFilter,
  type SessionOrderField,
} from './session-list.fields.ts'

export type ListOrder = SessionOrderField | 'id'

/** One way to read a list of sessions without looking at sessions that are not in it. */
export type SessionList = {
  /** The member of the filter that leads to them. */
  by: FilterMember | null
  /** Members that may come along: tested on what `by` found. */
  with: readonly FilterMember[]
  /** The first is the one when none is asked for. */
  orders: readonly ListOrder[]
  /** The index that leads to the rows of a page, by order. */
  indexes: { [Order in ListOrder]?: string }
}

const BY_ID = ['id'] as const
const CREATED = 'Session_active_createdAt_idx'
const SEEN = 'Session_active_lastSeenAt_idx'
const OF_USER = 'Session_tenantId_userId_id_idx'

/**
 * Every list of sessions that there is; the first whose `by` is given is taken. What is not here is refused, as it would
 * read sessions by the thousand to find a few (test/contract/plans-sessions.test.ts explains each on a large tenant).
 * One person has few sessions: those may be tested and sorted in any way.
 */
export const SESSION_LISTS: readonly SessionList[] = [
  {
    by: 'userId',
    with: ['clientId', 'ip', 'createdAt', 'lastSeenAt'],
    orders: ['id', 'createdAt', 'lastSeenAt'],
    indexes: { id: OF_USER, createdAt: OF_USER, lastSeenAt: OF_USER },
  },
  { by: 'clientId', with: [], orders: BY_ID, indexes: { id: 'Session_tenantId_clientId_id_idx' } },
  { by: 'ip', with: [], orders: BY_ID, indexes: { id: 'Session_active_ip_idx' } },
  { by: 'createdAt', with: [], orders: ['createdAt'], indexes: { createdAt: CREATED } },
  { by: 'lastSeenAt', with: [], orders: ['lastSeenAt'], indexes: { lastSeenAt: SEEN } },
  {
    by: null,
    with: [],
    orders: ['id', 'createdAt', 'lastSeenAt'],
    indexes: { id: 'Session_pkey', createdAt: CREATED, lastSeenAt: SEEN },
  },
]

const HINT = 'userId combines with everything, the others stand alone'
const insteadOf = ({ orders }: SessionList): string =>
  orders[0] === 'id' ? '; it is in order of the start' : `, only ${orders.join(', ')}`

/** The list that a filter and an order come to. Throws InvalidInput that says what cannot be combined. */
export function chooseList(
  filter: SessionFilter,
  orderBy: SessionOrderField | null,
): { list: SessionList; order: ListOrder } {
  const given = FILTER_MEMBERS.filter((member) => filter[member] !== undefined)
  const list = SESSION_LISTS.find(({ by }) => by === null || given.includes(by)) as SessionList
  const strangers = given.filter((member) => member !== list.by && !list.with.includes(member))
  const faults: FieldFault[] = strangers.map((field) => ({
    field,
    description: `cannot be combined with ${list.by}: ${HINT}`,
  }))
  const order = orderBy ?? (list.orders[0] as ListOrder)
  if (!list.orders.includes(order))
    faults.push({ field: 'orderBy', description: `cannot be combined with ${list.by}${insteadOf(list)}` })
  if (faults.length > 0) throw new InvalidInput(faults)
  return { list, order }
}
