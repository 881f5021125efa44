import { storedColumns } from '../database/columns.ts'
import type { Db } from '../database/handle.ts'
import {
  type BindParameter,
  buildKeysetPage,
  buildKeysetSort,
  createBinder,
  type KeysetOrder,
} from '../database/keyset.ts'
import { buildFilterConditions } from '../database/lists/filter-conditions.ts'
import { buildTermDriver, LAST_CHARACTER, type TermDriver } from '../database/lists/term-lists.ts'
import { boundStatement } from '../database/statement.ts'
import { type Organization, Prisma } from '../generated/prisma/client.ts'
import type { Paging } from '../schema/page.ts'
import {
  ORGANIZATION_FILTER,
  type OrganizationFilter,
  type OrganizationOrder,
} from './organizations.fields.ts'

export type OrganizationQuery = {
  filter: OrganizationFilter
  order: OrganizationOrder | null
  descending: boolean
}

const COLUMNS = Object.keys(Prisma.OrganizationScalarFieldEnum)
  .map((name) => `s."${name}"`)
  .join(', ')
const TERMS = { table: 'OrganizationTerm', id: 'organizationId' }
const ID = 'k."id"'
const KEYSET_ORDERS: Record<OrganizationOrder, KeysetOrder> = { name: { value: 'k."nameKey"', id: ID } }

/** The source of a list; `paging` is null for its count. */
function selectDriver(
  { filter, order, descending }: OrganizationQuery,
  paging: Paging | null,
  bind: BindParameter,
): TermDriver {
  if (filter.search !== undefined) {
    const ranges = `SELECT word AS "low", word || '${LAST_CHARACTER}' AS "high" FROM unnest(search_words(${bind(filter.search)}::text)) word`
    return buildTermDriver(TERMS, { ranges, isRange: true }, paging, bind)
  }
  const conditions = [
    'k."tenantId" = $1',
    ...buildFilterConditions(ORGANIZATION_FILTER, filter, { alias: 'k' }, bind),
  ]
  return {
    ctes: [],
    source: { from: '"Organization" k', where: conditions.join(' AND ') },
    order: { ...(order ? KEYSET_ORDERS[order] : { value: null, id: ID }), descending },
  }
}

const buildWithClause = ({ ctes }: TermDriver): string => (ctes.length > 0 ? `WITH ${ctes.join(', ')} ` : '')

export function organizationPageStatement(tenant: string, query: OrganizationQuery, paging: Paging) {
  const bind = createBinder(tenant)
  const driver = selectDriver(query, paging, bind)
  const text = `${buildWithClause(driver)}SELECT p."value", ${COLUMNS} FROM (${buildKeysetPage(driver.source, driver.order, paging, bind)}) p
    JOIN "Organization" s ON s."tenantId" = $1 AND s."id" = p."id" ORDER BY ${buildKeysetSort(driver.order, paging, 'p')}`
  return boundStatement({ value: 'text?', ...storedColumns('Organization') }, text, bind.values)
}

/** An organization of a list, with the value by which the list is ordered. */
export type ListedOrganization = Organization & { value: string | null }

/** A page of organizations, as `toPage` takes it. One statement. */
export const selectOrganizationPage = (
  db: Db,
  query: OrganizationQuery,
  paging: Paging,
): Promise<ListedOrganization[]> => db.list(organizationPageStatement(db.tenant, query, paging), paging.limit)

export function organizationCountStatement(tenant: string, filter: OrganizationFilter) {
  const bind = createBinder(tenant)
  const driver = selectDriver({ filter, order: null, descending: false }, null, bind)
  const text = `${buildWithClause(driver)}SELECT count(*)::text AS "count" FROM ${driver.source.from} WHERE ${driver.source.where}`
  return boundStatement({ count: 'text' }, text, bind.values)
}

/** Counts the organizations of a list. */
export async function countOrganizations(db: Db, filter: OrganizationFilter): Promise<number> {
  const [row] = await db.list(organizationCountStatement(db.tenant, filter))
  return Number(row?.count ?? 0)
}
