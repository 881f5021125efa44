import type { Ctx } from '../context/context.ts'
import { type ListArgs, type Page, parseListArgs, parsePaging, toPage } from '../schema/page.ts'
import { CLIENT_FILTER } from './client-inputs.fields.ts'
import { countClients, selectClientPage } from './client-list.sql.ts'
import type { Client } from './clients.ts'

/** What cursors of a list of clients are bound to. */
export const toClientListName = (
  tenant: string,
  { type = '', appType = '', search }: { type?: string; appType?: string; search?: string } = {},
): string => `${tenant}:clients:${type}:${appType}${search === undefined ? '' : `:${search}`}`

/**
 * Lists the clients of the tenant, oldest first, optionally of one type or app type, or those that a search finds. One statement, and one
 * more for totalSize. Throws InvalidInput.
 */
export async function listClients(ctx: Ctx, args: ListArgs): Promise<Page<Client>> {
  const { filter } = parseListArgs(args, CLIENT_FILTER)
  const name = toClientListName(ctx.tenant, filter)
  const paging = parsePaging(ctx, args, name)
  return toPage(paging, await selectClientPage(ctx.db, filter, paging), {
    name,
    toKey: ({ id }) => ({ value: null, id }),
    countAll: () => countClients(ctx.db, filter),
  })
}
