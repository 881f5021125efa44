import { prefixOf } from '../crypto.ts'
import type { Ctx } from '../ctx.ts'
import { plannedSql } from '../db.ts'
import { InvalidInput } from '../errors.ts'
import { decodePosition, EVENT_TYPES, type LogEvent, type Position, toLogEvent } from '../events.ts'
import { type PageArgs, type PageRows, parseAsked, parseCursorPaging, toPageRows } from '../page.ts'
import { EventFilter, EventOrder } from './event-list.fields.ts'
import { type EventQuery, selectEventPage } from './event-list.sql.ts'

const KNOWN_TYPES = new Set<string>(EVENT_TYPES)
const NO_TYPE = `must be one of ${EVENT_TYPES.join(', ')}`
const unknownAmong = (types: readonly string[]): number[] =>
  types.flatMap((type, index) => (KNOWN_TYPES.has(type) ? [] : [index]))

/** The filter with what shapes alone do not know: which types there are. Runs beside faults of other members. */
export const KnownEventFilter = EventFilter.superRefine(
  ({ types }, context) => {
    for (const index of unknownAmong(types ?? []))
      context.addIssue({ code: 'custom', path: ['types', index], message: NO_TYPE })
  },
  {
    when: ({ value, issues }) =>
      typeof value === 'object' && value !== null && !issues.some(({ path }) => path?.[0] === 'types'),
  },
)

/** The given types of events, each once. Throws InvalidInput that names those which are none. */
export function parseEventTypes(types: readonly string[]): Set<string> {
  const faults = unknownAmong(types).map((index) => ({ field: `types.${index}`, description: NO_TYPE }))
  if (faults.length > 0) throw new InvalidInput(faults)
  return new Set(types)
}

type Equal = EventQuery['equals'][number]

function subjectOf(id: string): Equal {
  const prefix = prefixOf(id)
  return { column: prefix === 'user' ? 'userId' : prefix === 'session' ? 'sessionId' : 'subject', id }
}
const actorOf = (id: string): Equal => ({
  column: prefixOf(id) === 'user' ? 'actorUserId' : 'actorClientId',
  id,
})

/** Positions are the cursors of the log, whatever is asked of it: a subscription goes on from any of them. */
function positionOf(cursor: string): Position | null {
  try {
    return decodePosition(cursor)
  } catch (error) {
    if (error instanceof InvalidInput) return null
    throw error
  }
}

export type ListEventsArgs = Omit<PageArgs, 'page' | 'pageSize'> & { filter?: unknown; direction?: unknown }
export type EventPage = PageRows<LogEvent> & { pageSize: number }

/**
 * The tenant's log as an audit trail, oldest first unless `direction` is 'desc', by cursor only: the position of an
 * entry is its cursor in every list and for subscriptions. Entries that are still hidden behind an open transaction
 * (see readEvents) are on no page, so that going on from the last page skips none. One statement. Throws InvalidInput.
 */
export async function listEvents(
  ctx: Ctx,
  { filter, direction, ...args }: ListEventsArgs,
): Promise<EventPage> {
  const [{ types, subjectId, actorId, requestId, occurredAt }, order] = parseAsked(
    args,
    [KnownEventFilter, filter ?? {}],
    [EventOrder, { direction }],
  )
  const wanted = types ? [...new Set(types)] : null
  const paging = parseCursorPaging(args, positionOf)
  const newestFirst = (order.direction === 'desc') !== paging.backward
  const { rows, isFuture } = await selectEventPage(plannedSql, ctx.tenant, {
    types: wanted,
    equals: [
      ...(subjectId ? [subjectOf(subjectId)] : []),
      ...(actorId ? [actorOf(actorId)] : []),
      ...(requestId ? [{ column: 'requestId' as const, id: requestId }] : []),
    ],
    occurredAt: occurredAt ?? {},
    above: newestFirst ? null : paging.seek,
    below: newestFirst ? paging.seek : null,
    newestFirst,
    limit: paging.pageSize + 1,
  })
  if (isFuture)
    throw new InvalidInput([
      { field: paging.backward ? 'before' : 'after', description: 'is not a cursor of this list' },
    ])
  return { ...toPageRows(paging, rows.map(toLogEvent)), pageSize: paging.pageSize }
}

/** What an entry is about: the user and the session first, then the further things. */
export const subjectIdsOf = ({ userId, sessionId, subjectIds }: LogEvent): string[] =>
  [userId, sessionId, ...subjectIds].filter((id) => id !== null)
