import { loadMessageFrame, WARNING } from '../access/message-tenant.ts'
import { describeRequestSource } from '../access/request-source.ts'
import type { Ctx } from '../context/context.ts'
import { deliverInBackground } from '../delivery/background.ts'
import { deliverMessage } from '../delivery/deliver-message.ts'
import { buildGuessNotice } from '../delivery/messages/wrong-codes.ts'
import type { PasscodeAttempt } from './passcode-guesses.sql.ts'
import type { PasscodeAddress } from './passcodes.fields.ts'

/**
 * Tells the user of an address, in the background, that wrong codes were entered. At most once a day: the
 * budget of guesses, whose end causes it, starts anew after a day without guesses.
 */
export function sendGuessNotice(
  ctx: Ctx,
  { channel, key }: PasscodeAddress,
  { ownerId, ownerLocked, ownerLocale }: Pick<PasscodeAttempt, 'ownerId' | 'ownerLocked' | 'ownerLocale'>,
): void {
  if (ownerId === null || ownerLocked) return
  deliverInBackground(async () => {
    const frame = await loadMessageFrame(ctx, ownerLocale, WARNING)
    const notice = buildGuessNotice(frame, describeRequestSource(ctx))
    await deliverMessage({ channel, to: key }, notice)
  })
}
