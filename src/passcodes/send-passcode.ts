import { findClient } from '../access/client-cache.ts'
import { frameMessage, loadMessageTenant } from '../access/message-tenant.ts'
import { describeRequestSource } from '../access/request-source.ts'
import { findTenant } from '../access/tenant-cache.ts'
import type { Ctx } from '../context/context.ts'
import { env } from '../core/env.ts'
import { InvalidInput, NotFound, RateLimited, Unavailable, UserLocked } from '../core/errors.ts'
import { repeatOnConflict } from '../core/to-app-error.ts'
import type { Tx } from '../database/handle.ts'
import { deliverInBackground } from '../delivery/background.ts'
import { deliverMail } from '../delivery/mail.ts'
import type { MessageTenant } from '../delivery/mail-content.ts'
import { buildPasscodeMail, buildPasscodeSms, type RequestingSignIn } from '../delivery/messages/passcode.ts'
import { assertDeliveryAvailable, checkDelivery } from '../delivery/outages.ts'
import { deliverSms } from '../delivery/sms.ts'
import { hashAddress } from '../events/address-hash.ts'
import { createEvent } from '../events/create-event.ts'
import { createEventRow, recordEvents } from '../events/log.ts'
import type { SignInFailure } from '../events/reasons.ts'
import { localizeClient } from '../languages/localize-client.ts'
import { parseInput } from '../schema/input-shapes.ts'
import { withDevice } from '../sessions/device-tokens.ts'
import { toUserColumns } from '../users/user-body.ts'
import { insertUserWithEvents } from '../users/users.ts'
import { lockPasscodeRecipient, type PasscodeRecipient } from './address-owner.sql.ts'
import { findApiOrigin } from './known-devices.ts'
import { limitNetwork, limitUnauthenticated } from './network-limits.ts'
import { CHANNEL_COLUMNS } from './passcode-budgets.sql.ts'
import { isKnownBrowser, type PasscodeOrigin } from './passcode-origin.ts'
import { type Channel, type PasscodeAddress, parseAddress, SendPasscode } from './passcodes.fields.ts'
import { lockPasscode, withdrawPasscode } from './passcodes.sql.ts'
import { canSignUp } from './sign-up-policy.ts'
import { withinMessageLimits } from './sms-limits.ts'
import {
  computeWaitSeconds,
  PASSCODE_LIFETIME_MINUTES,
  type StoredPasscode,
  storePasscode,
} from './store-passcode.ts'

/** A stored code, and what its message needs. */
type PasscodeMessage = StoredPasscode & { tenant: MessageTenant; locale: string | null; isSignUp: boolean }

/**
 * Sends a stored code. `describe` tells about the sign-in in the language of the message, if a hosted page requested the
 * code. When the delivery fails, deletes the code
 * and throws Unavailable.
 */
async function deliverPasscode(
  ctx: Ctx,
  address: PasscodeAddress,
  { origin }: PasscodeOrigin,
  message: PasscodeMessage,
  describe: ((language: string) => RequestingSignIn) | null,
): Promise<void> {
  const { code, codeHash, tenant, locale, isSignUp } = message
  const frame = frameMessage(ctx, tenant, locale)
  const signIn = describe?.(frame.words.language) ?? null
  const text = { ...frame, code, lifetimeMinutes: PASSCODE_LIFETIME_MINUTES, signIn, isSignUp }
  try {
    if (address.channel === 'email') await deliverMail({ to: address.key, ...buildPasscodeMail(text) })
    else await deliverSms({ to: address.key, body: buildPasscodeSms(text), servers: tenant.servers })
  } catch (error) {
    const event = createEventRow(
      ctx,
      createEvent('passcode.failed', null, { channel: address.channel, reason: 'delivery' }),
    )
    await withdrawPasscode(ctx.db, { key: address.key, origin, codeHash }, event)
    throw error
  }
}

export type SentPasscode = { to: string; userId: string; userCreated: boolean }

/**
 * The user who has an address, who is created if `createUser` says so; null, with an event, when the user is locked.
 * Throws NotFound and InvalidInput.
 */
async function requireRecipient(
  tx: Tx,
  ctx: Ctx,
  { to, createUser }: { to: PasscodeAddress; createUser: boolean },
  clientId: string | null,
): Promise<{ userId: string; locale: string | null; userCreated: boolean } | null> {
  const { channel, key, shown } = to
  const recipient = await lockPasscodeRecipient(tx, to)
  if (!recipient) {
    if (!createUser) throw new NotFound('user')
    const columns = toUserColumns({ [CHANNEL_COLUMNS[channel].shown]: shown })
    const { id } = await insertUserWithEvents(tx, ctx, columns)
    return { userId: id, locale: null, userCreated: true }
  }
  const { id: userId, locale } = recipient
  if (recipient.locked) {
    const addressHash = hashAddress(ctx.tenant, key)
    await recordEvents(tx, ctx, [
      createEvent(
        'signin.failed',
        { userId, clientId, addressHash },
        { method: 'passcode', channel, reason: 'locked' },
      ),
    ])
    return null
  }
  if (!recipient.signsIn)
    throw new InvalidInput([
      { field: 'to', description: 'is not verified, and the user has a verified address: use that one' },
    ])
  return { userId, locale, userCreated: false }
}

/**
 * Sends a one-time passcode for a caller of the management API, who may learn whether a user exists. The
 * budget of the network applies when the caller gives metadata.ipAddress; the budget of the address always
 * applies, and beyond it no user is created. A device in which the address was proven before has budgets of its own
 * instead. Throws InvalidInput (also for an unverified address of a user with a verified one, which cannot
 * sign in), NotFound without createUser, UserLocked, RateLimited, and Unavailable when the message could not
 * be delivered.
 */
export async function sendPasscode(callerCtx: Ctx, channel: Channel, input: unknown): Promise<SentPasscode> {
  const now = new Date()
  const request = parseInput(SendPasscode[channel], input)
  const { to, metadata } = request
  const ctx = withDevice(callerCtx, metadata)
  const origin = await findApiOrigin(ctx, to.key, metadata, { use: 'send', now })
  if (metadata.ipAddress && !isKnownBrowser(origin))
    await limitNetwork('sendPasscode', ctx.tenant, metadata.ipAddress)
  const clientId = ctx.actor.kind === 'client' ? ctx.actor.clientId : null
  const tenant = await loadMessageTenant(ctx.tenant)
  const store = () =>
    ctx.db.transaction(async (tx) => {
      const recipient = await requireRecipient(tx, ctx, request, clientId)
      if (!recipient) return null
      const requested = { address: to, origin, now }
      const waitUntil = await lockPasscode(tx, requested)
      if (waitUntil) throw new RateLimited(computeWaitSeconds(waitUntil, now))
      const { userId } = recipient
      const code = await storePasscode(tx, ctx, requested, { userId, isSignUp: false })
      await recordEvents(tx, ctx, [createEvent('passcode.sent', { userId }, { channel })])
      return { ...recipient, ...code, tenant, isSignUp: false }
    })
  const stored = await withinMessageLimits(ctx, to, origin, clientId, () =>
    repeatOnConflict(store, () => new Unavailable('The user is being created; try again.')),
  )
  if (!stored) throw new UserLocked()
  await deliverPasscode(ctx, to, origin, stored, null)
  return { to: to.shown, userId: stored.userId, userCreated: stored.userCreated }
}

/**
 * Sends the message for an address that a page was given, in the background; null when the address gets none.
 * The server is connected to in both cases, so that an outage does not reveal which addresses are known.
 */
export function answerAddressInBackground(
  tenant: string,
  { channel, key }: PasscodeAddress,
  servers: MessageTenant['servers'],
  deliver: (() => Promise<void>) | null,
): void {
  deliverInBackground(() => checkDelivery(tenant, channel, key, servers))
  if (deliver) deliverInBackground(deliver)
}

/** The request of a code on a hosted page: the client of the sign-in, and where the code is to be entered. */
export type SignInPasscodeRequest = { clientId: string | null; origin: PasscodeOrigin }

/** Describes the sign-in that requested a code, for a message in `language`. */
const describeSignIn = (
  ctx: Ctx,
  client: { name: string; registeredBy: string; translations?: unknown } | null,
  language: string,
  now: Date,
): RequestingSignIn => ({
  ...describeRequestSource(ctx, now),
  clientName: client && localizeClient(client, language).name,
  isManagedClient: client?.registeredBy === 'administrator',
  host: new URL(env.baseUrl).hostname,
})

/** Why an address that may not sign up is sent no code; null when it is sent one. */
function toWithheldReason(recipient: PasscodeRecipient | null): SignInFailure | null {
  if (!recipient) return 'unknown'
  if (recipient.locked) return 'locked'
  return recipient.signsIn ? null : 'unverified'
}

/**
 * Sends a code for the hosted pages without revealing whether the address is known: for a locked address, and
 * an unknown one that may not sign up, the same statements run and nothing is sent. The message is sent in the
 * background; when that fails, the address may request another code immediately. Returns the number of digits
 * of the code, null in the cooldown. Throws InvalidInput (not an address), RateLimited (the budget of the
 * network, or of the address), and Unavailable during an outage, for every address of the tenant.
 */
export async function sendSignInPasscode(
  ctx: Ctx,
  to: string,
  { clientId, origin }: SignInPasscodeRequest,
): Promise<{ digits: 6 | 10 } | null> {
  const now = new Date()
  const address = parseAddress(to)
  if (!address) throw new InvalidInput([{ field: 'to', description: 'must be an e-mail address' }])
  const { channel, key } = address
  await limitUnauthenticated('sendPasscode', ctx, { isKnown: isKnownBrowser(origin) })
  // Read for unknown addresses too. The page has read them before.
  const client = clientId === null ? null : await findClient(ctx.tenant, clientId)
  const settings = await findTenant(ctx.tenant)
  const tenant = await loadMessageTenant(ctx.tenant)
  const maySignUp = settings !== null && canSignUp(settings, address)
  const store = () =>
    ctx.db.transaction(async (tx) => {
      const recipient = await lockPasscodeRecipient(tx, address)
      const requested = { address, origin, now }
      // In the cooldown, the code that was sent before stays valid.
      if (await lockPasscode(tx, requested)) return null
      const isSignUp = maySignUp && !recipient
      const reason = isSignUp ? null : toWithheldReason(recipient)
      const ownerId = recipient?.id ?? null
      const userId = reason === null ? ownerId : null
      const code = await storePasscode(tx, ctx, requested, { userId, isSignUp })
      const event =
        reason === null
          ? createEvent('passcode.sent', { userId }, { channel, purpose: isSignUp ? 'sign-up' : undefined })
          : createEvent(
              'signin.failed',
              { userId: ownerId, clientId, addressHash: hashAddress(ctx.tenant, key) },
              { method: 'passcode', channel, reason },
            )
      await recordEvents(tx, ctx, [event])
      return { ...code, tenant, locale: recipient?.locale ?? null, isSignUp, isSent: reason === null }
    })
  const stored = await withinMessageLimits(ctx, address, origin, clientId, async () => {
    assertDeliveryAvailable(ctx.tenant, channel, tenant.servers)
    return store()
  })
  answerAddressInBackground(
    ctx.tenant,
    address,
    tenant.servers,
    stored?.isSent
      ? () =>
          deliverPasscode(ctx, address, origin, stored, (language) =>
            describeSignIn(ctx, client, language, now),
          )
      : null,
  )
  return stored && { digits: stored.isLong ? 10 : 6 }
}
