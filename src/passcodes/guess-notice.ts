import { loadMessageTenant } from '../access/message-tenant.ts'
import type { Ctx } from '../core/context.ts'
import { deliverMail } from '../delivery/mail.ts'
import { buildGuessNotice } from '../delivery/message-texts.ts'
import { deliverSms } from '../delivery/sms.ts'
import type { PasscodeAddress } from './passcodes.fields.ts'
import { deliverInBackground } from './send-passcode.ts'

/**
 * Tells the user of an address, in the background, that wrong codes were entered. At most once a day: the
 * budget of guesses, whose end causes it, starts anew after a day without guesses.
 */
export function sendGuessNotice(
  ctx: Ctx,
  { channel, key }: PasscodeAddress,
  { ownerId, isLocked }: { ownerId: string | null; isLocked: boolean },
): void {
  if (ownerId === null || isLocked) return
  deliverInBackground(async () => {
    const notice = buildGuessNotice(await loadMessageTenant(ctx.tenant))
    if (channel === 'email') await deliverMail({ to: key, ...notice })
    else await deliverSms({ to: key, body: notice.text })
  })
}
