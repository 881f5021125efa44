import type { Ctx } from '../context/context.ts'
import { readIdPrefix } from '../core/crypto.ts'
import { NotFound } from '../core/errors.ts'
import { listInOrder } from '../database/page-query.ts'
import type { IdpUser as IdpUserRow } from '../generated/prisma/client.ts'
import { isIdpId } from '../schema/idp-id.ts'
import type { Page, PageArgs } from '../schema/page.ts'

/** A user's link to an identity at a provider. */
export type IdpUser = IdpUserRow

/** Throws NotFound for malformed ids of a user or a provider, without a database lookup. */
export function assertLinkIds(userId: string, idpId: string): void {
  if (readIdPrefix(userId) !== 'user') throw new NotFound('user')
  if (!isIdpId(idpId)) throw new NotFound('identity provider')
}

/**
 * Lists the links of a user by id: one statement, and one more for totalSize. Throws NotFound when the user
 * does not exist, and InvalidInput about the paging.
 */
export const listIdpUsers = (ctx: Ctx, userId: string, args: PageArgs): Promise<Page<IdpUser>> =>
  listInOrder(ctx, args, {
    name: `${ctx.tenant}:idpUsers:${userId}`,
    column: 'id',
    read: async (page) => {
      if (readIdPrefix(userId) !== 'user') throw new NotFound('user')
      const user = await ctx.db.prisma.user.findUnique({
        where: { tenantId_id: { tenantId: ctx.tenant, id: userId } },
        select: { idpUsers: page },
      })
      if (!user) throw new NotFound('user')
      return user.idpUsers
    },
    countAll: () => countIdpUsers(ctx, userId),
  })

/** Counts the links of a user. */
export const countIdpUsers = (ctx: Ctx, userId: string): Promise<number> =>
  ctx.db.prisma.idpUser.count({ where: { tenantId: ctx.tenant, userId } })

/** Returns the link of a user to a provider. Throws NotFound. */
export async function getIdpUser(ctx: Ctx, userId: string, idpId: string): Promise<IdpUser> {
  assertLinkIds(userId, idpId)
  const key = { tenantId: ctx.tenant, userId, idpId }
  const link = await ctx.db.prisma.idpUser.findUnique({ where: { tenantId_userId_idpId: key } })
  if (!link) throw new NotFound('link')
  return link
}
