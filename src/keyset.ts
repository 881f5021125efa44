import type { SqlValues } from './db.ts'
import type { CursorKey, Paging } from './page.ts'

/** Collects the values of a statement. `bind(value)` is the parameter that stands for it; `$1` is the tenant. */
export type Bind = ((value: unknown) => string) & { values: SqlValues }

export function binder(tenant: string): Bind {
  const values: SqlValues = [tenant]
  return Object.assign((value: unknown) => `$${values.push(value)}`, { values })
}

/** What a list is ordered by, all as its index has it. The id decides between equal values, in the same direction. */
export type KeysetOrder = {
  /** SQL of the value; null when the order is by id alone. */
  value: string | null
  /** SQL of the id. */
  id: string
  /** What the text in a cursor is cast to. */
  type?: 'text' | 'timestamptz'
  /** Rows without a value come last, whichever the direction. */
  nullable?: boolean
  /** No two rows have one value: the index need not hold the id. */
  unique?: boolean
  descending?: boolean
  /** SQL of bounds that the filter sets to the value: at least `from`, less than `before`. */
  from?: string
  before?: string
}

/** Where the rows come from: FROM and WHERE of a statement that says `"tenantId" = $1`. */
export type KeysetSource = {
  from: string
  where: string
  /** What is read of each row besides `id` and `value`, as a list of SQL. */
  columns?: string
  /** A few rows, each of which has a scan of its own; FROM and WHERE may refer to them. */
  each?: string
}

const isBackward = (paging: Paging): boolean => paging.mode === 'cursor' && paging.backward
const seekOf = (paging: Paging): CursorKey | null => (paging.mode === 'cursor' ? paging.seek : null)

/** Which way the index is read: a page before a cursor is read from the cursor back. */
const directionOf = (order: KeysetOrder, paging: Paging): 'ASC' | 'DESC' =>
  (order.descending ?? false) === isBackward(paging) ? 'ASC' : 'DESC'

/** What the rows beyond the seek have in common. */
function beyond(order: KeysetOrder, { value, id }: CursorKey, direction: string, bind: Bind): string {
  const than = direction === 'ASC' ? '>' : '<'
  if (order.value === null || value === null) return `${order.id} ${than} ${bind(id)}::text`
  const from = `${bind(value)}::${order.type ?? 'text'}`
  // One comparison of rows is one position in the index, however many rows share the value.
  return order.unique
    ? `${order.value} ${than} ${from}`
    : `(${order.value}, ${order.id}) ${than} (${from}, ${bind(id)}::text)`
}

/** The filter's bounds. The one that the seek lies within says nothing more, and hides it from the index scan. */
export function boundsOf({ value, from, before }: KeysetOrder, sought?: 'ASC' | 'DESC'): string[] {
  return [
    // A parameter that is bound has to stand somewhere.
    ...(from ? [sought === 'ASC' ? `${from} IS NOT NULL` : `${value} >= ${from}`] : []),
    ...(before ? [sought === 'DESC' ? `${before} IS NOT NULL` : `${value} < ${before}`] : []),
  ]
}

/** The rows that have a value, or those that have none, as one scan of an index. */
function scan(
  source: KeysetSource,
  order: KeysetOrder,
  paging: Paging,
  bind: Bind,
  hasValue: boolean,
): string {
  const direction = directionOf(order, paging)
  const seek = seekOf(paging)
  const isSought = seek !== null && (order.value === null || (seek.value !== null) === hasValue)
  const conditions = [
    source.where,
    ...(hasValue ? boundsOf(order, isSought ? direction : undefined) : [`${order.value} IS NULL`]),
    ...(isSought ? [beyond(order, seek, direction, bind)] : []),
    ...(hasValue && order.nullable && !isSought ? [`${order.value} IS NOT NULL`] : []),
  ]
  const keys = order.value === null ? [] : [order.value]
  const by = order.unique && hasValue ? keys : [...keys, order.id]
  const columns = [
    `${order.id} AS "id"`,
    `${order.value ?? 'NULL::text'} AS "value"`,
    ...(source.columns ? [source.columns] : []),
  ]
  return `SELECT ${columns.join(', ')} FROM ${source.from} WHERE ${conditions.join(' AND ')}
    ORDER BY ${by.map((key) => `${key} ${direction}`).join(', ')}`
}

/** Scans in the order of the list: rows without a value last, or first where the list is read from its end. */
function scans(source: KeysetSource, order: KeysetOrder, paging: Paging, bind: Bind): string[] {
  const isMixed = order.nullable && order.from === undefined && order.before === undefined
  const parts = isMixed ? [true, false] : [true]
  if (isBackward(paging)) parts.reverse()
  const seek = seekOf(paging)
  const start = isMixed && seek ? parts.indexOf(seek.value !== null) : 0
  return parts.slice(start).map((hasValue) => scan(source, order, paging, bind, hasValue))
}

/**
 * SELECT of one page and one row more: `id`, `value` and the source's columns, out of the index in the order of the list
 * (backwards for a page before a cursor, as `toPageRows` wants it). By cursor it reads no more than the page, wherever
 * that is; by offset, the index up to there: leave `columns` out then, and join the rows to it. Whatever it is part of
 * has to order by `keysetSort`. A timestamp must have the precision of JavaScript's, timestamptz(3). Send it by
 * `plannedSql`: for a tenth of the rows of a tenant of average size, which PostgreSQL takes the parameters for, sorting
 * can look better than the index.
 */
export function keysetPage(source: KeysetSource, order: KeysetOrder, paging: Paging, bind: Bind): string {
  const arms = scans(source, order, paging, bind)
  const offset = paging.mode === 'offset' ? `${bind(paging.page * paging.pageSize)}::bigint` : null
  const limit = `${bind(paging.pageSize + 1)}::int`
  const needed = offset ? `${offset} + ${limit}` : limit
  const { each } = source
  // With a limit of their own, scans are not run side by side: what comes first is read first.
  const bounded = arms.map((arm) =>
    each
      ? `(SELECT k.* FROM ${each}, LATERAL (${arm} LIMIT ${needed}) k ORDER BY ${keysetSort(order, paging, 'k')} LIMIT ${needed})`
      : `(${arm} LIMIT ${needed})`,
  )
  return `SELECT * FROM (${bounded.join(' UNION ALL ')}) "arms" ${offset ? `OFFSET ${offset} ` : ''}LIMIT ${limit}`
}

/** ORDER BY of the rows of `keysetPage`: `keys` is the name that it was given in FROM. */
export function keysetSort(order: KeysetOrder, paging: Paging, keys: string): string {
  const direction = directionOf(order, paging)
  if (order.value === null) return `${keys}."id" ${direction}`
  const nulls = isBackward(paging) ? 'DESC' : 'ASC'
  return `(${keys}."value" IS NULL) ${nulls}, ${keys}."value" ${direction}, ${keys}."id" ${direction}`
}

/** What a cursor keeps of a row of `keysetPage`. */
export const keyOf = ({ id, value }: { id: string; value: Date | string | null }): CursorKey => ({
  id,
  value: value instanceof Date ? value.toISOString() : value,
})
