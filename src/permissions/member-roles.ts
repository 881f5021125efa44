import type { Ctx } from '../context/context.ts'
import { NotFound } from '../core/errors.ts'
import { listInOrder } from '../database/page-query.ts'
import type { Page, PageArgs } from '../schema/page.ts'
import { type AppRole, WITH_PERMISSIONS } from './app-roles.ts'

/** The roles that members of an organization may hold, oldest first. Throws NotFound and InvalidInput. */
export function listOrganizationAppRoles(
  ctx: Ctx,
  organizationId: string,
  args: PageArgs,
): Promise<Page<AppRole>> {
  const { appRole, organization } = ctx.db.prisma
  const isListed = { tenantId: ctx.tenant, assignableTo: { has: 'member' } }
  return listInOrder(ctx, args, {
    name: `${ctx.tenant}:member-roles`,
    column: 'id',
    read: async (page) => {
      if ((await organization.count({ where: { tenantId: ctx.tenant, id: organizationId } })) === 0)
        throw new NotFound('organization')
      return appRole.findMany({ ...page, where: { ...isListed, ...page.where }, include: WITH_PERMISSIONS })
    },
    countAll: () => appRole.count({ where: isListed }),
  })
}
