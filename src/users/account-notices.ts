import { loadMessageFrame, NOTICE } from '../access/message-tenant.ts'
import { describeRequestSource } from '../access/request-source.ts'
import type { Ctx } from '../core/context.ts'
import { env } from '../core/env.ts'
import { sql } from '../database/db.ts'
import { deliverInBackground } from '../delivery/background.ts'
import { deliverMessage } from '../delivery/deliver-message.ts'
import { type AccountChange, buildAccountNotice } from '../delivery/messages/account-changed.ts'
import { selectNoticeAddresses } from './notice-addresses.sql.ts'

/** The path of the account page on which a user sees and removes ways to sign in, after the tenant. */
const METHODS_PATH = '/account/sign-in-methods'

const isSelf = ({ actor }: Ctx, userId: string): boolean => actor.kind === 'user' && actor.userId === userId

/**
 * Tells a user, in the background, that a way to sign in was added or removed, at the verified e-mail address, or by
 * text message without one. Call it after the change was committed.
 */
export function announceAccountChange(
  ctx: Ctx,
  userId: string,
  change: AccountChange,
  now = new Date(),
): void {
  deliverInBackground(async () => {
    const addresses = await selectNoticeAddresses(sql, ctx.tenant, userId)
    if (!addresses) return
    const to = addresses.email ?? addresses.phoneNumber
    // A number with an extension gets no text messages.
    if (to === null || to.includes(';')) return
    const notice = buildAccountNotice(await loadMessageFrame(ctx.tenant, addresses.locale, NOTICE), {
      change,
      isByAdministrator: !isSelf(ctx, userId),
      source: describeRequestSource(ctx, now),
      uri: `${env.baseUrl}/${ctx.tenant}${METHODS_PATH}`,
    })
    await deliverMessage({ to, channel: addresses.email ? 'email' : 'sms' }, notice)
  })
}
