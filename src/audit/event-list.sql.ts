import type { Sql } from '../db.ts'
import { EVENT_COLUMNS, type EventRow } from '../events.sql.ts'
import type { Position } from '../events.ts'
import { type Bind, binder } from '../keyset.ts'

/** What an index leads to, by the column that it begins with after the tenant. */
const COLUMN = {
  userId: `e."userId"`,
  sessionId: `e."sessionId"`,
  subject: `e."subjectIds"[1]`,
  actorUserId: `e."actorUserId"`,
  actorClientId: `e."actorClientId"`,
  requestId: `e."requestId"`,
} as const

/** What else the index says of its rows. Refreshes are most of a log, and have no use for being found by their request. */
const PARTLY: Partial<Record<keyof typeof COLUMN, string>> = {
  requestId: `e."type" <> 'grant.refreshed' AND e."type" <> 'session.refreshed'`,
}

export type EventQuery = {
  types: string[] | null
  /** Columns and what they must be. The planner takes the index of the most selective; the others filter its rows. */
  equals: { column: keyof typeof COLUMN; id: string }[]
  occurredAt: { gte?: Date | null; lt?: Date | null }
  /** Strictly between these. */
  above: Position | null
  below: Position | null
  newestFirst: boolean
  limit: number
}

const POSITION = `"era", "xid", "seq"`

/**
 * An entry's time is the start of its transaction and its place in the log that of the transaction's first write, and
 * no transaction lives for a minute (statements and pauses end after 10 s). So whatever happened a minute before an
 * instant stands below everything from that instant on, and one entry from there bounds the log for any index.
 */
const SLACK = `interval '60 seconds'`

const BEGINNING: Position = { era: 0, xid: 0n, seq: 0n }
const valuesOf = (bind: Bind, { era, xid, seq }: Position) =>
  `SELECT ${bind(era)}::int AS "era", ${bind(String(xid))}::bigint AS "xid", ${bind(String(seq))}::bigint AS "seq"`

/**
 * The tenant's entry next to a time, a minute away from it. Both columns of the index are in the order, and the tenant is
 * a range of one: by an equality, the planner would look for a large tenant's entries in the index of all tenants'.
 */
function entryNextTo(bind: Bind, at: Date, where: 'before' | 'after'): string {
  const [than, back, sign, direction] =
    where === 'before' ? ['<=', '>=', '-', 'DESC'] : ['>=', '<=', '+', 'ASC']
  return `(SELECT ${POSITION} FROM "Event"
    WHERE ("tenantId", "occurredAt") ${than} ((SELECT $1), (SELECT ${bind(at)}::timestamptz ${sign} ${SLACK}))
      AND "tenantId" ${back} (SELECT $1)
    ORDER BY "tenantId" ${direction}, "occurredAt" ${direction} LIMIT 1)`
}

/** The highest of the bounds from below, if any, and the lowest from above: what is still hidden, too, stands above. */
function boundsOf(bind: Bind, { above, below, occurredAt: { gte, lt } }: EventQuery) {
  const low = above || gte ? [valuesOf(bind, above ?? BEGINNING)] : []
  if (gte) low.push(entryNextTo(bind, gte, 'before'))
  const high = [
    `SELECT event_era() AS "era", (pg_snapshot_xmin(pg_current_snapshot())::text)::bigint AS "xid", 0::bigint AS "seq"`,
    ...(below ? [valuesOf(bind, below)] : []),
    ...(lt ? [entryNextTo(bind, lt, 'after')] : []),
  ]
  const first = (bounds: string[], direction: string) =>
    `SELECT ${POSITION} FROM (${bounds.join(' UNION ALL ')}) "bounds"
     ORDER BY ${['era', 'xid', 'seq'].map((name) => `"${name}" ${direction}`).join(', ')} LIMIT 1`
  return {
    ctes: [
      ...(low.length > 0 ? [`low AS MATERIALIZED (${first(low, 'DESC')})`] : []),
      `high AS MATERIALIZED (${first(high, 'ASC')})`,
    ],
    conditions: [
      ...(low.length > 0 ? [`(e."era", e."xid", e."seq") > (SELECT ${POSITION} FROM low)`] : []),
      `(e."era", e."xid", e."seq") < (SELECT ${POSITION} FROM high)`,
    ],
  }
}

/** What the bounds leave to be looked at. In a CASE, as the planner would go by an index of the time once more. */
function timeConditions(bind: Bind, { gte, lt }: EventQuery['occurredAt']): string[] {
  const within = [
    ...(gte ? [`e."occurredAt" >= ${bind(gte)}::timestamptz`] : []),
    ...(lt ? [`e."occurredAt" < ${bind(lt)}::timestamptz`] : []),
  ]
  return within.length > 0 ? [`CASE WHEN ${within.join(' AND ')} THEN true ELSE false END`] : []
}

/**
 * One statement. The bounds are subqueries, whose values the planner does not see: it would take a comparison of rows
 * for one of their first columns, and all entries of an era for none.
 */
function statementOf(bind: Bind, query: EventQuery): string {
  const { types, equals, newestFirst } = query
  const bounds = boundsOf(bind, query)
  const direction = newestFirst ? 'DESC' : 'ASC'
  const order = (of: string) => ['era', 'xid', 'seq'].map((name) => `${of}."${name}" ${direction}`).join(', ')
  const limit = `${bind(query.limit)}::int`
  const wanted = types && bind(types)
  const conditions = [
    `e."tenantId" = $1`,
    ...equals.flatMap(({ column, id }) => [`${COLUMN[column]} = ${bind(id)}`, PARTLY[column] ?? []].flat()),
    ...bounds.conditions,
    ...timeConditions(bind, query.occurredAt),
  ]
  const page = (more: string[] = []) =>
    `SELECT e.* FROM "Event" e WHERE ${[...conditions, ...more].join(' AND ')} ORDER BY ${order('e')} LIMIT ${limit}`
  // An index yields the entries of one type in order, not those of several: a page of each, and a page of those.
  const pages =
    wanted === null
      ? page()
      : equals.length > 0
        ? page([`e."type" = ANY(${wanted}::text[])`])
        : `SELECT each.* FROM unnest(${wanted}::text[]) AS wanted("type")
           CROSS JOIN LATERAL (${page([`e."type" = wanted."type"`])}) each ORDER BY ${order('each')} LIMIT ${limit}`
  const given = query.above ?? query.below
  const isFuture = given
    ? `(${bind(given.era)}::int, ${bind(String(given.xid))}::bigint) >= (event_era(), (pg_snapshot_xmax(pg_current_snapshot())::text)::bigint)`
    : 'false'
  return `WITH ${bounds.ctes.join(', ')}, page AS (${pages}), asked AS (SELECT ${isFuture} AS "isFuture")
    SELECT asked."isFuture", ${EVENT_COLUMNS} FROM asked LEFT JOIN page e ON true ORDER BY ${order('e')}`
}

/** Entries that `query` asks for; `isFuture` when its bound is a position that no entry can have had yet. */
export async function selectEventPage(
  sql: Sql,
  tenant: string,
  query: EventQuery,
): Promise<{ rows: EventRow[]; isFuture: boolean }> {
  type Row = EventRow & { isFuture: boolean; id: string | null }
  const bind = binder(tenant)
  const text = statementOf(bind, query)
  const read = await sql<Row>(text, bind.values)
  const rows = read.filter((row) => row.id !== null).map(({ isFuture: _, ...row }) => row)
  return { rows, isFuture: read[0]?.isFuture ?? false }
}
