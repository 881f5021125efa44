import type { Ctx } from '../context/context.ts'
import { listInOrder } from '../database/page-query.ts'
import type { Page, PageArgs } from '../schema/page.ts'
import { getAppRole } from './app-roles.ts'
import { countRoleHolders, type RoleHolder, selectRoleHolders } from './role-holders.sql.ts'

export type { RoleHolder }

/** Who holds a role directly, by id: two statements, and one more for totalSize. Throws NotFound and InvalidInput. */
export const listRoleHolders = (ctx: Ctx, roleId: string, args: PageArgs): Promise<Page<RoleHolder>> =>
  listInOrder(ctx, args, {
    name: `${ctx.tenant}:role-holders:${roleId}`,
    column: 'holderId',
    read: async ({ where, orderBy, skip, take }) => {
      await getAppRole(ctx, roleId)
      const [after = null] = Object.values(where.holderId ?? {}) as string[]
      return selectRoleHolders(ctx.db, { roleId, after, limit: take, skip }, orderBy.holderId)
    },
    countAll: () => countRoleHolders(ctx.db, roleId),
  })
