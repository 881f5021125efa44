import type { Ctx } from '../context/context.ts'
import { buildPageQuery } from '../database/page-query.ts'
import { type Page, type PageArgs, parsePaging, toPage } from '../schema/page.ts'
import { HIDDEN_COLUMNS, type Invitation, toInvitation } from './invitations.ts'

/** All invitations, oldest first: one statement, and another for totalSize. Throws InvalidInput. */
export async function listInvitations(ctx: Ctx, args: PageArgs): Promise<Page<Invitation>> {
  const name = `${ctx.tenant}:invitations`
  const paging = parsePaging(ctx, args, name)
  const query = buildPageQuery(paging, 'id')
  const rows = await ctx.db.prisma.invitation.findMany({
    ...query,
    where: { tenantId: ctx.tenant, ...query.where },
    omit: HIDDEN_COLUMNS,
  })
  const now = new Date()
  return toPage(
    paging,
    rows.map((row) => toInvitation(row, now)),
    {
      name,
      toKey: ({ id }) => ({ value: null, id }),
      countAll: () => ctx.db.prisma.invitation.count({ where: { tenantId: ctx.tenant } }),
    },
  )
}
