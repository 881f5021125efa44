import { SETTINGS } from '../access/tenant.sql.ts'
import { storedColumns } from '../database/columns.ts'
import type { Db } from '../database/handle.ts'
import {
  type BindParameter,
  buildKeysetPage,
  buildKeysetSort,
  createBinder,
  type KeysetOrder,
} from '../database/keyset.ts'
import { buildFoldedSql, buildSearchCondition } from '../database/lists/search-conditions.ts'
import { boundStatement } from '../database/statement.ts'
import type { Paging } from '../schema/page.ts'
import type { TenantFilter } from './tenants.fields.ts'

const RETURNS = storedColumns('Tenant', ['tenantId', ...SETTINGS, 'updatedAt', 'createdAt'])
const COLUMNS = Object.keys(RETURNS)
  .map((name) => `s."${name}"`)
  .join(', ')
const BY_SLUG: KeysetOrder = { value: null, id: 't."tenantId"' }

function buildTenantConditions({ search }: TenantFilter, bind: BindParameter): string {
  const isOperated = `$1 = 'system'`
  if (search === undefined) return isOperated
  const text = `t."tenantId" || ' ' || COALESCE(${buildFoldedSql('t."friendlyName"')}, '')`
  return `${isOperated} AND ${buildSearchCondition(`(${text})`, search, bind)}`
}

export function tenantPageStatement(tenant: string, filter: TenantFilter, paging: Paging) {
  const bind = createBinder(tenant)
  const source = { from: '"Tenant" t', where: buildTenantConditions(filter, bind) }
  const text = `SELECT ${COLUMNS} FROM (${buildKeysetPage(source, BY_SLUG, paging, bind)}) p
    JOIN "Tenant" s ON s."tenantId" = p."id" ORDER BY ${buildKeysetSort(BY_SLUG, paging, 'p')}`
  return boundStatement(RETURNS, text, bind.values)
}

/** A page of the tenants of the deployment, as `toPage` takes it. One statement. */
export const selectTenantPage = (db: Db, filter: TenantFilter, paging: Paging) =>
  db.list(tenantPageStatement(db.tenant, filter, paging), paging.limit)

export function tenantCountStatement(tenant: string, filter: TenantFilter) {
  const bind = createBinder(tenant)
  const text = `SELECT count(t."tenantId")::text AS "count" FROM "Tenant" t WHERE ${buildTenantConditions(filter, bind)}`
  return boundStatement({ count: 'text' }, text, bind.values)
}

/** Counts the tenants of a list. */
export async function countTenants(db: Db, filter: TenantFilter): Promise<number> {
  const [row] = await db.list(tenantCountStatement(db.tenant, filter))
  return Number(row?.count ?? 0)
}
