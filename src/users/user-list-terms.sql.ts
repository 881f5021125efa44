import type { Bind, KeysetOrder, KeysetSource } from '../keyset.ts'
import type { Paging } from '../page.ts'
import type { UserFilter } from './user-filter.fields.ts'
import { hasTerm, WANTED } from './user-list-conditions.sql.ts'

/** A list as SQL: its WITH, and where the ids come from. `isUser` where that is the table of users, as u. */
export type Driver = { ctes: string[]; source: KeysetSource; order: KeysetOrder; isUser: boolean }

/** Terms that more users have than this count as equally frequent: finding out costs no more than this. */
const FREQUENT = 5000

/**
 * The term that a list is read by: the rarest, so that few users are looked at to find those who have the others too;
 * of equally rare ones the longest. Where a cursor stands, it is the one that the cursor stands in.
 */
function driveOf(paging: Paging | null, bind: Bind): string {
  const seek = paging?.mode === 'cursor' ? paging.seek : null
  if (seek)
    return `SELECT w."low", w."high" FROM "wanted" w WHERE starts_with(${bind(seek.value)}::text, w."low")`
  return `SELECT w."low", w."high" FROM "wanted" w ORDER BY
    CASE WHEN (SELECT count(*) FROM "wanted") > 1 THEN (
      SELECT count(*) FROM (
        SELECT FROM "UserTerm" c WHERE c."tenantId" = $1 AND c."term" >= w."low" AND c."term" < w."high" LIMIT ${FREQUENT}
      ) found) END, length(w."low") DESC, w."low" LIMIT 1`
}

/**
 * Users by the terms that triggers keep of them, in order of term and id. One who is found by several terms of the range
 * is there by the first. Without `paging`, for their count, each is there once in no order, which takes a tenth.
 */
export function termDriver(
  kind: 'search' | 'appMetadata',
  filter: UserFilter,
  paging: Paging | null,
  bind: Bind,
): Driver {
  const [low, high] = ['(SELECT "low" FROM "drive")', '(SELECT "high" FROM "drive")']
  const ctes = [
    `"wanted" AS MATERIALIZED (${WANTED[kind](filter, bind)})`,
    `"drive" AS MATERIALIZED (${driveOf(paging, bind)})`,
  ]
  const hasOthers = `NOT EXISTS (SELECT FROM "wanted" w WHERE w."low" <> ${low} AND NOT ${hasTerm('t."userId"', 'w."low"', 'w."high"')} OFFSET 0)`
  if (!paging) {
    // In the order of the index, which the planner does not know to be short: it would rather read the table.
    const found = `SELECT "userId" FROM "UserTerm" WHERE "tenantId" = $1 AND "term" >= ${low} AND "term" < ${high} ORDER BY "term", "userId"`
    const once = `(SELECT DISTINCT "userId" FROM (${found} LIMIT ALL OFFSET 0) found)`
    return {
      isUser: false,
      ctes,
      order: { value: null, id: 't."userId"' },
      source: { from: `${once} t`, where: hasOthers },
    }
  }
  const isFirst = `NOT ${hasTerm('t."userId"', low, 't."term"')}`
  return {
    isUser: false,
    ctes,
    order: { value: 't."term"', id: 't."userId"', from: low, before: high },
    source: {
      from: '"UserTerm" t',
      // A path with its value is one term.
      where: ['t."tenantId" = $1', ...(kind === 'search' ? [isFirst] : []), hasOthers].join(' AND '),
    },
  }
}
