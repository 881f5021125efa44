import type { ReadLimit } from '../core/network/read-limit.ts'
import type { Db } from '../database/handle.ts'
import { type BindParameter, createBinder } from '../database/keyset.ts'
import { buildFilterConditions } from '../database/lists/filter-conditions.ts'
import { boundStatement } from '../database/statement.ts'
import type { Position } from '../model/event-position.ts'
import { EVENT_FILTER, type EventFilter } from './list.fields.ts'
import { EVENT_COLUMNS, EVENT_RETURNS, type EventRow } from './log.sql.ts'
import { buildPageByMarks, SELECT_END } from './marks.sql.ts'

/** The condition of a partial index. Refreshes are most of a log and are not found by their request. */
const REQUEST_INDEX_CONDITION = `e."type" <> 'grant.refreshed' AND e."type" <> 'session.refreshed'`

/** The members of the filter that an index supports. */
const INDEXED = ['subjectId', 'organizationId', 'actorId', 'requestId', 'deviceId'] as const

export type EventQuery = {
  /** The planner uses the index of the most selective member; the others filter its rows. */
  filter: EventFilter
  /** The hashes of the address of the filter. */
  addressHashes: Buffer[] | null
  /** Exclusive bounds. */
  after: Position | null
  before: Position | null
  newestFirst: boolean
  /** Events of the list before the page. */
  offset: number
  limit: number
  readLimit?: ReadLimit
}

export const hasFilter = ({ filter }: EventQuery): boolean => Object.keys(filter).length > 0

const POSITION_COLUMNS = `"era", "xid", "seq"`

/**
 * The time of an event is the start of its transaction, its position that of the transaction's first write,
 * and a transaction takes less than a minute (statements and pauses end after 10 s). Therefore the position
 * of an event that is at least a minute older than an instant is a lower bound for all events from that
 * instant on, in any index.
 */
const CLOCK_SLACK = `interval '60 seconds'`

const LOG_START: Position = { era: 0, xid: 0n, seq: 0n }
const buildPositionSql = (bind: BindParameter, { era, xid, seq }: Position) =>
  `SELECT ${bind(era)}::int AS "era", ${bind(String(xid))}::bigint AS "xid", ${bind(String(seq))}::bigint AS "seq"`

/**
 * Selects the position of the tenant's event that is nearest to a minute before or after a time. The order
 * has both columns of the index, and the tenant is a range of one value: for an equality, the planner would
 * search the events of a large tenant in an index of all tenants.
 */
function buildNearestEventSql(bind: BindParameter, time: Date, side: 'before' | 'after'): string {
  const [timeOperator, tenantOperator, sign, direction] =
    side === 'before' ? ['<=', '>=', '-', 'DESC'] : ['>=', '<=', '+', 'ASC']
  return `(SELECT ${POSITION_COLUMNS} FROM "Event"
    WHERE ("tenantId", "occurredAt") ${timeOperator} ((SELECT $1), (SELECT ${bind(time)}::timestamptz ${sign} ${CLOCK_SLACK}))
      AND "tenantId" ${tenantOperator} (SELECT $1)
    ORDER BY "tenantId" ${direction}, "occurredAt" ${direction} LIMIT 1)`
}

/**
 * The highest lower bound, if any, and the lowest upper bound, which excludes events that are not visible
 * yet.
 */
function buildPositionBounds(bind: BindParameter, { after, before, filter }: EventQuery) {
  const { gte, lt } = filter.occurredAt ?? {}
  const low = after || gte ? [buildPositionSql(bind, after ?? LOG_START)] : []
  if (gte) low.push(buildNearestEventSql(bind, gte, 'before'))
  const high = [
    SELECT_END,
    ...(before ? [buildPositionSql(bind, before)] : []),
    ...(lt ? [buildNearestEventSql(bind, lt, 'after')] : []),
  ]
  const selectFirstBound = (bounds: string[], direction: string) =>
    `SELECT ${POSITION_COLUMNS} FROM (${bounds.join(' UNION ALL ')}) "bounds"
     ORDER BY ${['era', 'xid', 'seq'].map((name) => `"${name}" ${direction}`).join(', ')} LIMIT 1`
  return {
    ctes: [
      ...(low.length > 0 ? [`low AS MATERIALIZED (${selectFirstBound(low, 'DESC')})`] : []),
      `high AS MATERIALIZED (${selectFirstBound(high, 'ASC')})`,
    ],
    conditions: [
      ...(low.length > 0 ? [`(e."era", e."xid", e."seq") > (SELECT ${POSITION_COLUMNS} FROM low)`] : []),
      `(e."era", e."xid", e."seq") < (SELECT ${POSITION_COLUMNS} FROM high)`,
    ],
  }
}

/**
 * An index has the events of an address in their order. For a network, the planner reads its addresses in that index and
 * sorts their events, or reads the log in its order where many events are of the network.
 */
const buildIpConditions = ({ ip }: EventFilter, bind: BindParameter): string[] =>
  ip === undefined ? [] : [`e."ip"::inet ${ip.includes('/') ? '<<=' : '='} ${bind(ip)}::inet`]

/** The conditions of events of a filter, with the CTEs that they read. Those of types and of addresses are apart. */
function buildConditions(bind: BindParameter, query: EventQuery) {
  const { filter } = query
  const bounds = buildPositionBounds(bind, query)
  const build = (names: readonly (keyof EventFilter)[]) =>
    buildFilterConditions(EVENT_FILTER, filter, { names, alias: 'e' }, bind)
  const indexed = [...build(INDEXED), ...buildIpConditions(filter, bind)]
  const within = build(['occurredAt'])
  const conditions = [
    `e."tenantId" = $1`,
    ...indexed,
    ...(filter.requestId === undefined ? [] : [REQUEST_INDEX_CONDITION]),
    ...bounds.conditions,
    // CASE keeps the planner from using an index of the time again.
    ...(within.length > 0 ? [`CASE WHEN ${within.join(' AND ')} THEN true ELSE false END`] : []),
  ]
  return { ctes: bounds.ctes, conditions, isIndexed: indexed.length > 0 }
}

/** Builds the statement that counts the events of a filter. */
function buildCountStatement(tenant: string, query: EventQuery) {
  const bind = createBinder(tenant)
  const { ctes, conditions } = buildConditions(bind, query)
  if (query.filter.types) conditions.push(`e."type" = ANY(${bind(query.filter.types)}::text[])`)
  if (query.addressHashes) conditions.push(`e."addressHash" = ANY(${bind(query.addressHashes)}::bytea[])`)
  const text = `WITH ${ctes.join(', ')} SELECT count(*)::int AS "count" FROM "Event" e WHERE ${conditions.join(' AND ')}`
  return boundStatement({ count: 'int' }, text, bind.values)
}

/** The number of events that match a filter. */
export const countEvents = async (db: Db, query: EventQuery): Promise<number> =>
  (await db.list(buildCountStatement(db.tenant, query)))[0]?.count ?? 0

/**
 * Builds the statement of a page of events. The bounds are subqueries, whose values the planner does not see:
 * it would estimate a comparison of rows by the first column, which is the same for all events of an era.
 */
export function buildEventPageStatement(tenant: string, query: EventQuery) {
  const bind = createBinder(tenant)
  const { filter, addressHashes, newestFirst, offset } = query
  const { ctes, conditions, isIndexed } = buildConditions(bind, query)
  const direction = newestFirst ? 'DESC' : 'ASC'
  const buildOrderBy = (alias: string) =>
    ['era', 'xid', 'seq'].map((name) => `${alias}."${name}" ${direction}`).join(', ')
  const end =
    offset > 0
      ? `OFFSET ${bind(offset)}::bigint LIMIT ${bind(query.limit)}::int`
      : `LIMIT ${bind(query.limit)}::int`
  const wanted = filter.types ? bind(filter.types) : null
  const buildPageSql = (more: string[] = [], rows = end) =>
    `SELECT e.* FROM "Event" e WHERE ${[...conditions, ...more].join(' AND ')} ORDER BY ${buildOrderBy('e')} ${rows}`
  // An index yields the events of one value in order, not those of several: reads as many of each value as the list may have
  // up to the end of the page, then merges them.
  const buildMergedSql = (column: string, values: string, more: string[] = []) =>
    `SELECT each.* FROM unnest(${values}) AS wanted("value")
     CROSS JOIN LATERAL (${buildPageSql([`e."${column}" = wanted."value"`, ...more], `LIMIT ${bind(offset + query.limit)}::int`)}) each ORDER BY ${buildOrderBy('each')} ${end}`
  const ofTypes = wanted === null ? [] : [`e."type" = ANY(${wanted}::text[])`]
  const pages = addressHashes
    ? buildMergedSql('addressHash', `${bind(addressHashes)}::bytea[]`, ofTypes)
    : wanted !== null && !isIndexed
      ? buildMergedSql('type', `${wanted}::text[]`)
      : buildPageSql(ofTypes)
  const bound = query.after ?? query.before
  const isFuture = bound
    ? `(${bind(bound.era)}::int, ${bind(String(bound.xid))}::bigint) >= (event_era(), (pg_snapshot_xmax(pg_current_snapshot())::text)::bigint)`
    : 'false'
  const text = `WITH ${ctes.join(', ')}, page AS (${pages}), flag AS (SELECT ${isFuture} AS "isFuture")
    SELECT flag."isFuture", ${EVENT_COLUMNS} FROM flag LEFT JOIN page e ON true ORDER BY ${buildOrderBy('e')}`
  // Without any event in the page, a row of nulls has the flag.
  return boundStatement({ ...EVENT_RETURNS, id: 'text?', isFuture: 'boolean' }, text, bind.values)
}

/** Builds the statement of a page of all events by offset. */
function buildNumberedPageStatement(tenant: string, query: EventQuery) {
  const bind = createBinder(tenant)
  const direction = query.newestFirst ? 'DESC' : 'ASC'
  const text = `WITH ${buildPageByMarks(query, bind)} SELECT false AS "isFuture", ${EVENT_COLUMNS} FROM page e
    ORDER BY e."era" ${direction}, e."xid" ${direction}, e."seq" ${direction}`
  return boundStatement({ ...EVENT_RETURNS, id: 'text?', isFuture: 'boolean' }, text, bind.values)
}

/**
 * Returns events that match `query`. `isFuture` is true when its bound is a position that no event can have
 * yet.
 */
export async function selectEventPage(
  db: Db,
  query: EventQuery,
): Promise<{ rows: EventRow[]; isFuture: boolean }> {
  const build = query.offset === 0 || hasFilter(query) ? buildEventPageStatement : buildNumberedPageStatement
  const page = build(db.tenant, query)
  const read = await db.list(page, query.readLimit)
  const rows = read.flatMap(({ isFuture: _, id, ...row }) => (id === null ? [] : [{ id, ...row }]))
  return { rows, isFuture: read[0]?.isFuture ?? false }
}
