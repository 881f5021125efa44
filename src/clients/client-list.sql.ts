import type { Sql } from '../db.ts'
import { Prisma } from '../generated/prisma/client.ts'
import { type Bind, binder, type KeysetOrder, type KeysetSource, keysetPage, keysetSort } from '../keyset.ts'
import type { Paging } from '../page.ts'
import { APP_TYPES, type AppType, type ClientType } from './client-types.ts'
import type { Client } from './clients.ts'

export type ClientListQuery = { type: ClientType | null; appType: AppType | null }

const COLUMNS = Object.keys(Prisma.ClientScalarFieldEnum)
  .map((name) => `s."${name}"`)
  .join(', ')
const BY_ID: KeysetOrder = { value: null, id: 'k."id"' }

const matching = ({ type, appType }: ClientListQuery, bind: Bind): string =>
  [
    `k."tenantId" = $1`,
    ...(type === null ? [] : [`k."type" = ${bind(type)}::text`]),
    ...(appType === null ? [] : [`k."appType" = ${bind(appType)}::text`]),
  ].join(' AND ')

/** An index has each kind of one type in order, not the type as a whole: that is a scan of each. */
function sourceOf(query: ClientListQuery, bind: Bind): KeysetSource {
  const source = { from: '"Client" k', where: matching(query, bind) }
  if (query.type === null || query.appType !== null) return source
  return {
    from: source.from,
    where: `${source.where} AND k."appType" = kinds."appType"`,
    each: `unnest(${bind(APP_TYPES)}::text[]) AS kinds("appType")`,
  }
}

/** A page of clients, as `toPage` wants them. One statement. */
export async function selectClientPage(
  sql: Sql,
  tenant: string,
  query: ClientListQuery,
  paging: Paging,
): Promise<Client[]> {
  const bind = binder(tenant)
  const text = `SELECT ${COLUMNS} FROM (${keysetPage(sourceOf(query, bind), BY_ID, paging, bind)}) p
    JOIN "Client" s ON s."tenantId" = $1 AND s."id" = p."id" ORDER BY ${keysetSort(BY_ID, paging, 'p')}`
  return sql<Client>(text, bind.values)
}

/** How many clients a list has. */
export async function countClients(sql: Sql, tenant: string, query: ClientListQuery): Promise<number> {
  const bind = binder(tenant)
  const text = `SELECT count(*)::text AS "count" FROM "Client" k WHERE ${matching(query, bind)}`
  const [row] = await sql<{ count: string }>(text, bind.values)
  return Number(row?.count ?? 0)
}
