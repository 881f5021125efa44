import type { CursorKey, Paging } from '../schema/page.ts'
import type { SqlValues } from './prepared-query.ts'

/**
 * Collects the values of a statement. `bind(value)` adds a value and returns its parameter; `$1` is the
 * tenant.
 */
export type BindParameter = ((value: unknown) => string) & { values: SqlValues }

export function createBinder(tenant: string): BindParameter {
  const values: SqlValues = [tenant]
  return Object.assign((value: unknown) => `$${values.push(value)}`, { values })
}

/**
 * Hides the values of a statement that is prepared from the planner. It would find a plan for them cheaper than one for
 * any values, because it knows the frequent tenants, and plan the statement each time.
 */
export const hideValues = (bind: BindParameter): BindParameter =>
  Object.assign((value: unknown) => hideParameter(bind(value)), { values: bind.values })

/** A parameter whose value the planner does not look up in the statistics. */
export const hideParameter = (parameter: string): string => `(SELECT ${parameter})`

/**
 * The order of a list, as its index has it. Rows with equal values are ordered by id in the same direction.
 */
export type KeysetOrder = {
  /** SQL of the value; null when the order is by id alone. */
  value: string | null
  /** SQL of the id. */
  id: string
  /** The type to which the text of a cursor is cast. */
  type?: 'text' | 'timestamptz'
  /** Rows without a value come last in both directions. */
  nullable?: boolean
  /** Values are unique, so that the index need not contain the id. */
  unique?: boolean
  descending?: boolean
  /** SQL of the bounds that the filter sets on the value: at least `from`, less than `before`. */
  from?: string
  before?: string
}

/** FROM and WHERE of the rows. They contain `"tenantId" = $1`. */
export type KeysetSource = {
  from: string
  where: string
  /** SQL of further columns besides `id` and `value`. */
  columns?: string
  /** SQL of a few rows, for each of which a separate scan runs; FROM and WHERE may refer to them. */
  each?: string
}

const isBackward = (paging: Paging): boolean => paging.mode === 'cursor' && paging.backward
const getSeekKey = (paging: Paging): CursorKey | null => (paging.mode === 'cursor' ? paging.seek : null)

/** The direction of the index scan. A page before a cursor is read backward. */
const getSqlDirection = (order: KeysetOrder, paging: Paging): 'ASC' | 'DESC' =>
  (order.descending ?? false) === isBackward(paging) ? 'ASC' : 'DESC'

/** The condition on rows beyond the seek key. */
function buildSeekCondition(
  order: KeysetOrder,
  { value, id }: CursorKey,
  direction: string,
  bind: BindParameter,
): string {
  const than = direction === 'ASC' ? '>' : '<'
  if (order.value === null || value === null) return `${order.id} ${than} ${bind(id)}::text`
  const from = `${bind(value)}::${order.type ?? 'text'}`
  // A row comparison is one position in the index, also when many rows share the value.
  return order.unique
    ? `${order.value} ${than} ${from}`
    : `(${order.value}, ${order.id}) ${than} (${from}, ${bind(id)}::text)`
}

/**
 * Conditions of the filter's bounds. The bound that the seek key already satisfies is left out of the index
 * condition.
 */
export function buildBounds({ value, from, before }: KeysetOrder, sought?: 'ASC' | 'DESC'): string[] {
  return [
    // A bound parameter must occur in the text.
    ...(from ? [sought === 'ASC' ? `${from} IS NOT NULL` : `${value} >= ${from}`] : []),
    ...(before ? [sought === 'DESC' ? `${before} IS NOT NULL` : `${value} < ${before}`] : []),
  ]
}

/**
 * One index scan over the rows that have a value, or over those without one. The index of a unique order has values only:
 * without the ids, rows before a page by offset are not read.
 */
function buildScan(
  source: KeysetSource,
  order: KeysetOrder,
  paging: Paging,
  bind: BindParameter,
  { hasValue, hasId }: { hasValue: boolean; hasId: boolean },
): string {
  const direction = getSqlDirection(order, paging)
  const seek = getSeekKey(paging)
  const isSought = seek !== null && (order.value === null || (seek.value !== null) === hasValue)
  const conditions = [
    source.where,
    ...(hasValue ? buildBounds(order, isSought ? direction : undefined) : [`${order.value} IS NULL`]),
    ...(isSought ? [buildSeekCondition(order, seek, direction, bind)] : []),
    ...(hasValue && order.nullable && !isSought ? [`${order.value} IS NOT NULL`] : []),
  ]
  const keys = order.value === null ? [] : [order.value]
  const by = order.unique && hasValue ? keys : [...keys, order.id]
  const columns = [
    `${hasId || !hasValue ? order.id : 'NULL::text'} AS "id"`,
    `${order.value ?? 'NULL::text'} AS "value"`,
    ...(source.columns ? [source.columns] : []),
  ]
  return `SELECT ${columns.join(', ')} FROM ${source.from} WHERE ${conditions.join(' AND ')}
    ORDER BY ${by.map((key) => `${key} ${direction}`).join(', ')}`
}

/** The scans in list order: rows without a value come last, or first in a backward read. */
function buildScans(
  source: KeysetSource,
  order: KeysetOrder,
  paging: Paging,
  bind: BindParameter,
  hasId: boolean,
): string[] {
  const isMixed = order.nullable && order.from === undefined && order.before === undefined
  const parts = isMixed ? [true, false] : [true]
  if (isBackward(paging)) parts.reverse()
  const seek = getSeekKey(paging)
  const start = isMixed && seek ? parts.indexOf(seek.value !== null) : 0
  return parts.slice(start).map((hasValue) => buildScan(source, order, paging, bind, { hasValue, hasId }))
}

/** Rows of a list, counted from its start or its end. */
export type RowWindow = { offset: number; limit: number }

/** The page sizes that most callers use. */
const COMMON_SIZES = new Set([10, 20, 25, 50, 100])

/**
 * SQL of the number of rows. Of a parameter, the planner expects a tenth of the table, so that it would plan a prepared
 * statement anew each time.
 */
const buildLimit = (rows: number, bind: BindParameter): string =>
  COMMON_SIZES.has(rows - 1) ? String(rows) : `${bind(rows)}::int`

/**
 * The scans of a page by offset. Each skips its rows by itself: rows that are skipped behind their union cost a tenth more. The
 * rows of the first scan are counted only if the page is not full without the second one.
 */
const buildSkippingScans = ([first, ...others]: string[], offset: string, limit: string): string[] => [
  `(${first} OFFSET ${offset} LIMIT ${limit})`,
  ...others.map(
    (arm) =>
      `(${arm} OFFSET ${offset} - (SELECT count(*) FROM (${first} LIMIT ${offset}) skipped) LIMIT ${limit})`,
  ),
]

/**
 * SELECT of one page and one extra row: `id`, `value` and the columns of the source, from the index in list
 * order (in reverse for a page before a cursor, as `toPageRows` expects). By cursor it reads only the page;
 * by offset it reads the index up to the page, so leave `columns` out and join the rows. The outer statement
 * must order by `buildKeysetSort`. With `fromEnd`, the window of a page by offset, the index is read from the end of the list.
 * Timestamps must be timestamptz(3), the precision of JavaScript. Send it by `unpreparedSql`: a generic plan may sort instead of
 * using the index.
 */
export function buildKeysetPage(
  source: KeysetSource,
  order: KeysetOrder,
  paging: Paging,
  bind: BindParameter,
  fromEnd?: RowWindow,
): string {
  const scanned: Paging = fromEnd
    ? { mode: 'cursor', pageSize: paging.pageSize, backward: true, seek: null, limit: paging.limit }
    : paging
  const isByValue = paging.mode === 'offset' && order.unique === true
  const arms = buildScans(source, order, scanned, bind, !isByValue)
  const skipped = fromEnd?.offset ?? (paging.mode === 'offset' ? paging.page * paging.pageSize : null)
  const offset = skipped === null ? null : `${bind(skipped)}::bigint`
  const limit = fromEnd ? `${bind(fromEnd.limit)}::int` : buildLimit(paging.pageSize + 1, bind)
  const needed = offset ? `${offset} + ${limit}` : limit
  const { each } = source
  const [first, ...others] = arms
  // The planner knows the order of one scan, and does not sort its rows again.
  if (others.length === 0 && !each) return `${first} ${offset ? `OFFSET ${offset} ` : ''}LIMIT ${limit}`
  const isSkipping = offset !== null && !each
  // A limit on each scan keeps their order: the first scan is read first.
  const bounded = isSkipping
    ? buildSkippingScans(arms, offset, limit)
    : arms.map((arm) =>
        each
          ? `(SELECT k.* FROM ${each}, LATERAL (${arm} LIMIT ${needed}) k ORDER BY ${buildKeysetSort(order, scanned, 'k')} LIMIT ${needed})`
          : `(${arm} LIMIT ${needed})`,
      )
  const page = `SELECT * FROM (${bounded.join(' UNION ALL ')}) "arms" ${offset && !isSkipping ? `OFFSET ${offset} ` : ''}LIMIT ${limit}`
  return isByValue
    ? `SELECT COALESCE(p."id", (SELECT ${order.id} FROM ${source.from} WHERE ${source.where} AND ${order.value} = p."value")) AS "id", p."value" FROM (${page}) p`
    : page
}

/** ORDER BY of the rows of `buildKeysetPage`; `keys` is its alias in FROM. */
export function buildKeysetSort(order: KeysetOrder, paging: Paging, keys: string): string {
  const direction = getSqlDirection(order, paging)
  if (order.value === null) return `${keys}."id" ${direction}`
  const nulls = isBackward(paging) ? 'DESC' : 'ASC'
  return `(${keys}."value" IS NULL) ${nulls}, ${keys}."value" ${direction}, ${keys}."id" ${direction}`
}

/** The cursor key of a row of `buildKeysetPage`. */
export const toCursorKey = ({ id, value }: { id: string; value: Date | string | null }): CursorKey => ({
  id,
  value: value instanceof Date ? value.toISOString() : value,
})
