import type { Ctx } from '../context/context.ts'
import { getRoleScopes } from '../core/scopes.ts'
import type { Db } from '../database/handle.ts'
import { selectRoleHolders } from './effective-access.sql.ts'
import { requireNoEscalation } from './require-scope.ts'

/**
 * The users among these whose roles at APIs the caller may not give. Control of their addresses or sign-in methods would give
 * the caller these roles. One statement for a caller without `roles:write`, none otherwise.
 */
export const findRoleHolders = async (db: Db, ctx: Ctx, userIds: string[]): Promise<ReadonlySet<string>> =>
  ctx.actor.kind === 'platform' || ctx.scopes.has('roles:write') || userIds.length === 0
    ? new Set()
    : new Set((await selectRoleHolders(db, userIds)).map(({ id }) => id))

/**
 * Requires that the caller may take over the account of a user. Throws Forbidden when the management roles of the user
 * permit more than the caller's scopes, and for a user who holds a role at APIs, without `roles:write`.
 */
export async function requireAccountControl(
  db: Db,
  ctx: Ctx,
  { id, roles }: { id: string; roles: readonly string[] },
): Promise<void> {
  requireNoEscalation(ctx, getRoleScopes(roles))
  if ((await findRoleHolders(db, ctx, [id])).size > 0) requireNoEscalation(ctx, ['roles:write'])
}
