import type { Db } from '../../database/handle.ts'
import type { BindParameter } from '../../database/keyset.ts'
import { statement } from '../../database/statement.ts'

/** Sorts after every id, in the collation C. */
const AFTER_ALL_IDS = `'~'`

/**
 * SELECT of a page of all users by offset, in order of id: `id` and `value`, which is null. It skips the ranges before the
 * page by their counts and reads the index from the range on in which the page begins. Ranges and users are read in one
 * snapshot, so that the page is exact.
 */
export function buildPageByRanges(
  { offset, limit, descending }: { offset: number; limit: number; descending: boolean },
  bind: BindParameter,
): string {
  const [skipped, count] = [`${bind(offset)}::bigint`, `${bind(limit)}::int`]
  const direction = descending ? 'DESC' : 'ASC'
  const bound = descending ? `u."id" < COALESCE(r."end", ${AFTER_ALL_IDS})` : `u."id" >= r."start"`
  // Of ranges without users, the last one in the direction of the list.
  return `SELECT p."id", NULL::text AS "value" FROM (
      SELECT * FROM (
        SELECT "start", ${descending ? 'lag("start") OVER byId' : 'NULL::text'} AS "end",
          sum(sum("users")::int) OVER byId - sum("users")::int AS "before"
        FROM "UserRange" WHERE "tenantId" = $1 GROUP BY "start" WINDOW byId AS (ORDER BY "start" ${direction})
        UNION ALL SELECT '', NULL, 0
      ) ranges WHERE "before" <= ${skipped} ORDER BY "before" DESC, "start" ${descending ? 'ASC' : 'DESC'} LIMIT 1
    ) r, LATERAL (
      SELECT u."id" FROM "User" u WHERE u."tenantId" = $1 AND ${bound}
      ORDER BY u."id" ${direction} OFFSET ${skipped} - r."before" LIMIT ${count}
    ) p`
}

const SELECT_UNEVEN = statement({
  takes: { limit: 'int', largest: 'int' },
  returns: { tenantId: 'text', start: 'text' },
})`
  SELECT "tenantId", "start" FROM "UserRange" WHERE :tenant = 'system'
  GROUP BY "tenantId", "start"
  HAVING sum("users") > :largest OR (sum("users") = 0 AND "start" <> '')
  ORDER BY sum("users") DESC LIMIT :limit`

/** A range to divide, or an empty one to remove. */
export type UnevenRange = { tenantId: string; start: string }

/** Ranges with more than `largest` users, the largest ones first, then ranges without users. */
export const selectUnevenRanges = (
  db: Db,
  values: { largest: number; limit: number },
): Promise<UnevenRange[]> => db.many(SELECT_UNEVEN, { ...values })

const TRY_LOCK = statement({ returns: { isLocked: 'boolean' } })`
  SELECT pg_try_advisory_xact_lock(user_ranges_key("tenantId")) AS "isLocked" FROM "Tenant" WHERE "tenantId" = :tenant`

/** Locks the ranges of a tenant until the transaction ends; false while a transaction that changes them is open. */
export const tryLockRanges = async (db: Db): Promise<boolean> => (await db.one(TRY_LOCK))?.isLocked === true

const DELETE_RANGE = statement({ takes: { start: 'text' } })`
  DELETE FROM "UserRange" WHERE "tenantId" = :tenant AND "start" = :start`

const INSERT_RANGES = statement({ takes: { start: 'text', size: 'int' } })`
  INSERT INTO "UserRange" ("tenantId", "start", "slot", "users")
  SELECT :tenant, CASE WHEN "range" = 0 THEN :start ELSE min("id") END, 0, count(*) FROM (
    SELECT u."id", (row_number() OVER (ORDER BY u."id") - 1) / :size AS "range" FROM "User" u
    WHERE u."tenantId" = :tenant AND u."id" >= :start AND u."id" < COALESCE((
      SELECT min(r."start") FROM "UserRange" r WHERE r."tenantId" = :tenant AND r."start" > :start
    ), ${AFTER_ALL_IDS})
  ) u GROUP BY "range"`

/**
 * Divides a range into ranges of `size` users each; removes a range without users. Two statements, in a transaction that
 * has locked the ranges.
 */
export async function divideRange(db: Db, { start }: UnevenRange, size: number): Promise<void> {
  await db.run(DELETE_RANGE, { start })
  await db.run(INSERT_RANGES, { start, size })
}
