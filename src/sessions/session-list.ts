import type { Ctx } from '../context/context.ts'
import { toCursorKey } from '../database/keyset.ts'
import { type ListArgs, type Page, parseListArgs, parsePaging, toPage } from '../schema/page.ts'
import { SESSION_FILTER, SESSION_ORDER } from './session-list.fields.ts'
import { countSessions, selectSessionPage } from './session-list.sql.ts'
import { selectSessionList } from './session-list-plans.ts'
import type { SessionRow } from './sessions.sql.ts'

/**
 * Lists the active sessions of the tenant that match a filter, by default by id, which is the order of their
 * start. One statement, and one more for totalSize. Throws InvalidInput, also for a combination of filter and
 * order without an index (SESSION_LISTS).
 */
export async function listSessions(ctx: Ctx, args: ListArgs, now = new Date()): Promise<Page<SessionRow>> {
  const { filter, orderBy, descending } = parseListArgs(args, SESSION_FILTER, SESSION_ORDER)
  const { order } = selectSessionList(filter, orderBy)
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
