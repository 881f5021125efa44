import { storedColumns } from '../database/columns.ts'
import type { Db } from '../database/handle.ts'
import {
  type BindParameter,
  buildKeysetPage,
  buildKeysetSort,
  createBinder,
  type KeysetOrder,
  type KeysetSource,
} from '../database/keyset.ts'
import { boundStatement } from '../database/statement.ts'
import { Prisma } from '../generated/prisma/client.ts'
import type { Paging } from '../schema/page.ts'
import { APP_TYPES, type AppType, type ClientType } from './client-types.ts'
import type { Client } from './clients.ts'

export type ClientListQuery = { type: ClientType | null; appType: AppType | null }

const COLUMNS = Object.keys(Prisma.ClientScalarFieldEnum)
  .map((name) => `s."${name}"`)
  .join(', ')
const BY_ID: KeysetOrder = { value: null, id: 'k."id"' }

const buildClientFilterSql = ({ type, appType }: ClientListQuery, bind: BindParameter): string =>
  [
    `k."tenantId" = $1`,
    ...(type === null ? [] : [`k."type" = ${bind(type)}::text`]),
    ...(appType === null ? [] : [`k."appType" = ${bind(appType)}::text`]),
  ].join(' AND ')

/** An index orders the clients of one type and app type, so a list of one type scans each app type. */
function buildClientSource(query: ClientListQuery, bind: BindParameter): KeysetSource {
  const source = { from: '"Client" k', where: buildClientFilterSql(query, bind) }
  if (query.type === null || query.appType !== null) return source
  return {
    from: source.from,
    where: `${source.where} AND k."appType" = kinds."appType"`,
    each: `unnest(${bind(APP_TYPES)}::text[]) AS kinds("appType")`,
  }
}

export function clientPageStatement(tenant: string, query: ClientListQuery, paging: Paging) {
  const bind = createBinder(tenant)
  const text = `SELECT ${COLUMNS} FROM (${buildKeysetPage(buildClientSource(query, bind), BY_ID, paging, bind)}) p
    JOIN "Client" s ON s."tenantId" = $1 AND s."id" = p."id" ORDER BY ${buildKeysetSort(BY_ID, paging, 'p')}`
  return boundStatement(storedColumns('Client'), text, bind.values)
}

/** A page of clients, as `toPage` takes it. One statement. */
export const selectClientPage = (db: Db, query: ClientListQuery, paging: Paging): Promise<Client[]> =>
  db.list(clientPageStatement(db.tenant, query, paging), paging.limit)

export function clientCountStatement(tenant: string, query: ClientListQuery) {
  const bind = createBinder(tenant)
  const text = `SELECT count(*)::text AS "count" FROM "Client" k WHERE ${buildClientFilterSql(query, bind)}`
  return boundStatement({ count: 'text' }, text, bind.values)
}

/** Counts the clients of a list. */
export async function countClients(db: Db, query: ClientListQuery): Promise<number> {
  const [row] = await db.list(clientCountStatement(db.tenant, query))
  return Number(row?.count ?? 0)
}
