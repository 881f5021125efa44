import type { Ctx } from '../context/context.ts'
import { toCursorKey } from '../database/keyset.ts'
import { type Page, type PageArgs, parseListInputs, parsePaging, toPage } from '../schema/page.ts'
import { SessionFilter, SessionOrder, toSessionFilter } from './session-list.fields.ts'
import { countSessions, selectSessionPage } from './session-list.sql.ts'
import { selectSessionList } from './session-list-plans.ts'
import type { SessionRow } from './sessions.sql.ts'

export type ListSessionsArgs = PageArgs & { filter?: unknown; orderBy?: unknown; direction?: unknown }

/**
 * Lists the active sessions of the tenant that match a filter, by default by id, which is the order of their
 * start. One statement, and one more for totalSize. Throws InvalidInput, also for a combination of filter and
 * order without an index (SESSION_LISTS).
 */
export async function listSessions(
  ctx: Ctx,
  { filter: members, orderBy, direction, ...args }: ListSessionsArgs,
  now = new Date(),
): Promise<Page<SessionRow>> {
  const [given, sorting] = parseListInputs(
    args,
    [SessionFilter, members ?? {}],
    [SessionOrder, { orderBy, direction }],
  )
  const filter = toSessionFilter(given)
  const { order } = selectSessionList(filter, sorting.orderBy ?? null)
  const descending = sorting.direction === 'desc'
  const name = `${ctx.tenant}:sessions:${order}:${descending}:${JSON.stringify(filter)}`
  const paging = parsePaging(ctx, args, name)
  const query = { filter, order, descending, now }
  const rows = await selectSessionPage(ctx.db, query, paging)
  const values = new Map(rows.map(({ session, value }) => [session.id, value]))
  return toPage(
    paging,
    rows.map(({ session }) => session),
    {
      name,
      toKey: ({ id }) => toCursorKey({ id, value: values.get(id) ?? null }),
      countAll: () => countSessions(ctx.db, query),
    },
  )
}
