import type { Db } from '../../database/handle.ts'
import { statement } from '../../database/statement.ts'

// Days are numbers since 1970-01-01, which no time zone changes. The events that the counter of their day does not have yet
// are rows of their own; both are read in one snapshot.
const SELECT_COUNTS = statement({
  takes: { first: 'int', last: 'int' },
  returns: { day: 'int', kind: 'text', method: 'text', count: 'text' },
})`
  SELECT ("day" - date '1970-01-01')::int AS "day", "kind", "method", sum("count")::text AS "count" FROM (
    SELECT "day", "kind", "method", "count" FROM "DailyCount"
    WHERE "tenantId" = :tenant AND "day" BETWEEN date '1970-01-01' + :first AND date '1970-01-01' + :last
    UNION ALL
    SELECT "day", "kind", "method", 1 FROM "UncountedEvent"
    WHERE "tenantId" = :tenant AND "day" BETWEEN date '1970-01-01' + :first AND date '1970-01-01' + :last
  ) counts GROUP BY "day", "kind", "method"`

/** The counts of a range of days, by kind and method. */
export const selectCounts = (db: Db, range: { first: number; last: number }) => db.many(SELECT_COUNTS, range)

const COUNT_EVENTS = statement({ takes: { limit: 'int' }, returns: { counted: 'int' } })`
  WITH taken AS (
    DELETE FROM "UncountedEvent" WHERE :tenant = 'system' AND ctid = ANY(ARRAY(
      SELECT ctid FROM "UncountedEvent" LIMIT :limit FOR UPDATE SKIP LOCKED
    )) RETURNING "tenantId", "day", "kind", "method"
  ), counted AS (
    INSERT INTO "DailyCount" ("tenantId", "day", "kind", "method", "count")
    SELECT "tenantId", "day", "kind", "method", count(*) FROM taken GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
    ON CONFLICT ("tenantId", "day", "kind", "method") DO UPDATE SET "count" = "DailyCount"."count" + EXCLUDED."count"
  )
  SELECT count(*)::int AS "counted" FROM taken`

/** Adds up to `limit` events of all tenants to the counters of their days, in one statement. Returns how many. */
export const countEvents = async (db: Db, limit: number): Promise<number> =>
  (await db.one(COUNT_EVENTS, { limit }))?.counted ?? 0
