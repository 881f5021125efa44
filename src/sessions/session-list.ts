import { requireFilterScopes } from '../access/require-scope.ts'
import type { Ctx } from '../context/context.ts'
import { type FieldIssue, InvalidInput } from '../core/errors.ts'
import { toCursorKey } from '../database/keyset.ts'
import { type ListArgs, type Page, parseListArgs, parsePaging, toPage } from '../schema/page.ts'
import {
  SESSION_FILTER,
  SESSION_ORDER,
  type SessionFilter,
  type SessionFilterMember,
  type SessionListOrder,
  type SessionOrderField,
} from './session-list.fields.ts'
import { countSessions, selectSessionPage } from './session-list.sql.ts'
import type { SessionRow } from './sessions.sql.ts'

/** A way to read a list of sessions by an index, without reading sessions outside the list. */
export type SessionList = {
  /** The filter member that selects the index. */
  by: SessionFilterMember | null
  /** Further members that may be given. They are tested on the rows that `by` found. */
  combinable: readonly SessionFilterMember[]
  /** The first is the default. */
  orders: readonly SessionListOrder[]
  /** The index of each order. */
  indexes: { [Order in SessionListOrder]?: string }
}

const ID_ORDER = ['id'] as const
const CREATED_INDEX = 'Session_active_createdAt_idx'
const SEEN_INDEX = 'Session_active_lastSeenAt_idx'
const USER_INDEX = 'Session_tenantId_userId_id_idx'

/**
 * Every supported list of sessions; the first whose `by` is given is used. Other combinations are rejected,
 * because they would read thousands of sessions to find a few. test/contract verifies the plan of each on a
 * large tenant. A user has few sessions, which may be filtered and sorted in any way.
 */
export const SESSION_LISTS: readonly SessionList[] = [
  {
    by: 'userId',
    combinable: ['clientId', 'organizationId', 'ip', 'createdAt', 'lastSeenAt'],
    orders: ['id', 'createdAt', 'lastSeenAt'],
    indexes: { id: USER_INDEX, createdAt: USER_INDEX, lastSeenAt: USER_INDEX },
  },
  { by: 'clientId', combinable: [], orders: ID_ORDER, indexes: { id: 'Session_tenantId_clientId_id_idx' } },
  {
    by: 'organizationId',
    combinable: [],
    orders: ID_ORDER,
    indexes: { id: 'SessionOrganization_pkey' },
  },
  { by: 'ip', combinable: [], orders: ID_ORDER, indexes: { id: 'Session_active_ip_idx' } },
  { by: 'createdAt', combinable: [], orders: ['createdAt'], indexes: { createdAt: CREATED_INDEX } },
  { by: 'lastSeenAt', combinable: [], orders: ['lastSeenAt'], indexes: { lastSeenAt: SEEN_INDEX } },
  {
    by: null,
    combinable: [],
    orders: ['id', 'createdAt', 'lastSeenAt'],
    indexes: { id: 'Session_pkey', createdAt: CREATED_INDEX, lastSeenAt: SEEN_INDEX },
  },
]

const COMBINATION_HINT = 'userId combines with everything, other members cannot be combined'
const describeAlternatives = ({ orders }: SessionList): string =>
  orders[0] === 'id' ? '; it is ordered by start' : `, only ${orders.join(', ')}`

/** Selects the list of a filter and an order. Throws InvalidInput that names what cannot be combined. */
export function selectSessionList(
  filter: SessionFilter,
  orderBy: SessionOrderField | null,
): { list: SessionList; order: SessionListOrder } {
  const given = SESSION_FILTER.names.filter((member) => filter[member] !== undefined)
  const list = SESSION_LISTS.find(({ by }) => by === null || given.includes(by)) as SessionList
  const strangers = given.filter((member) => member !== list.by && !list.combinable.includes(member))
  const issues: FieldIssue[] = strangers.map((field) => ({
    field,
    description: `cannot be combined with ${list.by}: ${COMBINATION_HINT}`,
  }))
  const order = orderBy ?? (list.orders[0] as SessionListOrder)
  if (!list.orders.includes(order))
    issues.push({
      field: 'orderBy',
      description: `cannot be combined with ${list.by}${describeAlternatives(list)}`,
    })
  if (issues.length > 0) throw new InvalidInput(issues)
  return { list, order }
}

/**
 * Lists the active sessions of the tenant that match a filter, by default by id, which is the order of their
 * start. One statement, and one more for totalSize. Throws InvalidInput, also for a combination of filter and
 * order without an index (SESSION_LISTS).
 */
export async function listSessions(ctx: Ctx, args: ListArgs): Promise<Page<SessionRow>> {
  const { filter, orderBy, descending } = parseListArgs(args, SESSION_FILTER, SESSION_ORDER)
  requireFilterScopes(ctx, SESSION_FILTER, filter)
  const { order } = selectSessionList(filter, orderBy)
  const name = `${ctx.tenant}:sessions:${order}:${descending}:${JSON.stringify(filter)}`
  const paging = parsePaging(ctx, args, name)
  const query = { filter, order, descending, now: new Date() }
  const rows = await selectSessionPage(ctx.db, query, paging)
  const values = new Map(rows.map(({ session, value }) => [session.id, value]))
  return toPage(
    paging,
    rows.map(({ session }) => session),
    {
      name,
      toKey: ({ id }) => toCursorKey({ id, value: values.get(id) ?? null }),
      countAll: () => countSessions(ctx.db, query),
    },
  )
}
