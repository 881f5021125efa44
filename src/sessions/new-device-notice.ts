import { loadMessageFrame, WARNING } from '../access/message-tenant.ts'
import { describeRequestSource } from '../access/request-source.ts'
import type { Ctx } from '../context/context.ts'
import { takeSignInNotice } from '../coordination/person-budgets.ts'
import { env } from '../core/env.ts'
import { addSeconds } from '../core/time.ts'
import { deliverInBackground } from '../delivery/background.ts'
import { deliverMail } from '../delivery/mail.ts'
import { buildNewDeviceNotice } from '../delivery/messages/new-device.ts'
import { selectReturningUser } from './new-device-notice.sql.ts'

/** A session that began in these seconds may be the one that the notice is about. */
const SIGN_IN_SECONDS = 5

/**
 * Tells a user in the background, by mail, that somebody signed in from a browser in which the user did not sign in
 * before. A user who signs in for the first time gets no mail, unless the account is older than the event log. Call it after the session was committed.
 */
export function announceNewDevice(ctx: Ctx, userId: string, now = new Date()): void {
  deliverInBackground(async () => {
    const user = await selectReturningUser(ctx.db, {
      userId,
      since: addSeconds(now, -SIGN_IN_SECONDS),
    })
    if (!user || !takeSignInNotice(ctx.tenant, userId)) return
    const notice = buildNewDeviceNotice(await loadMessageFrame(ctx, user.locale, WARNING), {
      source: describeRequestSource(ctx, now),
      uri: `${env.baseUrl}/${ctx.tenant}/account/sessions`,
    })
    await deliverMail({ to: user.email, ...notice })
  })
}
