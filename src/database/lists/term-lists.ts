import type { Paging } from '../../schema/page.ts'
import type { BindParameter, KeysetOrder, KeysetSource } from '../keyset.ts'

/** A table of terms, which triggers maintain, by which objects are found; `id` is the column with the object. */
export type TermTable = { table: string; id: string }

/** A list as SQL: its WITH clause and the source of ids. */
export type TermDriver = { ctes: string[]; source: KeysetSource; order: KeysetOrder }

/** Behind every text that begins with what stands before it, as terms collate "C". */
export const LAST_CHARACTER = '\u{10ffff}'

/** Terms of more objects than this count as equally frequent, which bounds the cost of counting. */
const FREQUENT_TERM = 5000

/**
 * Whether an object has a term of a range: one look into the index. OFFSET keeps the planner from making a join
 * of it.
 */
export const buildHasTermSql = ({ table, id }: TermTable, value: string, low: string, high: string): string =>
  `EXISTS (SELECT FROM "${table}" s WHERE s."tenantId" = $1 AND s."${id}" = ${value} AND s."term" >= ${low} AND s."term" < ${high} OFFSET 0)`

/**
 * The term by which a list is read: the rarest, so that few objects are tested for the other terms; among
 * equally rare terms the longest. With a cursor, it is the term of the cursor.
 */
function buildDriveSql({ table }: TermTable, paging: Paging | null, bind: BindParameter): string {
  const seek = paging?.mode === 'cursor' ? paging.seek : null
  if (seek)
    return `SELECT w."low", w."high" FROM "wanted" w WHERE starts_with(${bind(seek.value)}::text, w."low")`
  return `SELECT w."low", w."high" FROM "wanted" w ORDER BY
    CASE WHEN (SELECT count(*) FROM "wanted") > 1 THEN (
      SELECT count(*) FROM (
        SELECT FROM "${table}" c WHERE c."tenantId" = $1 AND c."term" >= w."low" AND c."term" < w."high" LIMIT ${FREQUENT_TERM}
      ) found) END, length(w."low") DESC, w."low" LIMIT 1`
}

const [LOW, HIGH] = ['(SELECT "low" FROM "drive")', '(SELECT "high" FROM "drive")']

/** The condition that an object has a term of each other range. */
export const buildHasOthersSql = (terms: TermTable): string =>
  `NOT EXISTS (SELECT FROM "wanted" w WHERE w."low" <> ${LOW} AND NOT ${buildHasTermSql(terms, `t."${terms.id}"`, 'w."low"', 'w."high"')} OFFSET 0)`

/** In index order: the planner does not know that the range is short, and would read the table otherwise. */
export const buildEntriesSql = ({ table, id }: TermTable): string =>
  `SELECT "${id}" FROM "${table}" WHERE "tenantId" = $1 AND "term" >= ${LOW} AND "term" < ${HIGH} ORDER BY "term", "${id}"`

/** `wanted` has rows (low, high) of the ranges of terms, of which `ranges` is the SQL; `drive` is one of them. */
export const buildTermCtes = (
  terms: TermTable,
  ranges: string,
  paging: Paging | null,
  bind: BindParameter,
): string[] => [
  `"wanted" AS MATERIALIZED (${ranges})`,
  `"drive" AS MATERIALIZED (${buildDriveSql(terms, paging, bind)})`,
]

/**
 * Objects that have a term of each range, in order of term and id. With `isRange`, an object with several terms of a range
 * appears by the first. Without `paging`, for the count, each object appears once in no order, which costs a tenth.
 */
export function buildTermDriver(
  terms: TermTable,
  { ranges, isRange }: { ranges: string; isRange: boolean },
  paging: Paging | null,
  bind: BindParameter,
): TermDriver {
  const { table, id } = terms
  const ctes = buildTermCtes(terms, ranges, paging, bind)
  if (!paging)
    return {
      ctes,
      order: { value: null, id: `t."${id}"` },
      source: {
        from: `(SELECT DISTINCT "${id}" FROM (${buildEntriesSql(terms)} LIMIT ALL OFFSET 0) found) t`,
        where: buildHasOthersSql(terms),
      },
    }
  const isFirst = `NOT ${buildHasTermSql(terms, `t."${id}"`, LOW, 't."term"')}`
  return {
    ctes,
    order: { value: 't."term"', id: `t."${id}"`, from: LOW, before: HIGH },
    source: {
      from: `"${table}" t`,
      where: ['t."tenantId" = $1', ...(isRange ? [isFirst] : []), buildHasOthersSql(terms)].join(' AND '),
    },
  }
}
