import * as z from 'zod'
import type { Ctx } from '../context/context.ts'
import { readIdPrefix } from '../core/crypto.ts'
import { InvalidInput } from '../core/errors.ts'
import type { Position } from '../model/event-position.ts'
import { decodePosition } from '../model/event-position.ts'
import { parseInput } from '../schema/input-shapes.ts'
import type { PageArgs, PageRows } from '../schema/page.ts'
import { parseCursorPaging, parseListInputs, toPageRows } from '../schema/page.ts'
import { listAddressHashes } from './address-hash.ts'
import { EventFilter, EventOrder, eventTypes } from './list.fields.ts'
import type { EventQuery } from './list.sql.ts'
import { selectEventPage } from './list.sql.ts'
import type { LogEvent } from './log.ts'
import { toLogEvent } from './log.ts'

/** Parses event types, each once. Throws InvalidInput with the unknown ones. */
export const parseEventTypes = (types: readonly string[]): Set<string> =>
  new Set(parseInput(z.strictObject({ types: eventTypes }), { types }).types)

type ColumnCondition = EventQuery['equals'][number]

function toSubjectCondition(id: string): ColumnCondition {
  const prefix = readIdPrefix(id)
  return { column: prefix === 'user' ? 'userId' : prefix === 'session' ? 'sessionId' : 'subject', id }
}
const toActorCondition = (id: string): ColumnCondition => ({
  column: readIdPrefix(id) === 'user' ? 'actorUserId' : 'actorClientId',
  id,
})

/**
 * Positions are the cursors of every list of events, with any filter: a subscription can start from any
 * of them.
 */
function parsePosition(cursor: string): Position | null {
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
 * Lists events of the tenant, oldest first unless `direction` is 'desc', by cursor only. The position of an
 * event is its cursor in every list and for subscriptions. Pages exclude events that are hidden behind an
 * open transaction (see `readEvents`), so that continuing from the last page skips none. One statement.
 * Throws InvalidInput.
 */
export async function listEvents(
  ctx: Ctx,
  { filter, direction, ...args }: ListEventsArgs,
): Promise<EventPage> {
  const [{ types, subjectId, actorId, requestId, deviceId, address, occurredAt }, order] = parseListInputs(
    args,
    [EventFilter, filter ?? {}],
    [EventOrder, { direction }],
  )
  const wanted = types ? [...new Set(types)] : null
  const paging = parseCursorPaging(ctx, args, parsePosition)
  const newestFirst = (order.direction === 'desc') !== paging.backward
  const { rows, isFuture } = await selectEventPage(ctx.db, {
    types: wanted,
    equals: [
      ...(subjectId ? [toSubjectCondition(subjectId)] : []),
      ...(actorId ? [toActorCondition(actorId)] : []),
      ...(requestId ? [{ column: 'requestId' as const, id: requestId }] : []),
      ...(deviceId ? [{ column: 'deviceId' as const, id: deviceId }] : []),
    ],
    addressHashes: address ? listAddressHashes(ctx.tenant, address) : null,
    occurredAt: occurredAt ?? {},
    after: newestFirst ? null : paging.seek,
    before: newestFirst ? paging.seek : null,
    newestFirst,
    limit: paging.pageSize + 1,
    readLimit: paging.limit,
  })
  if (isFuture)
    throw new InvalidInput([
      { field: paging.backward ? 'before' : 'after', description: 'is not a cursor of this list' },
    ])
  return { ...toPageRows(paging, rows.map(toLogEvent)), pageSize: paging.pageSize }
}

/** The ids of all subjects of an event: the user, the session, then the others. */
export const getSubjectIds = ({ userId, sessionId, subjectIds }: LogEvent): string[] =>
  [userId, sessionId, ...subjectIds].filter((id) => id !== null)
