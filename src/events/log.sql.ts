import type { Db } from '../database/handle.ts'
import { type RowOf, statement, typed } from '../database/statement.ts'
import type { Position } from '../model/event-position.ts'

/** The columns that are read. */
const SHOWN_COLUMNS = [
  'id',
  'type',
  'actorTenantId',
  'actorUserId',
  'actorClientId',
  'actorApiKeyId',
  'ip',
  'deviceId',
  'requestId',
  'userId',
  'sessionId',
  'organizationId',
  'subjectIds',
  'changedFields',
  'detail',
] as const

/** The columns whose values come with an event; the database sets era, xid, seq and the time. */
const WRITTEN_COLUMNS = [...SHOWN_COLUMNS, 'addressHash'] as const

/** What `event_era()` returns. PostgreSQL would plan the function, the default of the column, at each INSERT. */
const ERA = '(SELECT "era" FROM "_vestibule_cluster")'

/**
 * Builds an INSERT for a CTE of another statement. It inserts the events of the jsonb array `json` (rows of
 * `createEventRow`) once for each row of `from`. `columns` overrides columns with expressions, such as
 * {userId: 'u."id"'}.
 */
export function buildInsertEventsSql(
  json: string,
  {
    from,
    columns = {},
  }: { from?: string; columns?: Partial<Record<(typeof WRITTEN_COLUMNS)[number], string>> } = {},
): string {
  const source = `jsonb_populate_recordset(NULL::"Event", ${json}) AS e`
  return `INSERT INTO "Event" ("tenantId", "era", ${WRITTEN_COLUMNS.map((name) => `"${name}"`).join(', ')})
    SELECT :tenant, ${ERA}, ${WRITTEN_COLUMNS.map((name) => columns[name] ?? `e."${name}"`).join(', ')}
    FROM ${from ? `${from}, ` : ''}${source}`
}

const INSERT_EVENTS = statement({ takes: { events: 'jsonb' } })`${buildInsertEventsSql(':events')}`

export const insertEvents = (db: Db, events: object[]): Promise<void> => db.run(INSERT_EVENTS, { events })

/**
 * True for events of transactions below which no transaction is open, so that no event can still be inserted
 * before an event that was read. An era begins with a new database cluster, where transaction ids start
 * again.
 */
export const VISIBLE_CONDITION = `("era" < event_era() OR "xid" < (pg_snapshot_xmin(pg_current_snapshot())::text)::bigint)`

/** The columns of an event `e`. */
export const EVENT_COLUMNS = `e."era", e."xid"::text AS "xid", e."seq"::text AS "seq", e."occurredAt", ${SHOWN_COLUMNS.map((name) => `e."${name}"`).join(', ')}`

/** The columns as a statement returns them; bigint as text. */
export const EVENT_RETURNS = {
  era: 'int',
  xid: 'text',
  seq: 'text',
  occurredAt: 'timestamptz',
  id: 'text',
  type: 'text',
  actorTenantId: 'text?',
  actorUserId: 'text?',
  actorClientId: 'text?',
  actorApiKeyId: 'text?',
  ip: 'text?',
  deviceId: 'text?',
  requestId: 'text?',
  userId: 'text?',
  sessionId: 'text?',
  organizationId: 'text?',
  subjectIds: 'text[]',
  changedFields: 'text[]',
  detail: typed<Record<string, unknown> | null>('jsonb?'),
} as const

/** A stored event. */
export type EventRow = RowOf<{ returns: typeof EVENT_RETURNS }>

const AFTER = '"tenantId" = :tenant AND ("era", "xid", "seq") > (:era, :xid, :seq)'
const SELECT_EVENTS = statement({
  takes: { era: 'int', xid: 'bigint', seq: 'bigint', limit: 'int' },
  // Without any event after the position, a row of nulls has the two flags.
  returns: { ...EVENT_RETURNS, id: 'text?', hidden: 'boolean', isFuture: 'boolean' },
})`
  WITH newer AS (
    SELECT * FROM "Event" WHERE ${AFTER} AND ${VISIBLE_CONDITION}
    ORDER BY "era", "xid", "seq" LIMIT :limit
  ), last AS (
    SELECT EXISTS (
      SELECT FROM "Event" WHERE ${AFTER} AND NOT ${VISIBLE_CONDITION}
    ) AS "hidden", (:era, :xid) >= (event_era(), (pg_snapshot_xmax(pg_current_snapshot())::text)::bigint) AS "isFuture"
  )
  SELECT last."hidden", last."isFuture", ${EVENT_COLUMNS} FROM last LEFT JOIN newer e ON true ORDER BY e."era", e."xid", e."seq"`

/** Returns up to `limit` visible events after a position. For `hidden` and `isFuture` see `readEvents`. */
export async function selectEvents(
  db: Db,
  after: Position,
  limit: number,
): Promise<{ rows: EventRow[]; hidden: boolean; isFuture: boolean }> {
  const position = { era: after.era, xid: String(after.xid), seq: String(after.seq) }
  const read = await db.many(SELECT_EVENTS, { ...position, limit })
  const rows = read.flatMap(({ hidden: _, isFuture: __, id, ...row }) =>
    id === null ? [] : [{ id, ...row }],
  )
  return { rows, hidden: read[0]?.hidden ?? false, isFuture: read[0]?.isFuture ?? false }
}

const SELECT_HEAD = statement({
  returns: { era: 'int', xid: 'text', seq: 'text', trimmedTo: 'text?' },
})`
  SELECT COALESCE(last."era", event_era()) AS "era", COALESCE(last."xid", 0)::text AS "xid", COALESCE(last."seq", 0)::text AS "seq",
    (SELECT "eventsTrimmedTo" FROM "Tenant" WHERE "tenantId" = :tenant) AS "trimmedTo"
  FROM (SELECT 1) one LEFT JOIN LATERAL (
    SELECT "era", "xid", "seq" FROM "Event" WHERE "tenantId" = :tenant AND ${VISIBLE_CONDITION}
    ORDER BY "era" DESC, "xid" DESC, "seq" DESC LIMIT 1
  ) last ON true`

/**
 * Returns the position of the newest visible event, and the encoded position up to which retention has
 * removed events.
 */
export async function selectHead(db: Db) {
  const row = await db.one(SELECT_HEAD)
  if (!row) throw new Error('the head of the event log could not be read')
  return row
}
