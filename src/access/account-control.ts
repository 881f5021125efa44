import type { Ctx } from '../context/context.ts'
import { getRoleScopes, type HeldRoles, type Scope } from '../core/scopes.ts'
import type { Db } from '../database/handle.ts'
import { type HeldRights, selectHeldRights } from './effective-access.sql.ts'
import { requireNoEscalation } from './require-scope.ts'

/** The scope that gives each right, which control of an account of its holder would give too. */
const SCOPES: Record<keyof HeldRights, Scope> = {
  holdsRoles: 'roles:write',
  administers: 'organizations:write',
}
const RIGHTS = Object.keys(SCOPES) as (keyof HeldRights)[]

/** The rights that the caller may not give. */
export const listUngrantableRights = ({ actor, scopes }: Ctx): (keyof HeldRights)[] =>
  actor.kind === 'platform' ? [] : RIGHTS.filter((right) => !scopes.has(SCOPES[right]))

/** Requires the scopes that give the rights. Throws Forbidden. */
export const requireRightsControl = (ctx: Ctx, held: HeldRights): void =>
  requireNoEscalation(
    ctx,
    RIGHTS.filter((right) => held[right]).map((right) => SCOPES[right]),
  )

/**
 * The users among these who hold a role at APIs or administer an organization, which the caller may not give. Control of their
 * addresses or sign-in methods would give the caller these rights. One statement for a caller without `roles:write` or
 * `organizations:write`, none otherwise.
 */
export async function findGuardedUsers(db: Db, ctx: Ctx, userIds: string[]): Promise<ReadonlySet<string>> {
  const rights = listUngrantableRights(ctx)
  if (rights.length === 0 || userIds.length === 0) return new Set()
  const held = await selectHeldRights(db, userIds)
  return new Set(held.filter((user) => rights.some((right) => user[right])).map(({ id }) => id))
}

/**
 * Requires that the caller may take over the account of a user. Throws Forbidden when the management roles of the user
 * permit more than the caller's scopes, for a user who holds a role at APIs, without `roles:write`, and for an administrator
 * of an organization, without `organizations:write`.
 */
export async function requireAccountControl(
  db: Db,
  ctx: Ctx,
  { id, roles }: { id: string; roles: HeldRoles },
): Promise<void> {
  requireNoEscalation(ctx, getRoleScopes(roles))
  if (listUngrantableRights(ctx).length === 0) return
  for (const held of await selectHeldRights(db, [id])) requireRightsControl(ctx, held)
}
