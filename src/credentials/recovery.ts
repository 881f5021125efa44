import { loadMessageTenant } from '../access/message-tenant.ts'
import { consumeLimit } from '../coordination/rate-limits.ts'
import { type Ctx, toUserCtx } from '../core/context.ts'
import { sha256 } from '../core/crypto.ts'
import { env } from '../core/env.ts'
import { inTransaction, sql } from '../database/db.ts'
import { deliverInBackground } from '../delivery/background.ts'
import { deliverMessage, type Recipient } from '../delivery/deliver-message.ts'
import { buildRecoveryNotice } from '../delivery/messages/recovery-link.ts'
import { enrollmentCanceled } from '../events/credential-events.ts'
import { recordEvents, wakeReaders } from '../events/log.ts'
import type { Enrollee } from './enrollment.sql.ts'
import { cancelEnrollmentToken, selectCancelableEnrollment, selectWaitingEnrollment } from './recovery.sql.ts'

/** A link that gives a user who has a credential access again, and how the user cancels it. */
export type Recovery = { cancelToken: string; usableAt: Date }

/**
 * Announces a link to every verified address of the user, in the background, so that the user can cancel it.
 */
export function announceRecovery(
  ctx: Ctx,
  { email, phoneNumber }: Pick<Enrollee, 'email' | 'phoneNumber'>,
  { cancelToken, usableAt }: Recovery,
): void {
  const uri = `${env.baseUrl}/${ctx.tenant}/enroll/cancel?token=${cancelToken}`
  const announce = (recipient: Recipient) =>
    deliverInBackground(async () =>
      deliverMessage(recipient, buildRecoveryNotice(await loadMessageTenant(ctx.tenant), { uri, usableAt })),
    )
  if (email !== null) announce({ channel: 'email', to: email })
  if (phoneNumber !== null && !phoneNumber.includes(';')) announce({ channel: 'sms', to: phoneNumber })
}

/** When a waiting link starts to work; null for any other link. */
export const findWaitingEnrollment = (ctx: Ctx, token: string, now = new Date()): Promise<Date | null> =>
  selectWaitingEnrollment(sql, ctx.tenant, sha256(token), now)

/** Whether a link can be canceled with this token. Counts against the budget of the network. */
export async function isCancelable(ctx: Ctx, token: string, now = new Date()): Promise<boolean> {
  await consumeLimit('enrollCredential', ctx.tenant, ctx.ip)
  return (await selectCancelableEnrollment(sql, ctx.tenant, sha256(token), now)) !== null
}

/** Cancels a link, with its event; false when it was used, canceled or replaced before. */
export async function cancelRecovery(ctx: Ctx, token: string, now = new Date()): Promise<boolean> {
  await consumeLimit('enrollCredential', ctx.tenant, ctx.ip)
  const userId = await inTransaction(async (sql) => {
    const userId = await cancelEnrollmentToken(sql, ctx.tenant, sha256(token), now)
    if (userId) await recordEvents(sql, toUserCtx(ctx, { userId }), [enrollmentCanceled(userId)])
    return userId
  })
  wakeReaders(ctx.tenant)
  return userId !== null
}
