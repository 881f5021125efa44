import type { Db } from '../database/handle.ts'
import {
  type BindParameter,
  buildBounds,
  buildKeysetPage,
  buildKeysetSort,
  createBinder,
  type KeysetOrder,
} from '../database/keyset.ts'
import { bindRange, buildFilterConditions } from '../database/lists/filter-conditions.ts'
import { boundStatement, typed } from '../database/statement.ts'
import type { Paging } from '../schema/page.ts'
import { SESSION_FILTER, type SessionFilter, type SessionListOrder } from './session-list.fields.ts'
import { SESSION_RETURNS, type SessionRow, toSessionColumnList, toSessionRow } from './sessions.sql.ts'

/** A valid filter with its list of SESSION_LISTS. */
export type SessionListQuery = {
  filter: SessionFilter
  order: SessionListOrder
  descending: boolean
  now: Date
}

const ID = 'k."id"'
const KEYSET_ORDERS: Record<SessionListOrder, KeysetOrder> = {
  id: { value: null, id: ID },
  createdAt: { value: 'k."createdAt"', id: ID, type: 'timestamptz' },
  lastSeenAt: { value: 'k."lastSeenAt"', id: ID, type: 'timestamptz', nullable: true },
}
/** The order with the bounds of a range on the same column. */
function buildSessionOrder(
  { filter, order, descending }: SessionListQuery,
  bind: BindParameter,
): KeysetOrder {
  const range = order === 'id' ? undefined : filter[order]
  return {
    ...KEYSET_ORDERS[order],
    ...(filter.organizationId && { id: 'o."sessionId"' }),
    descending,
    ...bindRange(range, bind),
  }
}

/** The condition of active sessions that match the other filter members. */
function buildSessionSource({ filter, order, now }: SessionListQuery, bind: BindParameter) {
  const names = SESSION_FILTER.names.filter((name) => name !== order)
  const conditions = [
    `k."tenantId" = $1`,
    `k."endedAt" IS NULL`,
    `k."expiresAt" > ${bind(now)}::timestamptz`,
    ...buildFilterConditions(SESSION_FILTER, filter, { names, alias: 'k' }, bind),
  ]
  if (filter.organizationId === undefined) return { from: '"Session" k', where: conditions.join(' AND ') }
  conditions.push(
    `o."tenantId" = $1 AND o."organizationId" = ${bind(filter.organizationId)}::text`,
    `EXISTS (SELECT FROM "Membership" m WHERE m."tenantId" = $1 AND m."organizationId" = o."organizationId" AND m."userId" = k."userId")`,
  )
  return {
    from: '"SessionOrganization" o JOIN "Session" k ON k."tenantId" = $1 AND k."id" = o."sessionId"',
    where: conditions.join(' AND '),
  }
}

export function sessionPageStatement(tenant: string, query: SessionListQuery, paging: Paging) {
  const bind = createBinder(tenant)
  const order = buildSessionOrder(query, bind)
  const text = `SELECT p."value" AS "value", ${toSessionColumnList('s')}
    FROM (${buildKeysetPage(buildSessionSource(query, bind), order, paging, bind)}) p
    JOIN "Session" s ON s."tenantId" = $1 AND s."id" = p."id" ORDER BY ${buildKeysetSort(order, paging, 'p')}`
  const value = typed<Date | null>(order.type ?? 'text')
  return boundStatement({ value, ...SESSION_RETURNS }, text, bind.values)
}

/** A page of sessions with the values by which the list is ordered, as `toPage` takes them. One statement. */
export async function selectSessionPage(
  db: Db,
  query: SessionListQuery,
  paging: Paging,
): Promise<{ session: SessionRow; value: Date | null }[]> {
  const rows = await db.list(sessionPageStatement(db.tenant, query, paging), paging.limit)
  return rows.map((row) => ({ session: toSessionRow(row), value: row.value }))
}

export function sessionCountStatement(tenant: string, query: SessionListQuery) {
  const bind = createBinder(tenant)
  const source = buildSessionSource(query, bind)
  const bounds = buildBounds(buildSessionOrder(query, bind))
  const text = `SELECT count(*)::text AS "count" FROM ${source.from} WHERE ${[source.where, ...bounds].join(' AND ')}`
  return boundStatement({ count: 'text' }, text, bind.values)
}

/** Counts the sessions of a list. */
export async function countSessions(db: Db, query: SessionListQuery): Promise<number> {
  const [row] = await db.list(sessionCountStatement(db.tenant, query))
  return Number(row?.count ?? 0)
}
