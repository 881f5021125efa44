import type { Db, Tx } from '../database/handle.ts'
import type { BindParameter } from '../database/keyset.ts'
import { statement } from '../database/statement.ts'
import type { Position } from '../model/event-position.ts'

/** Events from one mark to the next. A page by offset skips fewer of them. */
const STEP = 2000
/** Events that one statement numbers. */
const NUMBERED = 200_000
/** Events after the last mark with which new ones are made. */
export const UNMARKED = 2 * STEP

/** The position below which no event can still be inserted. */
export const SELECT_END = `SELECT event_era() AS "era", (pg_snapshot_xmin(pg_current_snapshot())::text)::bigint AS "xid", 0::bigint AS "seq"`

const AT = 'e."era", e."xid", e."seq"'
const END = '(SELECT "era", "xid", "seq" FROM "end")'
/** The first or the last row of a CTE in the order of the log; without one, the position before all. */
const selectMark = (direction: string) => `SELECT * FROM (
    SELECT "era", "xid", "seq", "number" FROM marks UNION ALL SELECT 0, 0, 0, 0 WHERE NOT EXISTS (SELECT FROM marks)
  ) m ORDER BY "era" ${direction}, "xid" ${direction}, "seq" ${direction} LIMIT 1`

/**
 * The marks, each with the number of events after the first mark up to it; and how many events the first mark has with those
 * before it, how many are up to the last mark, and how many come after that. The first ones are read from the mark on, in
 * descending order: an index scan starts at a row of values, but ends at the first of them.
 */
const buildSizes = (tenant: string) => `"end" AS MATERIALIZED (${SELECT_END}), marks AS MATERIALIZED (
    SELECT "era", "xid", "seq", sum("events") OVER inOrder - first_value("events") OVER inOrder AS "number"
    FROM "EventMark" WHERE "tenantId" = ${tenant} WINDOW inOrder AS (ORDER BY "era", "xid", "seq")
  ), sizes AS MATERIALIZED (
    SELECT n."number" AS "between",
      (SELECT count(*) FROM (
        SELECT FROM "Event" e WHERE e."tenantId" = ${tenant} AND (${AT}) <= (o."era", o."xid", o."seq")
        ORDER BY e."era" DESC, e."xid" DESC, e."seq" DESC
      ) first) AS "before",
      (SELECT count(*) FROM "Event" e WHERE e."tenantId" = ${tenant} AND (${AT}) > (n."era", n."xid", n."seq") AND (${AT}) < ${END}) AS "after"
    FROM (${selectMark('ASC')}) o, (${selectMark('DESC')}) n
  )`

/**
 * Builds the CTEs of a page of all events by offset, which is the last of them, `page`. It begins at the nearest mark, and skips
 * the events from there.
 */
export function buildPageByMarks(
  { offset, limit, newestFirst }: { offset: number; limit: number; newestFirst: boolean },
  bind: BindParameter,
): string {
  const [skipped, count] = [`${bind(offset)}::bigint`, `${bind(limit)}::int`]
  const [operator, direction, edge, number, isBeyond, order] = newestFirst
    ? [
        '<',
        ' DESC',
        '"era", "xid", "seq" FROM "end"',
        `s."between" + s."after" - ${skipped}`,
        `${skipped} >= s."after"`,
        '',
      ]
    : [
        '>',
        '',
        '0, 0::bigint, 0::bigint',
        `${skipped} - s."before"`,
        `${skipped} >= s."before" AND EXISTS (SELECT FROM marks)`,
        ' DESC',
      ]
  // The marks of equal number have no events between them: the one that is nearest to the page is as good.
  const start = `SELECT m.* FROM sizes s CROSS JOIN LATERAL (
      SELECT m."era", m."xid", m."seq"${newestFirst ? ' + 1' : ''} AS "seq", abs(m."number" - (${number})) AS "skip" FROM marks m
      WHERE m."number" ${newestFirst ? '>=' : '<='} ${number} ORDER BY m."number"${order} LIMIT 1
    ) m WHERE ${isBeyond}
    UNION ALL SELECT edge.*, ${skipped} FROM (SELECT ${edge}) edge, sizes s WHERE NOT (${isBeyond})`
  return `${buildSizes('$1')}, start AS MATERIALIZED (${start}), page AS (
    SELECT e.* FROM "Event" e
    WHERE e."tenantId" = $1 AND (${AT}) ${operator} (SELECT "era", "xid", "seq" FROM start) AND (${AT}) < ${END}
    ORDER BY e."era"${direction}, e."xid"${direction}, e."seq"${direction} OFFSET (SELECT "skip" FROM start) LIMIT ${count}
  )`
}

const COUNT_ALL = statement({ returns: { total: 'int', unmarked: 'int' } })`
  WITH ${buildSizes(':tenant')} SELECT ("before" + "between" + "after")::int AS "total", "after"::int AS "unmarked" FROM sizes`

/** The number of all events of the tenant, and of those after the last mark. */
export const countByMarks = async (db: Db): Promise<{ total: number; unmarked: number }> =>
  (await db.one(COUNT_ALL)) ?? { total: 0, unmarked: 0 }

const LOCK_MARKS = statement({ returns: { isLocked: 'boolean' } })`
  SELECT lock_event_marks() AS "isLocked" FROM "Tenant" WHERE "tenantId" = :tenant`

const INSERT_MARKS = statement({ returns: { events: 'int' } })`
  WITH "end" AS MATERIALIZED (${SELECT_END}), newest AS MATERIALIZED (
    SELECT "era", "xid", "seq" FROM "EventMark" WHERE "tenantId" = :tenant UNION ALL SELECT 0, 0, 0
    ORDER BY "era" DESC, "xid" DESC, "seq" DESC LIMIT 1
  )
  INSERT INTO "EventMark" ("tenantId", "era", "xid", "seq", "events")
  SELECT :tenant, "era", "xid", "seq", ${String(STEP)} FROM (
    SELECT "era", "xid", "seq", row_number() OVER (ORDER BY "era", "xid", "seq") AS "number" FROM (
      SELECT e."era", e."xid", e."seq" FROM "Event" e
      WHERE e."tenantId" = :tenant AND (${AT}) > (SELECT "era", "xid", "seq" FROM newest) AND (${AT}) < ${END}
      ORDER BY ${AT} LIMIT ${String(NUMBERED)}
    ) read
  ) numbered WHERE "number" % ${String(STEP)} = 0
  RETURNING "events"`

/**
 * Makes marks of events after the last one. Returns how many. The lock keeps those away who delete events and correct the
 * marks, until they see the new ones. Two statements.
 */
export async function insertMarks(tx: Tx): Promise<number> {
  // The tenant may have been deleted meanwhile.
  return (await tx.one(LOCK_MARKS)) ? (await tx.many(INSERT_MARKS)).length : 0
}

const DELETE_MARKS = statement({ takes: { era: 'int', xid: 'text', seq: 'text' } })`
  DELETE FROM "EventMark" WHERE "tenantId" = :tenant AND ("era", "xid", "seq") <= (:era, :xid::bigint, :seq::bigint)`

/** Deletes the marks up to a position, whose events are deleted. */
export const deleteMarks = (db: Db, { era, xid, seq }: Position): Promise<void> =>
  db.run(DELETE_MARKS, { era, xid: String(xid), seq: String(seq) })

/** An UPDATE that takes the events of the CTE `deleted` out of the marks. */
export const CORRECT_MARKS = `UPDATE "EventMark" m SET "events" = m."events" - d."count" FROM (
    SELECT e."tenantId", k."era", k."xid", k."seq", count(*)::int AS "count" FROM deleted e CROSS JOIN LATERAL (
      SELECT k."era", k."xid", k."seq" FROM "EventMark" k
      WHERE k."tenantId" = e."tenantId" AND (k."era", k."xid", k."seq") >= (${AT})
      ORDER BY k."era", k."xid", k."seq" LIMIT 1
    ) k GROUP BY 1, 2, 3, 4
  ) d WHERE m."tenantId" = d."tenantId" AND m."era" = d."era" AND m."xid" = d."xid" AND m."seq" = d."seq"`
