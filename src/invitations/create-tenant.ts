import { ensureConsoleClient } from '../clients/console-client.ts'
import type { Ctx } from '../context/context.ts'
import { toTenantCtx } from '../context/context.ts'
import { env } from '../core/env.ts'
import { Conflict } from '../core/errors.ts'
import { createEvent } from '../events/create-event.ts'
import { recordEvents } from '../events/log.ts'
import { CONSOLE_CLIENT_ID } from '../model/console-client.ts'
import { parseInput } from '../schema/input-shapes.ts'
import { TenantCreate } from '../tenants/tenants.fields.ts'
import {
  deleteTenant,
  getTenant,
  insertTenantWithKey,
  requireOperator,
  type Tenant,
} from '../tenants/tenants.ts'
import { deliverInvitation, insertInvitation, takeMail } from './invitations.ts'

/**
 * Creates a tenant, and invites its administrator. One transaction stores both; the event logs of the new tenant and of
 * tenant `system` record it. The scope `tenants:write` is enough for the role: nobody has data in the tenant yet. Throws
 * InvalidInput, Conflict (the slug is taken), Forbidden, RateLimited (ten mails in an hour for an address), and
 * Unavailable when the mail could not be delivered; then there is no tenant.
 */
export async function createTenant(ctx: Ctx, input: unknown, now = new Date()): Promise<Tenant> {
  requireOperator(ctx, 'tenants:write')
  const { slug, settings, administrator } = parseInput(TenantCreate, input)
  const created = toTenantCtx(ctx, slug)
  // Counted in tenant system: each new tenant has a budget of its own.
  if (administrator) takeMail(ctx, administrator.email)
  const invited = await ctx.db.transaction(async (tx) => {
    const newTx = tx.forTenant(slug)
    if (!(await insertTenantWithKey(newTx, created, settings)))
      throw new Conflict([{ field: 'slug', description: 'is taken' }], 'The slug is taken.')
    await recordEvents(tx, ctx, [createEvent('tenant.created', { tenantId: slug })])
    if (!administrator) return null
    const clientId = env.console ? CONSOLE_CLIENT_ID : null
    const invitation = { ...administrator, roles: ['admin'], inviterName: null, clientId }
    return insertInvitation(newTx, created, invitation, settings, now)
  })
  if (invited)
    try {
      // The person continues to the console, which the mail names.
      if (env.console) await ensureConsoleClient(slug)
      await deliverInvitation(created, invited.invitation, invited.uri)
    } catch (error) {
      await deleteTenant(ctx, slug)
      throw error
    }
  return getTenant(created)
}
