import { loadMessageFrame, NOTICE } from '../../access/message-tenant.ts'
import { type Ctx, toUserCtx } from '../../context/context.ts'
import { consumeLimit } from '../../coordination/rate-limits.ts'
import { sha256 } from '../../core/crypto.ts'
import { env } from '../../core/env.ts'
import { deliverMessage, type Recipient } from '../../delivery/deliver-message.ts'
import { buildRecoveryNotice } from '../../delivery/messages/recovery-link.ts'
import { createEvent } from '../../events/create-event.ts'
import { recordEvents } from '../../events/log.ts'
import type { Enrollee } from '../enrollment.sql.ts'

/** A link that gives a user who has a credential access again, and how the user cancels it. */
export type Recovery = { cancelToken: string; usableAt: Date }

/**
 * Announces a link to every verified address of the user, so that the user can cancel it, and waits until the messages
 * are sent: the link is handed out afterwards only. Throws Unavailable when none could be sent.
 */
export async function announceRecovery(
  ctx: Ctx,
  { email, phoneNumber, locale }: Pick<Enrollee, 'email' | 'phoneNumber' | 'locale'>,
  { cancelToken, usableAt }: Recovery,
): Promise<void> {
  const uri = `${env.baseUrl}/${ctx.tenant}/enroll/cancel?token=${cancelToken}`
  const frame = await loadMessageFrame(ctx, locale, NOTICE)
  const notice = buildRecoveryNotice(frame, { uri, usableAt })
  const recipients: Recipient[] = []
  if (email !== null) recipients.push({ channel: 'email', to: email })
  if (phoneNumber !== null && !phoneNumber.includes(';')) recipients.push({ channel: 'sms', to: phoneNumber })
  const deliveries = await Promise.allSettled(recipients.map((to) => deliverMessage(to, notice)))
  const failed = deliveries.filter((delivery) => delivery.status === 'rejected')
  if (failed.length > 0 && failed.length === deliveries.length) throw failed[0]?.reason
}

/** When a waiting link starts to work; null for any other link. */
export async function findWaitingEnrollment(ctx: Ctx, token: string): Promise<Date | null> {
  const where = { tenantId: ctx.tenant, tokenHash: sha256(token), usedAt: null, usableAt: { gt: new Date() } }
  const found = await ctx.db.prisma.enrollmentToken.findFirst({ where, select: { usableAt: true } })
  return found?.usableAt ?? null
}

/** Selects a link that can be canceled with this token: it was not used, canceled or replaced. */
const toCancelable = ({ tenant }: Ctx, token: string, now: Date) => ({
  tenantId: tenant,
  cancelHash: sha256(token),
  usedAt: null,
  expiresAt: { gt: now },
})

/** Whether a link can be canceled with this token. Counts against the budget of the network. */
export async function isCancelable(ctx: Ctx, token: string): Promise<boolean> {
  await consumeLimit('enrollCredential', ctx.tenant, ctx.ip)
  return (await ctx.db.prisma.enrollmentToken.count({ where: toCancelable(ctx, token, new Date()) })) > 0
}

/** Cancels a link, with its event; false when it was used, canceled or replaced before. */
export async function cancelRecovery(ctx: Ctx, token: string): Promise<boolean> {
  const now = new Date()
  await consumeLimit('enrollCredential', ctx.tenant, ctx.ip)
  return ctx.db.transaction(async (tx) => {
    const [canceled] = await tx.prisma.enrollmentToken.updateManyAndReturn({
      where: toCancelable(ctx, token, now),
      data: { usedAt: now, challenge: null },
      select: { userId: true },
    })
    if (canceled)
      await recordEvents(tx, toUserCtx(ctx, canceled), [
        createEvent('credential.enrollment_canceled', { userId: canceled.userId }),
      ])
    return canceled !== undefined
  })
}
