import type { Ctx } from '../ctx.ts'
import { plannedSql } from '../db.ts'
import { keyOf } from '../keyset.ts'
import { type Page, type PageArgs, parseAsked, parsePaging, toPage } from '../page.ts'
import { SessionFilter, SessionOrder, toFilter } from './session-list.fields.ts'
import { countSessions, selectSessionPage } from './session-list.sql.ts'
import { chooseList } from './session-list-choice.ts'
import type { SessionRow } from './sessions.sql.ts'

export type ListSessionsArgs = PageArgs & { filter?: unknown; orderBy?: unknown; direction?: unknown }

/**
 * The tenant's active sessions that a filter lets through: by id, which is the order of their start, unless `orderBy`
 * or a range of time says otherwise. One statement, and one more for totalSize when it is asked for. Throws InvalidInput,
 * also for a filter with an order that no index has (SESSION_LISTS).
 */
export async function listSessions(
  ctx: Ctx,
  { filter: members, orderBy, direction, ...args }: ListSessionsArgs,
  now = new Date(),
): Promise<Page<SessionRow>> {
  const [given, asked] = parseAsked(
    args,
    [SessionFilter, members ?? {}],
    [SessionOrder, { orderBy, direction }],
  )
  const filter = toFilter(given)
  const { order } = chooseList(filter, asked.orderBy ?? null)
  const descending = asked.direction === 'desc'
  const name = `${ctx.tenant}:sessions:${order}:${descending}:${JSON.stringify(filter)}`
  const paging = parsePaging(args, name)
  const query = { filter, order, descending, now }
  const rows = await selectSessionPage(plannedSql, ctx.tenant, query, paging)
  const values = new Map(rows.map(({ session, value }) => [session.id, value]))
  return toPage(
    paging,
    rows.map(({ session }) => session),
    {
      name,
      keyOf: ({ id }) => keyOf({ id, value: values.get(id) ?? null }),
      countAll: () => countSessions(plannedSql, ctx.tenant, query),
    },
  )
}
