import { invalidateTenant } from '../access/tenant-cache.ts'
import { createPlatformCtx } from '../context/context.ts'
import type { DeliveryChannel } from '../delivery/own-servers.ts'
import { createEvent } from '../events/create-event.ts'
import { recordEvents } from '../events/log.ts'

/** The server of each channel, and the column that says since when it fails. */
const COLUMNS = {
  email: { server: 'mailServer', since: 'mailFailingSince' },
  sms: { server: 'smsGatewayUrl', since: 'smsFailingSince' },
} as const

/** Records, with one event for all processes, that a server of the tenant begins to fail, or answers again. */
export function recordDeliveryOutcome(
  tenant: string,
  channel: DeliveryChannel,
  isFailing: boolean,
): Promise<void> {
  const ctx = createPlatformCtx(tenant)
  const { server, since } = COLUMNS[channel]
  return ctx.db.transaction(async (tx) => {
    const { count } = await tx.prisma.tenant.updateMany({
      where: { tenantId: tenant, [server]: { not: null }, [since]: isFailing ? null : { not: null } },
      data: { [since]: isFailing ? new Date() : null },
    })
    if (count === 0) return
    const type = isFailing ? 'tenant.delivery_failing' : 'tenant.delivery_recovered'
    await recordEvents(tx, ctx, [createEvent(type, {}, { channel })])
    invalidateTenant(tx)
  })
}
