import type { Ctx } from '../context/context.ts'
import { hashAddress } from '../events/address-hash.ts'
import { signInFailed } from '../events/session-events.ts'
import { isKnownBrowser, type PasscodeOrigin } from './passcode-origin.ts'
import type { PasscodeAddress } from './passcodes.fields.ts'
import { limitSms, returnSms } from './sms-limits.ts'

/**
 * Counts a message in the limits of its channel and runs `store`. A message of which nothing is stored is returned to
 * them, for known and unknown addresses alike. Throws InvalidInput, RateLimited, and the errors of `store`.
 */
export async function withinMessageLimits<T>(
  ctx: Ctx,
  { channel, key }: PasscodeAddress,
  origin: PasscodeOrigin,
  clientId: string | null,
  store: () => Promise<T | null>,
): Promise<T | null> {
  if (channel === 'email') return store()
  const isKnown = isKnownBrowser(origin)
  await limitSms(ctx, {
    number: key,
    field: 'to',
    isKnown,
    toEvent: (reason) =>
      signInFailed(channel, { clientId, addressHash: hashAddress(ctx.tenant, key), reason }),
  })
  const returnMessage = () => returnSms(ctx.tenant, key, { isKnown })
  const stored = await store().catch(async (error) => {
    await returnMessage()
    throw error
  })
  if (stored === null) await returnMessage()
  return stored
}
