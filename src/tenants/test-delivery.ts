import { loadMessageFrame } from '../access/message-tenant.ts'
import { type Ctx, toTenantCtx } from '../context/context.ts'
import { RATE_LIMITS, takeFromLimit } from '../coordination/rate-limits.ts'
import { Conflict, Unavailable } from '../core/errors.ts'
import { deliverMessage } from '../delivery/deliver-message.ts'
import { sendByTenant } from '../delivery/mail.ts'
import { buildTestMessage } from '../delivery/messages/test-message.ts'
import { ConversationError, type DeliveryChannel } from '../delivery/own-servers.ts'
import { sendSmsByTenant } from '../delivery/sms.ts'
import { parseInput } from '../schema/input-shapes.ts'
import { DeliveryTest } from './message-servers.fields.ts'

export type DeliveryTestResult = { to: string; delivered: boolean; outcome: string }

/** The verified address of the caller, in the tenant of the caller. Throws Conflict without one. */
async function findOwnAddress(
  ctx: Ctx,
  channel: DeliveryChannel,
): Promise<{ to: string; locale: string | null }> {
  const { actor } = ctx
  const user =
    actor.kind === 'user'
      ? await toTenantCtx(ctx, actor.tenant).db.prisma.user.findUnique({
          where: { tenantId_id: { tenantId: actor.tenant, id: actor.userId } },
          select: {
            emailKey: true,
            emailVerified: true,
            phoneNumberKey: true,
            phoneNumberVerified: true,
            locale: true,
          },
        })
      : null
  const to =
    channel === 'email'
      ? user?.emailVerified && user.emailKey
      : user?.phoneNumberVerified && user.phoneNumberKey
  if (!user || !to)
    throw new Conflict([], `The test goes to your own verified address, and you have none for ${channel}.`)
  return { to, locale: user.locale }
}

/**
 * Sends a message to the verified address of the caller, by the server of the tenant or of the deployment, and returns what
 * the server answered, in words. Throws InvalidInput, Conflict (the caller has no such address) and RateLimited.
 */
export async function testDelivery(ctx: Ctx, input: unknown): Promise<DeliveryTestResult> {
  const { channel } = parseInput(DeliveryTest, input)
  const { to, locale } = await findOwnAddress(ctx, channel)
  await takeFromLimit('testDelivery', ctx.tenant, RATE_LIMITS.testDelivery.points)
  const message = buildTestMessage(await loadMessageFrame(ctx, locale))
  const { servers } = message.mail.tenant
  try {
    const outcome =
      channel === 'email'
        ? await sendByTenant({ to, ...message.mail })
        : await sendSmsByTenant({ to, body: message.sms, servers })
    if (outcome === null) await deliverMessage({ channel, to }, message)
    return { to, delivered: true, outcome: outcome ?? 'The server of the deployment accepted the message.' }
  } catch (error) {
    if (error instanceof ConversationError || error instanceof Unavailable)
      return { to, delivered: false, outcome: error.message }
    throw error
  }
}
