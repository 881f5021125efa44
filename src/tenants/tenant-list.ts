import type { Ctx } from '../context/context.ts'
import { type ListArgs, type Page, parseListArgs, parsePaging, toPage } from '../schema/page.ts'
import { countTenants, selectTenantPage } from './tenant-list.sql.ts'
import { TENANT_FILTER } from './tenants.fields.ts'
import { requireOperator, type Tenant } from './tenants.ts'

/** What cursors of the list of all tenants are bound to. */
export const TENANT_LIST = 'tenants'

/**
 * Lists tenants of the deployment by slug, optionally those that a search finds. One statement, and one more for totalSize.
 * Throws InvalidInput or Forbidden.
 */
export async function listTenants(ctx: Ctx, args: ListArgs): Promise<Page<Tenant>> {
  requireOperator(ctx, 'tenants:read')
  const { filter } = parseListArgs(args, TENANT_FILTER)
  const name = filter.search === undefined ? TENANT_LIST : `${TENANT_LIST}:${filter.search}`
  const paging = parsePaging(ctx, args, name)
  return toPage(paging, await selectTenantPage(ctx.db, filter, paging), {
    name,
    toKey: ({ tenantId }) => ({ value: null, id: tenantId }),
    countAll: () => countTenants(ctx.db, filter),
  })
}
