import type { SqlValues } from './db.ts'
import { type CursorKey, MAX_PAGE_SIZE, type Paging } from './page.ts'

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
  type: 'text' | 'timestamptz'
  /** Rows without a value come last, whichever the direction. */
  nullable?: boolean
  /** No two rows have one value: the index need not hold the id. */
  unique?: boolean
  descending?: boolean
  /** SQL of bounds of the value that the filter sets. */
  from?: string
  before?: string
}

/** Rows of the index: FROM and WHERE of a statement, which says `"tenantId" = $1`. */
export type KeysetSource = { from: string; where: string }

const isBackward = (paging: Paging): boolean => paging.mode === 'cursor' && paging.backward
const seekOf = (paging: Paging): CursorKey | null => (paging.mode === 'cursor' ? paging.seek : null)

/** Which way the index is read: a page before a cursor is read from the cursor back. */
const directionOf = (order: KeysetOrder, paging: Paging): 'ASC' | 'DESC' =>
  (order.descending ?? false) === isBackward(paging) ? 'ASC' : 'DESC'

/** What the rows beyond the seek have in common. It stands in for the filter's bound on its side, being narrower. */
function beyond(order: KeysetOrder, { value, id }: CursorKey, direction: string, bind: Bind): string {
  const than = direction === 'ASC' ? '>' : '<'
  if (order.value === null || value === null) return `${order.id} ${than} ${bind(id)}::text`
  const from = `${bind(value)}::${order.type}`
  // One comparison of rows is one position in the index, however many rows share the value.
  return order.unique
    ? `${order.value} ${than} ${from}`
    : `(${order.value}, ${order.id}) ${than} (${from}, ${bind(id)}::text)`
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
  const conditions = [source.where]
  if (order.nullable && !hasValue) conditions.push(`${order.value} IS NULL`)
  const isBounded = isSought && hasValue
  const { from, before } = order
  if (hasValue && from && !(isBounded && direction === 'ASC')) conditions.push(`${order.value} >= ${from}`)
  if (hasValue && before && !(isBounded && direction === 'DESC'))
    conditions.push(`${order.value} < ${before}`)
  if (isSought) conditions.push(beyond(order, seek, direction, bind))
  else if (order.nullable && hasValue && !from && !before) conditions.push(`${order.value} IS NOT NULL`)
  const keys = order.value === null ? [] : [order.value]
  const by = order.unique && hasValue ? keys : [...keys, order.id]
  return `SELECT ${order.id} AS "id", ${order.value ?? 'NULL::text'} AS "value" FROM ${source.from}
    WHERE ${conditions.join(' AND ')} ORDER BY ${by.map((key) => `${key} ${direction}`).join(', ')}`
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
 * A subquery of one page, and one row more: `id` and `value`, read out of the index in the order of the list (backwards
 * for a page before a cursor, as `toPage` wants it). By cursor it reads no more than the page, wherever that is; by
 * offset, the index up to there. Join the rows to it by `id`, and order the whole by `keysetSort`, as a join keeps no
 * order. `order.value` of a timestamp must have the precision of JavaScript's, timestamptz(3).
 */
export function keysetPage(source: KeysetSource, order: KeysetOrder, paging: Paging, bind: Bind): string {
  // The planner takes a parameter for a tenth of the rows, so that a plan for many pages is told the largest.
  const most = paging.mode === 'cursor' ? `${MAX_PAGE_SIZE + 1}` : null
  const offset = paging.mode === 'offset' ? `${bind(paging.page * paging.pageSize)}::bigint` : null
  const limit = `${bind(paging.pageSize + 1)}::int`
  // A limit of their own keeps the scans from being read side by side: what comes first is read first.
  const arms = scans(source, order, paging, bind).map(
    (arm) => `(${arm} LIMIT ${most ?? `${offset} + ${limit}`})`,
  )
  return `SELECT "id", "value" FROM (${arms.join(' UNION ALL ')}) "arms" ${offset ? `OFFSET ${offset} ` : ''}LIMIT ${limit}`
}

/** ORDER BY of the rows of a page that `keysetPage` read: `keys` is the name that the subquery was given. */
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
