import { findClient } from '../access/client-cache.ts'
import { frameMessage, loadMessageTenant } from '../access/message-tenant.ts'
import { findTenant } from '../access/tenant-cache.ts'
import type { Ctx } from '../core/context.ts'
import { newId } from '../core/crypto.ts'
import { InvalidInput, NotFound, RateLimited, Unavailable, UserLocked } from '../core/errors.ts'
import { cleanTypedCode } from '../core/typed-text.ts'
import { sqlFor } from '../database/db.ts'
import { deliverInBackground } from '../delivery/background.ts'
import { deliverMail } from '../delivery/mail.ts'
import type { MessageTenant } from '../delivery/mail-content.ts'
import { buildPasscodeMail, buildPasscodeSms, type RequestingSignIn } from '../delivery/messages/passcode.ts'
import { assertDeliveryAvailable, checkDelivery } from '../delivery/outages.ts'
import { deliverSms } from '../delivery/sms.ts'
import { hashAddress } from '../events/address-hash.ts'
import { createEventRow, wakeReaders } from '../events/log.ts'
import { passcodeSent, passcodeUndelivered, signInFailed } from '../events/session-events.ts'
import { userCreated } from '../events/user-events.ts'
import { parseInput } from '../schema/input-shapes.ts'
import { withDevice } from '../sessions/device-tokens.ts'
import { findApiOrigin } from './known-devices.ts'
import { limitMessage, returnMessage } from './message-limits.ts'
import { limitNetwork, limitStranger } from './network-limits.ts'
import { SEND_COOLDOWN_SECONDS } from './passcode-budgets.sql.ts'
import { createCode, createLongCode, hashCode } from './passcode-hash.ts'
import { isKnownBrowser, type PasscodeOrigin } from './passcode-origin.ts'
import { type Channel, type PasscodeAddress, parseAddress, SendPasscode } from './passcodes.fields.ts'
import { type PasscodeReservation, reservePasscode, withdrawPasscode } from './passcodes.sql.ts'
import { describeSignIn } from './requesting-sign-in.ts'
import { canSignUp } from './sign-up-policy.ts'

/** The lifetime allows for slow e-mail and is short enough for six digits. */
export const PASSCODE_LIFETIME_MINUTES = 10

type StoredPasscode = PasscodeReservation & { code: string; codeHash: Buffer; tenant: MessageTenant }

/**
 * Stores a new code for the address in one statement. Retries once when a concurrent call created the user.
 */
async function storePasscode(
  ctx: Ctx,
  address: PasscodeAddress,
  origin: PasscodeOrigin,
  options: { createUser: boolean; keepUnknown: boolean; maySignUp: boolean; clientId: string | null },
  now: Date,
): Promise<StoredPasscode> {
  // Read for unknown addresses too, so that the response time is the same.
  const tenant = await loadMessageTenant(ctx.tenant)
  const [code, longCode] = [createCode(), createLongCode()]
  const codeHash = hashCode(ctx.tenant, address.key, code)
  const longHash = hashCode(ctx.tenant, address.key, cleanTypedCode(longCode))
  const { clientId } = options
  const addressHash = hashAddress(ctx.tenant, address.key)
  const events = {
    created: createEventRow(ctx, userCreated()),
    sent: createEventRow(ctx, passcodeSent(address.channel)),
    failed: createEventRow(ctx, signInFailed(address.channel, { clientId, addressHash })),
  }
  const store = () =>
    reservePasscode(
      sqlFor(ctx),
      ctx.tenant,
      {
        ...address,
        ...origin,
        shown: address.shown.normalize('NFC'),
        codeHash,
        longHash,
        now,
        expiresAt: new Date(now.getTime() + PASSCODE_LIFETIME_MINUTES * 60_000),
        newUserId: options.createUser ? newId('user') : null,
        keepUnknown: options.keepUnknown,
        maySignUp: options.maySignUp,
      },
      events,
    )
  let stored = await store()
  // A user whom a concurrent call created is visible only to the next statement.
  if (stored.userId === null && options.createUser && !stored.waitUntil) stored = await store()
  if (stored.isReserved || stored.locked) wakeReaders(ctx.tenant)
  const { isLong } = stored
  return { ...stored, code: isLong ? longCode : code, codeHash: isLong ? longHash : codeHash, tenant }
}

/**
 * Sends a stored code. `describe` tells about the sign-in in the language of the message, if a hosted page requested the
 * code. When the delivery fails, deletes the code
 * and throws Unavailable.
 */
async function deliverPasscode(
  ctx: Ctx,
  address: PasscodeAddress,
  { origin }: PasscodeOrigin,
  stored: StoredPasscode,
  describe: ((language: string) => RequestingSignIn) | null,
): Promise<void> {
  const { code, codeHash, tenant, locale, isSignUp } = stored
  const frame = frameMessage(ctx, tenant, locale)
  const signIn = describe?.(frame.words.language) ?? null
  const text = { ...frame, code, lifetimeMinutes: PASSCODE_LIFETIME_MINUTES, signIn, isSignUp }
  try {
    if (address.channel === 'email') await deliverMail({ to: address.key, ...buildPasscodeMail(text) })
    else await deliverSms({ to: address.key, body: buildPasscodeSms(text) })
  } catch (error) {
    const event = createEventRow(ctx, passcodeUndelivered(address.channel))
    await withdrawPasscode(sqlFor(ctx), ctx.tenant, { key: address.key, origin, codeHash }, event)
    wakeReaders(ctx.tenant)
    throw error
  }
}

const computeWaitSeconds = (time: Date | null, now: Date): number =>
  time ? Math.max(1, Math.ceil((time.getTime() - now.getTime()) / 1000)) : SEND_COOLDOWN_SECONDS

export type SentPasscode = { to: string; userId: string; userCreated: boolean }

/**
 * Sends a one-time passcode for a caller of the management API, who may learn whether a user exists. The
 * budget of the network applies when the caller gives metadata.ipAddress; the budget of the address always
 * applies. A device in which the address was proven before has budgets of its own instead. Throws InvalidInput (also for an unverified address of a user with a verified one, which cannot
 * sign in), NotFound without createUser, UserLocked, RateLimited, and Unavailable when the message could not
 * be delivered.
 */
export async function sendPasscode(
  callerCtx: Ctx,
  channel: Channel,
  input: unknown,
  now = new Date(),
): Promise<SentPasscode> {
  const request = parseInput(SendPasscode[channel], input)
  const { ipAddress } = request.metadata
  const ctx = withDevice(callerCtx, request.metadata)
  const origin = await findApiOrigin(ctx, request.to.key, request.metadata, { use: 'send', now })
  if (ipAddress && !isKnownBrowser(origin)) await limitNetwork('sendPasscode', ctx.tenant, ipAddress)
  const clientId = ctx.actor.kind === 'client' ? ctx.actor.clientId : null
  await limitMessage(ctx, request.to, origin, clientId)
  const options = { createUser: request.createUser, keepUnknown: false, maySignUp: false, clientId }
  const stored = await storePasscode(ctx, request.to, origin, options, now)
  if (!stored.isReserved) await returnMessage(ctx, request.to, origin)
  if (stored.locked) throw new UserLocked()
  if (stored.signsIn === false)
    throw new InvalidInput([
      { field: 'to', description: 'is not verified, and the user has a verified address: use that one' },
    ])
  if (stored.waitUntil || (stored.userId !== null && !stored.isReserved))
    throw new RateLimited(computeWaitSeconds(stored.waitUntil, now))
  if (stored.userId === null) {
    if (request.createUser) throw new Unavailable('The user is being created; try again.')
    throw new NotFound('user')
  }
  await deliverPasscode(ctx, request.to, origin, stored, null)
  return { to: request.to.shown, userId: stored.userId, userCreated: stored.isCreated }
}

/**
 * Sends the message for an address that a page was given, in the background; null when the address gets none.
 * The server is connected to in both cases, so that an outage does not reveal which addresses are known.
 */
export function answerAddressInBackground(
  tenant: string,
  { channel, key }: PasscodeAddress,
  deliver: (() => Promise<void>) | null,
): void {
  deliverInBackground(() => checkDelivery(tenant, channel, key))
  if (deliver) deliverInBackground(deliver)
}

/** The request of a code on a hosted page: the client of the sign-in, and where the code is to be entered. */
export type SignInPasscodeRequest = { clientId: string | null; origin: PasscodeOrigin }

/**
 * Sends a code for the hosted pages without revealing whether the address is known: for a locked address, and
 * an unknown one that may not sign up, the same statement runs and nothing is sent. The message is sent in the
 * background; when that fails, the address may request another code immediately. Returns the number of digits
 * of the code, null in the cooldown. Throws InvalidInput (not an address), RateLimited (the budget of the
 * network, or of the address), and Unavailable during an outage, for every address of the tenant.
 */
export async function sendSignInPasscode(
  ctx: Ctx,
  to: string,
  { clientId, origin }: SignInPasscodeRequest,
  now = new Date(),
): Promise<{ digits: 6 | 10 } | null> {
  const address = parseAddress(to)
  if (!address) throw new InvalidInput([{ field: 'to', description: 'must be an e-mail address' }])
  await limitStranger('sendPasscode', ctx, { isKnown: isKnownBrowser(origin) })
  await limitMessage(ctx, address, origin, clientId)
  assertDeliveryAvailable(ctx.tenant, address.channel)
  // Read for unknown addresses too, as the tenant is. The page has read it before.
  const client = clientId === null ? null : await findClient(ctx.tenant, clientId)
  const tenant = await findTenant(ctx.tenant)
  const maySignUp = tenant !== null && canSignUp(tenant, address)
  const options = { createUser: false, keepUnknown: true, maySignUp, clientId }
  const stored = await storePasscode(ctx, address, origin, options, now)
  if (!stored.isReserved) await returnMessage(ctx, address, origin)
  if (!stored.isReserved && stored.isLimited) throw new RateLimited(computeWaitSeconds(stored.waitUntil, now))
  const isRecipient =
    stored.isSignUp || (stored.userId !== null && !stored.locked && stored.signsIn && stored.isReserved)
  answerAddressInBackground(
    ctx.tenant,
    address,
    isRecipient
      ? () =>
          deliverPasscode(ctx, address, origin, stored, (language) =>
            describeSignIn(ctx, client, language, now),
          )
      : null,
  )
  // In the cooldown, the code that was sent before stays valid.
  if (!stored.isReserved) return null
  return { digits: stored.isLong ? 10 : 6 }
}
