import { loadMessageFrame, WARNING } from '../access/message-tenant.ts'
import type { Ctx } from '../context/context.ts'
import { issuerOf } from '../core/issuer.ts'
import { getRoleScopes, listRoles, type Scope } from '../core/scopes.ts'
import { deliverInBackground } from '../delivery/background.ts'
import { deliverMail } from '../delivery/mail.ts'
import { buildWebhookNotice } from '../delivery/messages/webhook-disabled.ts'
import { selectMenders } from './webhooks.sql.ts'

/** What enabling a webhook needs. */
const MENDING: Scope[] = ['webhooks:write', 'events:read']

/** The built-in and the defined roles that permit it. */
async function listMendingRoles({ tenant, db }: Ctx): Promise<string[]> {
  const builtIn = listRoles(tenant).filter((role) => {
    const scopes = getRoleScopes([role])
    return MENDING.every((scope) => scopes.has(scope))
  })
  const defined = await db.prisma.managementRole.findMany({
    where: { tenantId: tenant, scopes: { hasEvery: MENDING } },
    select: { name: true },
  })
  return [...builtIn, ...defined.map(({ name }) => name)]
}

/**
 * Sends a mail in the background to those who can mend a webhook that was disabled: the administrators of its
 * organization, or without any, users with a role that permits it. Call it once after the change was committed.
 */
export function announceDisabled(
  ctx: Ctx,
  webhook: { id: string; url: string; organizationId: string | null },
): void {
  deliverInBackground(async () => {
    const { id, url, organizationId } = webhook
    const menders = await selectMenders(ctx.db, { organizationId, roles: await listMendingRoles(ctx) })
    for (const { email, locale } of menders) {
      const notice = buildWebhookNotice(await loadMessageFrame(ctx, locale, WARNING), {
        host: new URL(url).host,
        uri: `${issuerOf(ctx.tenant)}/console/webhooks/${id}`,
      })
      // An outage of the mail server holds all of them; deliverMail has logged it.
      await deliverMail({ to: email, ...notice })
    }
  })
}
