import type { Ctx } from '../context/context.ts'
import { type Page, type PageArgs, parseListInputs, parsePaging, toPage } from '../schema/page.ts'
import { ClientFilter } from './client-inputs.fields.ts'
import { countClients, selectClientPage } from './client-list.sql.ts'
import type { Client } from './clients.ts'

export type ListClientsArgs = PageArgs & { filter?: unknown }

/**
 * Lists the clients of the tenant, oldest first, optionally of one type or app type. One statement, and one
 * more for totalSize. Throws InvalidInput.
 */
export async function listClients(ctx: Ctx, { filter, ...args }: ListClientsArgs): Promise<Page<Client>> {
  const [{ type = null, appType = null }] = parseListInputs(args, [ClientFilter, filter ?? {}])
  const name = `${ctx.tenant}:clients:${type ?? ''}:${appType ?? ''}`
  const paging = parsePaging(ctx, args, name)
  const query = { type, appType }
  return toPage(paging, await selectClientPage(ctx.db, query, paging), {
    name,
    toKey: ({ id }) => ({ value: null, id }),
    countAll: () => countClients(ctx.db, query),
  })
}
