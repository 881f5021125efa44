import type { Sql } from './db.ts'
import type { Position } from './events.ts'

/** A stored entry; bigints as text. */
export type EventRow = {
  id: string
  era: number
  xid: string
  seq: string
  type: string
  occurredAt: Date
  actorTenantId: string | null
  actorUserId: string | null
  actorClientId: string | null
  ip: string | null
  requestId: string | null
  userId: string | null
  sessionId: string | null
  subjectIds: string[]
  changedFields: string[]
  detail: Record<string, unknown> | null
}

/** Every column that the writer gives; era, xid, seq and the time come from the database. */
const WRITTEN = [
  'id',
  'type',
  'actorTenantId',
  'actorUserId',
  'actorClientId',
  'ip',
  'requestId',
  'userId',
  'sessionId',
  'subjectIds',
  'changedFields',
  'detail',
] as const

/**
 * An INSERT for use inside another statement's WITH: the entries of the jsonb array `json` (made by `toEventRow`),
 * one for each row of `from`. `columns` overrides what only the statement knows, such as {userId: 'u."id"'}.
 * The tenant is `$1`, as in every statement.
 */
export function insertEventsSql(
  json: string,
  { from, columns = {} }: { from?: string; columns?: Partial<Record<(typeof WRITTEN)[number], string>> } = {},
): string {
  const source = `jsonb_populate_recordset(NULL::"Event", ${json}::jsonb) AS e`
  return `INSERT INTO "Event" ("tenantId", ${WRITTEN.map((name) => `"${name}"`).join(', ')})
    SELECT $1, ${WRITTEN.map((name) => columns[name] ?? `e."${name}"`).join(', ')}
    FROM ${from ? `${from}, ` : ''}${source}`
}

const INSERT_EVENTS = insertEventsSql('$2')

export async function insertEvents(sql: Sql, tenant: string, rows: object[]): Promise<void> {
  await sql(INSERT_EVENTS, [tenant, JSON.stringify(rows)])
}

/**
 * Below this, every transaction has ended, so that no entry can still appear among those that were read. A new era
 * starts in another cluster, whose transaction ids tell nothing of an older era's.
 */
const VISIBLE = `("era" < event_era() OR "xid" < (pg_snapshot_xmin(pg_current_snapshot())::text)::bigint)`

/** The columns of an entry `e`. */
export const EVENT_COLUMNS = `e."era", e."xid"::text AS "xid", e."seq"::text AS "seq", e."occurredAt", ${WRITTEN.map((name) => `e."${name}"`).join(', ')}`

const SELECT_EVENTS = `
  WITH newer AS (
    SELECT * FROM "Event" WHERE "tenantId" = $1 AND ("era", "xid", "seq") > ($2::int, $3::bigint, $4::bigint) AND ${VISIBLE}
    ORDER BY "era", "xid", "seq" LIMIT $5::int
  ), last AS (
    SELECT EXISTS (
      SELECT FROM "Event" WHERE "tenantId" = $1 AND ("era", "xid", "seq") > ($2::int, $3::bigint, $4::bigint) AND NOT ${VISIBLE}
    ) AS "hidden", ($2::int, $3::bigint) >= (event_era(), (pg_snapshot_xmax(pg_current_snapshot())::text)::bigint) AS "isFuture"
  )
  SELECT last."hidden", last."isFuture", ${EVENT_COLUMNS} FROM last LEFT JOIN newer e ON true ORDER BY e."era", e."xid", e."seq"`

export async function selectEvents(
  sql: Sql,
  tenant: string,
  after: Position,
  limit: number,
): Promise<{ rows: EventRow[]; hidden: boolean; isFuture: boolean }> {
  type Row = EventRow & { hidden: boolean; isFuture: boolean; id: string | null }
  const read = await sql<Row>(SELECT_EVENTS, [tenant, after.era, String(after.xid), String(after.seq), limit])
  const rows = read.filter((row) => row.id !== null).map(({ hidden: _, isFuture: __, ...row }) => row)
  return { rows, hidden: read[0]?.hidden ?? false, isFuture: read[0]?.isFuture ?? false }
}

const SELECT_HEAD = `
  SELECT COALESCE(last."era", event_era()) AS "era", COALESCE(last."xid", 0)::text AS "xid", COALESCE(last."seq", 0)::text AS "seq",
    (SELECT "eventsTrimmedTo" FROM "Tenant" WHERE "tenantId" = $1) AS "trimmedTo"
  FROM (SELECT 1) one LEFT JOIN LATERAL (
    SELECT "era", "xid", "seq" FROM "Event" WHERE "tenantId" = $1 AND ${VISIBLE}
    ORDER BY "era" DESC, "xid" DESC, "seq" DESC LIMIT 1
  ) last ON true`

export async function selectHead(sql: Sql, tenant: string) {
  const [row] = await sql<{ era: number; xid: string; seq: string; trimmedTo: string | null }>(SELECT_HEAD, [
    tenant,
  ])
  if (!row) throw new Error('the head of the log could not be read')
  return row
}
