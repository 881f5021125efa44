import type { Ctx } from '../../context/context.ts'
import { SCOPE_NAMES } from '../../core/scopes.ts'
import { parseQuery } from '../../rest/query.ts'
import { getPageLinks } from '../../schema/page.ts'
import { createTenantCtx } from '../command.ts'
import { type Body, type Call, getRoute, type PublicApi } from './public-api.ts'

/** Calls the handlers of the routes without HTTP. The platform may do what all scopes permit. */
const createCall =
  (ctx: Ctx): Call =>
  async (operation, { params = {}, query = {}, body } = {}) => {
    const route = getRoute(operation)
    const parsed = parseQuery(route, new URLSearchParams(query))
    const result = await route.handle(ctx, { params, body, ...parsed })
    // As in JSON: instants are text.
    return { body: JSON.parse(JSON.stringify(result)) as Body, after: getPageLinks(result).after }
  }

/** Opens the operations of a tenant on the database, which is open. Throws NotFound. */
export async function openDirectApi(tenant: string): Promise<PublicApi> {
  const ctx: Ctx = { ...(await createTenantCtx(tenant)), scopes: new Set(SCOPE_NAMES) }
  return {
    call: createCall(ctx),
    isAtomic: true,
    atomically: (work) => ctx.db.transaction((tx) => work(createCall({ ...ctx, db: tx.join() }))),
  }
}
