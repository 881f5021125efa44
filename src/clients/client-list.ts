import type { Ctx } from '../ctx.ts'
import { plannedSql } from '../db.ts'
import { type Page, type PageArgs, parseAsked, parsePaging, toPage } from '../page.ts'
import { countClients, selectClientPage } from './client-list.sql.ts'
import { ClientFilter } from './clients.fields.ts'
import type { Client } from './clients.ts'

export type ListClientsArgs = PageArgs & { filter?: unknown }

/**
 * The tenant's clients, oldest first, optionally of one type or app type. One statement, and one more for totalSize when
 * it is asked for. Throws InvalidInput.
 */
export async function listClients(ctx: Ctx, { filter, ...args }: ListClientsArgs): Promise<Page<Client>> {
  const [{ type = null, appType = null }] = parseAsked(args, [ClientFilter, filter ?? {}])
  const name = `${ctx.tenant}:clients:${type ?? ''}:${appType ?? ''}`
  const paging = parsePaging(args, name)
  const query = { type, appType }
  return toPage(paging, await selectClientPage(plannedSql, ctx.tenant, query, paging), {
    name,
    keyOf: ({ id }) => ({ value: null, id }),
    countAll: () => countClients(plannedSql, ctx.tenant, query),
  })
}
