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
import { buildFilterConditions } from '../database/lists/filter-conditions.ts'
import { buildFoldedSql, buildSearchCondition } from '../database/lists/search-conditions.ts'
import { boundStatement } from '../database/statement.ts'
import { Prisma } from '../generated/prisma/client.ts'
import type { Paging } from '../schema/page.ts'
import { CLIENT_FILTER, type ClientFilter } from './client-inputs.fields.ts'
import { APP_TYPES } from './client-types.ts'
import type { Client } from './clients.ts'

const COLUMNS = Object.keys(Prisma.ClientScalarFieldEnum)
  .map((name) => `s."${name}"`)
  .join(', ')
const BY_ID: KeysetOrder = { value: null, id: 'k."id"' }

/** What a search looks at. Ids and URLs are ASCII. */
const SEARCHED_TEXT = `(${buildFoldedSql('k."name"')} || lower(concat(' ', k."id", ' ', k."clientUri", ' ', array_to_string(k."callbacks", ' '))))`

const buildClientConditions = (filter: ClientFilter, bind: BindParameter): string =>
  [
    `k."tenantId" = $1`,
    ...buildFilterConditions(CLIENT_FILTER, filter, { alias: 'k' }, bind),
    ...(filter.search === undefined ? [] : [buildSearchCondition(SEARCHED_TEXT, filter.search, bind)]),
  ].join(' AND ')

/** An index orders the clients of one type and app type, so a list of one type scans each app type. */
function buildClientSource(query: ClientFilter, bind: BindParameter): KeysetSource {
  const source = { from: '"Client" k', where: buildClientConditions(query, bind) }
  if (query.type === undefined || query.appType !== undefined) return source
  return {
    from: source.from,
    where: `${source.where} AND k."appType" = kinds."appType"`,
    each: `unnest(${bind(APP_TYPES)}::text[]) AS kinds("appType")`,
  }
}

export function clientPageStatement(tenant: string, query: ClientFilter, paging: Paging) {
  const bind = createBinder(tenant)
  const text = `SELECT ${COLUMNS} FROM (${buildKeysetPage(buildClientSource(query, bind), BY_ID, paging, bind)}) p
    JOIN "Client" s ON s."tenantId" = $1 AND s."id" = p."id" ORDER BY ${buildKeysetSort(BY_ID, paging, 'p')}`
  return boundStatement(storedColumns('Client'), text, bind.values)
}

/** A page of clients, as `toPage` takes it. One statement. */
export const selectClientPage = (db: Db, query: ClientFilter, paging: Paging): Promise<Client[]> =>
  db.list(clientPageStatement(db.tenant, query, paging), paging.limit)

export function clientCountStatement(tenant: string, query: ClientFilter) {
  const bind = createBinder(tenant)
  const text = `SELECT count(*)::text AS "count" FROM "Client" k WHERE ${buildClientConditions(query, bind)}`
  return boundStatement({ count: 'text' }, text, bind.values)
}

/** Counts the clients of a list. */
export async function countClients(db: Db, query: ClientFilter): Promise<number> {
  const [row] = await db.list(clientCountStatement(db.tenant, query))
  return Number(row?.count ?? 0)
}
