import { Forbidden } from '../core/errors.ts'
import type { Ctx } from './context.ts'

/** The organization that the caller may manage as its administrator; null for other callers. */
export const getAdministeredId = ({ actor }: Ctx): string | null =>
  actor.kind === 'user' ? (actor.administeredId ?? null) : null

/** Whether the caller may manage this organization as its administrator. */
export const isAdministered = (ctx: Ctx, organizationId: string | null | undefined): boolean =>
  organizationId != null && organizationId === getAdministeredId(ctx)

/**
 * Requires the scope, or that the caller is an administrator of the organization, for what an operation does besides the
 * scope that it declares. Throws Forbidden.
 */
export function requireOrganizationControl(
  ctx: Ctx,
  organizationId: string,
  scope: 'organizations:write' | 'roles:write',
): void {
  if (ctx.actor.kind === 'platform' || ctx.scopes.has(scope) || isAdministered(ctx, organizationId)) return
  throw new Forbidden(`This needs the scope ${scope}.`, scope)
}
