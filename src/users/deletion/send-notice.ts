import { loadMessageFrame, NOTICE } from '../../access/message-tenant.ts'
import type { Ctx } from '../../context/context.ts'
import { deliverInBackground } from '../../delivery/background.ts'
import { deliverMessage, type Message } from '../../delivery/deliver-message.ts'
import type { MessageFrame } from '../../delivery/mail-content.ts'
import { type NoticeAddresses, selectNoticeAddresses } from './notice-addresses.sql.ts'

/**
 * Sends a notice, in the background, to the verified e-mail address, or by text message without one. Nothing is sent
 * without an address.
 */
export function sendNoticeTo(
  ctx: Ctx,
  findAddresses: () => Promise<NoticeAddresses | null>,
  buildNotice: (frame: MessageFrame) => Message,
): void {
  deliverInBackground(async () => {
    const addresses = await findAddresses()
    if (!addresses) return
    const to = addresses.email ?? addresses.phoneNumber
    // A number with an extension gets no text messages.
    if (to === null || to.includes(';')) return
    const notice = buildNotice(await loadMessageFrame(ctx, addresses.locale, NOTICE))
    await deliverMessage({ to, channel: addresses.email ? 'email' : 'sms' }, notice)
  })
}

/** Sends a notice to a user, as `sendNoticeTo` does. Call it after the change was committed. */
export const sendNotice = (ctx: Ctx, userId: string, buildNotice: (frame: MessageFrame) => Message): void =>
  sendNoticeTo(ctx, () => selectNoticeAddresses(ctx.db, userId), buildNotice)
