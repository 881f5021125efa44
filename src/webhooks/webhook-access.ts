import { requireScope } from '../access/require-scope.ts'
import { isAdministered } from '../context/administered-organization.ts'
import type { Ctx } from '../context/context.ts'
import { RATE_LIMITS, takeFromLimit } from '../coordination/rate-limits.ts'

/**
 * Requires that the caller may read the events that a webhook sends away: by the scope, or as an administrator of the
 * organization of the webhook. Throws Forbidden.
 */
export function requireEventAccess(ctx: Ctx, organizationId: string | null | undefined): void {
  if (!isAdministered(ctx, organizationId)) requireScope(ctx, 'events:read')
}

/** The webhooks of one organization, or those of the tenant, may be used as often as so many of them. */
const OWNER_SHARE = 5

/**
 * Counts a use of a webhook by which callers make it send, in its budget and in that of its organization, or of the
 * tenant: a webhook that is created anew has a budget of its own. Throws RateLimited.
 */
export async function takeSending(
  { tenant }: Ctx,
  name: 'sendMessage' | 'repeatMessages',
  { id, organizationId }: { id: string; organizationId: string | null },
): Promise<void> {
  const { points } = RATE_LIMITS[name]
  await takeFromLimit(name, `${tenant}:${organizationId ?? ''}`, points * OWNER_SHARE)
  await takeFromLimit(name, `${tenant}:${id}`, points)
}
