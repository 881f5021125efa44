import type { BindParameter, KeysetOrder, KeysetSource } from '../../database/keyset.ts'
import type { Paging } from '../../schema/page.ts'
import { MAX_SORTED, type UserFilter } from './user-filter.fields.ts'
import { buildHasTermSql, TERM_RANGES } from './user-list-conditions.sql.ts'

/**
 * A list as SQL: its WITH clause and the source of ids. `isUser` says that the source is the table of users,
 * as u.
 */
export type ListDriver = {
  ctes: string[]
  source: KeysetSource
  order: KeysetOrder
  isUser: boolean
  /** SQL of whether the list is too long to be sorted. */
  isOver?: string
}

/** Terms of more users than this count as equally frequent, which bounds the cost of counting. */
const FREQUENT_TERM_USERS = 5000

/**
 * The term by which a list is read: the rarest, so that few users are tested for the other terms; among
 * equally rare terms the longest. With a cursor, it is the term of the cursor.
 */
function buildDriveSql(paging: Paging | null, bind: BindParameter): string {
  const seek = paging?.mode === 'cursor' ? paging.seek : null
  if (seek)
    return `SELECT w."low", w."high" FROM "wanted" w WHERE starts_with(${bind(seek.value)}::text, w."low")`
  return `SELECT w."low", w."high" FROM "wanted" w ORDER BY
    CASE WHEN (SELECT count(*) FROM "wanted") > 1 THEN (
      SELECT count(*) FROM (
        SELECT FROM "UserTerm" c WHERE c."tenantId" = $1 AND c."term" >= w."low" AND c."term" < w."high" LIMIT ${FREQUENT_TERM_USERS}
      ) found) END, length(w."low") DESC, w."low" LIMIT 1`
}

const [LOW, HIGH] = ['(SELECT "low" FROM "drive")', '(SELECT "high" FROM "drive")']
const HAS_OTHERS = `NOT EXISTS (SELECT FROM "wanted" w WHERE w."low" <> ${LOW} AND NOT ${buildHasTermSql('t."userId"', 'w."low"', 'w."high"')} OFFSET 0)`
/** In index order: the planner does not know that the range is short, and would read the table otherwise. */
const ENTRIES = `SELECT "userId" FROM "UserTerm" WHERE "tenantId" = $1 AND "term" >= ${LOW} AND "term" < ${HIGH} ORDER BY "term", "userId"`

const buildTermCtes = (
  kind: 'search' | 'appMetadata',
  filter: UserFilter,
  paging: Paging | null,
  bind: BindParameter,
): string[] => [
  `"wanted" AS MATERIALIZED (${TERM_RANGES[kind](filter, bind)})`,
  `"drive" AS MATERIALIZED (${buildDriveSql(paging, bind)})`,
]

/**
 * Users of a search in another order than that of the words. No index has both, so that all of them are read and sorted;
 * none is where there are more than MAX_SORTED.
 */
export function buildSortedSearchDriver(
  filter: UserFilter,
  { value, ...order }: KeysetOrder,
  bind: BindParameter,
): ListDriver {
  const isOver = `(SELECT count(*) > ${MAX_SORTED} FROM "entries")`
  // One look into the index for each user: OFFSET keeps the planner from reading all users instead.
  const found = `SELECT s."id", s."value" FROM (SELECT DISTINCT "userId" FROM "entries") t, LATERAL (
      SELECT u."id", ${value} AS "value" FROM "User" u WHERE u."tenantId" = $1 AND u."id" = t."userId" OFFSET 0
    ) s WHERE NOT ${isOver} AND ${HAS_OTHERS}`
  return {
    isUser: false,
    isOver,
    ctes: [
      ...buildTermCtes('search', filter, null, bind),
      `"entries" AS MATERIALIZED (${ENTRIES} LIMIT ${MAX_SORTED + 1})`,
      `"found" AS MATERIALIZED (${found})`,
    ],
    order: { ...order, value: 'f."value"', id: 'f."id"' },
    source: { from: '"found" f', where: 'true' },
  }
}

/**
 * Users by the terms that triggers maintain, in order of term and id. A user with several terms of the range
 * appears by the first. Without `paging`, for the count, each user appears once in no order, which costs a
 * tenth.
 */
export function buildTermDriver(
  kind: 'search' | 'appMetadata',
  filter: UserFilter,
  paging: Paging | null,
  bind: BindParameter,
): ListDriver {
  const ctes = buildTermCtes(kind, filter, paging, bind)
  if (!paging) {
    const found = ENTRIES
    const once = `(SELECT DISTINCT "userId" FROM (${found} LIMIT ALL OFFSET 0) found)`
    return {
      isUser: false,
      ctes,
      order: { value: null, id: 't."userId"' },
      source: { from: `${once} t`, where: HAS_OTHERS },
    }
  }
  const isFirst = `NOT ${buildHasTermSql('t."userId"', LOW, 't."term"')}`
  return {
    isUser: false,
    ctes,
    order: { value: 't."term"', id: 't."userId"', from: LOW, before: HIGH },
    source: {
      from: '"UserTerm" t',
      // A path and its value form one term.
      where: ['t."tenantId" = $1', ...(kind === 'search' ? [isFirst] : []), HAS_OTHERS].join(' AND '),
    },
  }
}
