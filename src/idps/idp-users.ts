import { prefixOf } from '../crypto.ts'
import type { Ctx } from '../ctx.ts'
import { dbFor } from '../db.ts'
import { NotFound } from '../errors.ts'
import type { IdpUser as IdpUserRow } from '../generated/prisma/client.ts'
import { type Page, type PageArgs, parsePaging, toPage } from '../page.ts'
import { isIdpId } from './idps.fields.ts'

/** A user's link to an identity at a provider. */
export type IdpUser = IdpUserRow

/** Throws NotFound for what cannot be the ids of a user and a provider, before the database is asked. */
export function assertLinkIds(userId: string, idpId: string): void {
  if (prefixOf(userId) !== 'user') throw new NotFound('user')
  if (!isIdpId(idpId)) throw new NotFound('identity provider')
}

/** What cursors of a user's links are bound to. */
const linkListOf = (tenant: string, userId: string): string => `${tenant}:idpUsers:${userId}`

/**
 * The links of a user, by id (spec: List IdP users of a user): one statement, and one more for totalSize. Throws NotFound
 * when there is no such user, InvalidInput about the paging.
 */
export async function listIdpUsers(ctx: Ctx, userId: string, args: PageArgs): Promise<Page<IdpUser>> {
  const name = linkListOf(ctx.tenant, userId)
  const paging = parsePaging(args, name)
  const backward = paging.mode === 'cursor' && paging.backward
  const seek = paging.mode === 'cursor' ? paging.seek : null
  if (prefixOf(userId) !== 'user') throw new NotFound('user')
  const user = await dbFor(ctx.tenant).user.findUnique({
    where: { tenantId_id: { tenantId: ctx.tenant, id: userId } },
    select: {
      idpUsers: {
        where: seek ? { id: backward ? { lt: seek.id } : { gt: seek.id } } : {},
        orderBy: { id: backward ? 'desc' : 'asc' },
        skip: paging.mode === 'offset' ? paging.page * paging.pageSize : 0,
        take: paging.pageSize + 1,
      },
    },
  })
  if (!user) throw new NotFound('user')
  return toPage(paging, user.idpUsers, {
    name,
    keyOf: ({ id }) => ({ value: null, id }),
    countAll: () => countIdpUsers(ctx, userId),
  })
}

/** How many links a user has. */
export const countIdpUsers = (ctx: Ctx, userId: string): Promise<number> =>
  dbFor(ctx.tenant).idpUser.count({ where: { tenantId: ctx.tenant, userId } })

/** A user's link at a provider (spec: Get IdP user). Throws NotFound. */
export async function getIdpUser(ctx: Ctx, userId: string, idpId: string): Promise<IdpUser> {
  assertLinkIds(userId, idpId)
  const key = { tenantId: ctx.tenant, userId, idpId }
  const link = await dbFor(ctx.tenant).idpUser.findUnique({ where: { tenantId_userId_idpId: key } })
  if (!link) throw new NotFound('link')
  return link
}
