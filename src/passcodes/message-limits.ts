import type { Ctx } from '../core/context.ts'
import { hashAddress } from '../events/address-hash.ts'
import { signInFailed } from '../events/session-events.ts'
import { isKnownBrowser, type PasscodeOrigin } from './passcode-origin.ts'
import type { PasscodeAddress } from './passcodes.fields.ts'
import { limitSms, returnSms } from './sms-limits.ts'

/** Counts the message in the limits of its channel. Throws InvalidInput and RateLimited. */
export async function limitMessage(
  ctx: Ctx,
  { channel, key }: PasscodeAddress,
  origin: PasscodeOrigin,
  clientId: string | null,
): Promise<void> {
  if (channel === 'email') return
  const addressHash = hashAddress(ctx.tenant, key)
  await limitSms(ctx, {
    number: key,
    field: 'to',
    isKnown: isKnownBrowser(origin),
    toEvent: (reason) => signInFailed(channel, { clientId, addressHash, reason }),
  })
}

/** Returns a message that is not sent, to known and unknown addresses alike. */
export async function returnMessage(
  ctx: Ctx,
  { channel, key }: PasscodeAddress,
  origin: PasscodeOrigin,
): Promise<void> {
  if (channel === 'sms') await returnSms(ctx.tenant, key, { isKnown: isKnownBrowser(origin) })
}
