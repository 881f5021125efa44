import type { Ctx } from '../context/context.ts'
import { errorMessage } from '../core/error-message.ts'
import { InvalidInput } from '../core/errors.ts'
import { log } from '../core/log.ts'
import { createNetworkMatcher } from '../core/network/ip.ts'
import type { Position } from '../model/event-position.ts'
import { decodePosition } from '../model/event-position.ts'
import { parseInput } from '../schema/input-shapes.ts'
import type { ListArgs, Page } from '../schema/page.ts'
import { parseListArgs, parsePagingArgs, toPageRows } from '../schema/page.ts'
import { listAddressHashes } from './address-hash.ts'
import { EVENT_FILTER } from './list.fields.ts'
import { countEvents, type EventQuery, hasFilter, selectEventPage } from './list.sql.ts'
import type { LogEvent } from './log.ts'
import { toLogEvent } from './log.ts'
import { countByMarks, insertMarks, UNMARKED } from './marks.sql.ts'

/** The members of the filter by which a stream selects events. */
const STREAM_FILTER = EVENT_FILTER.shape.pick({
  types: true,
  subjectId: true,
  organizationId: true,
  ip: true,
})

/** Creates the test of a stream, which selects the events that the list does. Throws InvalidInput. */
export function createEventMatcher(filter: {
  types?: readonly string[] | null
  subjectId?: string | null
  organizationId?: string | null
  ip?: string | null
}): (event: LogEvent) => boolean {
  const { types, subjectId, organizationId, ip } = parseInput(STREAM_FILTER, filter)
  const wanted = types && new Set<string>(types)
  const isFrom = ip && createNetworkMatcher(ip)
  return (event) =>
    (!wanted || wanted.has(event.type)) &&
    (!subjectId ||
      [event.userId, event.sessionId, event.organizationId, event.subjectIds[0]].includes(subjectId)) &&
    (!organizationId || event.organizationId === organizationId) &&
    (!isFrom || isFrom(event.ip))
}

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

/** The tenants whose marks this process makes. */
const marking = new Set<string>()

/** Makes the marks that the log of a tenant lacks. */
export async function markEvents({ db, tenant }: Pick<Ctx, 'db' | 'tenant'>): Promise<void> {
  if (marking.has(tenant)) return
  marking.add(tenant)
  try {
    let made: number
    do {
      made = await db.transaction(insertMarks)
    } while (made > 0)
  } finally {
    marking.delete(tenant)
  }
}

/**
 * The number of events of the tenant. The first count of a long log makes its marks, so that recording an event writes
 * nothing more. See docs/decisions/0167.
 */
async function countLog(ctx: Pick<Ctx, 'db' | 'tenant'>): Promise<number> {
  const { total, unmarked } = await countByMarks(ctx.db)
  if (unmarked >= UNMARKED)
    markEvents(ctx).catch((error) => log.warn({ err: errorMessage(error) }, 'the marks of a log failed'))
  return total
}

/**
 * Lists events of the tenant, oldest first unless `direction` is 'desc': by cursor, or by number if a page or its size is
 * given. The position of an event is its cursor in every list and for subscriptions. Pages exclude events that are hidden
 * behind an open transaction (see `readEvents`), so that continuing from the last page skips none. One statement, and one
 * more for totalSize. Throws InvalidInput.
 */
export async function listEvents(ctx: Ctx, args: ListArgs): Promise<Page<LogEvent>> {
  const { filter, descending } = parseListArgs(args, EVENT_FILTER)
  const paging = parsePagingArgs(ctx, args, parsePosition)
  const backward = paging.mode === 'cursor' && paging.backward
  const newestFirst = descending !== backward
  const seek = paging.mode === 'cursor' ? paging.seek : null
  const query: EventQuery = {
    filter: filter.types ? { ...filter, types: [...new Set(filter.types)] } : filter,
    addressHashes: filter.address ? listAddressHashes(ctx.tenant, filter.address) : null,
    after: newestFirst ? null : seek,
    before: newestFirst ? seek : null,
    newestFirst,
    offset: paging.mode === 'offset' ? paging.page * paging.pageSize : 0,
    limit: paging.pageSize + 1,
    readLimit: paging.limit,
  }
  const { rows, isFuture } = await selectEventPage(ctx.db, query)
  if (isFuture)
    throw new InvalidInput([
      { field: backward ? 'before' : 'after', description: 'is not a cursor of this list' },
    ])
  return {
    ...toPageRows(paging, rows.map(toLogEvent)),
    page: paging.mode === 'offset' ? paging.page : null,
    pageSize: paging.pageSize,
    encodeRowCursor: ({ position }) => position,
    countAll: () =>
      hasFilter(query) ? countEvents(ctx.db, { ...query, after: null, before: null }) : countLog(ctx),
  }
}

/** The ids of all subjects of an event: the user, the session, the organization, then the others. */
export const getSubjectIds = ({ userId, sessionId, organizationId, subjectIds }: LogEvent): string[] =>
  [userId, sessionId, organizationId, ...subjectIds].filter((id) => id !== null)
