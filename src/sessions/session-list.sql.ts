import type { Sql } from '../db.ts'
import { type Bind, binder, boundsOf, type KeysetOrder, keysetPage, keysetSort } from '../keyset.ts'
import type { Paging } from '../page.ts'
import type { FilterMember, SessionFilter } from './session-list.fields.ts'
import type { ListOrder } from './session-list-choice.ts'
import { type SessionRow, sessionColumns, sessionOf } from './sessions.sql.ts'

/** What to read: a checked filter with one of SESSION_LISTS that it fits. */
export type SessionListQuery = { filter: SessionFilter; order: ListOrder; descending: boolean; now: Date }

const ID = 'k."id"'
const ORDERS: Record<ListOrder, KeysetOrder> = {
  id: { value: null, id: ID },
  createdAt: { value: 'k."createdAt"', id: ID, type: 'timestamptz' },
  lastSeenAt: { value: 'k."lastSeenAt"', id: ID, type: 'timestamptz', nullable: true },
}
const COLUMNS = { userId: 'k."userId"', clientId: 'k."clientId"', ip: 'k."lastSeenIp"' } as const

/** The order with the bounds that a range over the same column sets: a part of the index. */
function orderOf({ filter, order, descending }: SessionListQuery, bind: Bind): KeysetOrder {
  const range = order === 'id' ? undefined : filter[order]
  const bound = (at: Date | null | undefined) => (at ? `${bind(at)}::timestamptz` : undefined)
  return { ...ORDERS[order], descending, from: bound(range?.gte), before: bound(range?.lt) }
}

/** Active sessions that the rest of the filter lets through. */
function sourceOf({ filter, order, now }: SessionListQuery, bind: Bind) {
  const conditions = [`k."tenantId" = $1`, `k."endedAt" IS NULL`, `k."expiresAt" > ${bind(now)}::timestamptz`]
  for (const member of Object.keys(filter) as FilterMember[]) {
    if (member === 'createdAt' || member === 'lastSeenAt') {
      if (member === order) continue
      const { gte, lt } = filter[member] ?? {}
      if (gte) conditions.push(`k."${member}" >= ${bind(gte)}::timestamptz`)
      if (lt) conditions.push(`k."${member}" < ${bind(lt)}::timestamptz`)
    } else conditions.push(`${COLUMNS[member]} = ${bind(filter[member])}::text`)
  }
  return { from: '"Session" k', where: conditions.join(' AND ') }
}

/** A page of sessions with what the list is ordered by, as `toPage` wants them. One statement. */
export async function selectSessionPage(
  sql: Sql,
  tenant: string,
  query: SessionListQuery,
  paging: Paging,
): Promise<{ session: SessionRow; value: Date | null }[]> {
  const bind = binder(tenant)
  const order = orderOf(query, bind)
  const text = `SELECT p."value" AS "value", ${sessionColumns('s')}
    FROM (${keysetPage(sourceOf(query, bind), order, paging, bind)}) p
    JOIN "Session" s ON s."tenantId" = $1 AND s."id" = p."id" ORDER BY ${keysetSort(order, paging, 'p')}`
  const rows = await sql<Record<string, unknown>>(text, bind.values)
  return rows.map((row) => ({ session: sessionOf(row), value: row.value as Date | null }))
}

/** How many sessions a list has. */
export async function countSessions(sql: Sql, tenant: string, query: SessionListQuery): Promise<number> {
  const bind = binder(tenant)
  const source = sourceOf(query, bind)
  const bounds = boundsOf(orderOf(query, bind))
  const text = `SELECT count(*)::text AS "count" FROM ${source.from} WHERE ${[source.where, ...bounds].join(' AND ')}`
  const [row] = await sql<{ count: string }>(text, bind.values)
  return Number(row?.count ?? 0)
}
