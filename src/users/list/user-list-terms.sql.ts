import type { BindParameter, KeysetOrder } from '../../database/keyset.ts'
import {
  buildEntriesSql,
  buildHasOthersSql,
  buildTermCtes,
  buildTermDriver,
  type TermDriver,
} from '../../database/lists/term-lists.ts'
import type { Paging } from '../../schema/page.ts'
import { MAX_SORTED, type UserFilter } from './user-filter.fields.ts'
import { TERM_RANGES, USER_TERMS } from './user-list-conditions.sql.ts'

/**
 * A list as SQL: its WITH clause and the source of ids. `isUser` says that the source is the table of users,
 * as u.
 */
export type ListDriver = TermDriver & {
  isUser: boolean
  /** SQL of whether the list is too long to be sorted. */
  isOver?: string
}

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
    ) s WHERE NOT ${isOver} AND ${buildHasOthersSql(USER_TERMS)}`
  return {
    isUser: false,
    isOver,
    ctes: [
      ...buildTermCtes(USER_TERMS, TERM_RANGES.search(filter, bind), null, bind),
      `"entries" AS MATERIALIZED (${buildEntriesSql(USER_TERMS)} LIMIT ${MAX_SORTED + 1})`,
      `"found" AS MATERIALIZED (${found})`,
    ],
    order: { ...order, value: 'f."value"', id: 'f."id"' },
    source: { from: '"found" f', where: 'true' },
  }
}

/** Users by the terms that triggers maintain. A path of appMetadata and its value form one term. */
export const buildUserTermDriver = (
  kind: 'search' | 'appMetadata',
  filter: UserFilter,
  paging: Paging | null,
  bind: BindParameter,
): ListDriver => ({
  isUser: false,
  ...buildTermDriver(
    USER_TERMS,
    { ranges: TERM_RANGES[kind](filter, bind), isRange: kind === 'search' },
    paging,
    bind,
  ),
})
