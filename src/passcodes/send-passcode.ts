import { newId } from '../crypto.ts'
import type { Ctx } from '../ctx.ts'
import { sql } from '../db.ts'
import { deliverMail } from '../delivery/mail.ts'
import { deliverSms } from '../delivery/sms.ts'
import { passcodeMail, passcodeSms } from '../delivery/texts.ts'
import { InvalidInput, NotFound, RateLimited, Unavailable, UserLocked } from '../errors.ts'
import { toEventRow, wakeReaders } from '../events.ts'
import { parse } from '../fields.ts'
import { spend } from '../limits.ts'
import { log } from '../log.ts'
import { findTenant } from '../tenants/tenant-cache.ts'
import { codeHashOf, newCode } from './code-hash.ts'
import { type Address, addressOf, type Channel, SendPasscode } from './passcodes.fields.ts'
import { insertCode, type Reservation, SEND_COOLDOWN_SECONDS, withdrawCode } from './passcodes.sql.ts'

/** Long enough for slow mail, short enough for a code of six digits. */
export const LIFETIME_MINUTES = 10

type Stored = Reservation & { code: string; codeHash: Buffer; tenantName: string }

/** Stores a new code for the address, one statement. A second try when another call created the user just now. */
async function storeCode(
  ctx: Ctx,
  address: Address,
  options: { createUser: boolean; keepUnknown: boolean },
  now: Date,
): Promise<Stored> {
  // Read for everybody, not only for those that something is sent to.
  const tenantName = (await findTenant(ctx.tenant))?.friendlyName ?? ctx.tenant
  const code = newCode()
  const codeHash = codeHashOf(ctx.tenant, address.key, code)
  const events = {
    created: toEventRow(ctx, { type: 'user.created' }),
    sent: toEventRow(ctx, { type: 'passcode.sent', detail: { channel: address.channel } }),
  }
  const store = () =>
    insertCode(
      sql,
      ctx.tenant,
      {
        ...address,
        shown: address.shown.normalize('NFC'),
        codeHash,
        now,
        expiresAt: new Date(now.getTime() + LIFETIME_MINUTES * 60_000),
        newUserId: options.createUser ? newId('user') : null,
        keepUnknown: options.keepUnknown,
      },
      events,
    )
  let stored = await store()
  // A user who was being created by somebody else is visible to the next statement only.
  if (stored.userId === null && options.createUser && !stored.waitUntil) stored = await store()
  if (stored.isReserved) wakeReaders(ctx.tenant)
  return { ...stored, code, codeHash, tenantName }
}

/** Sends a stored code; when that fails, takes it back and throws Unavailable. */
async function deliverCode(ctx: Ctx, address: Address, stored: Stored): Promise<void> {
  const { code, codeHash, tenantName } = stored
  const text = { tenantName, code, lifetimeMinutes: LIFETIME_MINUTES }
  try {
    if (address.channel === 'email') await deliverMail({ to: address.key, ...passcodeMail(text) })
    else await deliverSms({ to: address.key, body: passcodeSms(text) })
  } catch (error) {
    const event = toEventRow(ctx, {
      type: 'passcode.failed',
      detail: { channel: address.channel, reason: 'delivery' },
    })
    await withdrawCode(sql, ctx.tenant, address.key, codeHash, event)
    wakeReaders(ctx.tenant)
    throw error
  }
}

const secondsUntil = (time: Date | null, now: Date): number =>
  time ? Math.max(1, Math.ceil((time.getTime() - now.getTime()) / 1000)) : SEND_COOLDOWN_SECONDS

export type SentPasscode = { to: string; userId: string; userCreated: boolean }

/**
 * Sends a one-time passcode for a management caller (spec: Send email / SMS one-time passcode), who may know who is
 * who. The network's budget counts where the caller gives metadata.ipAddress; an address has its own, always.
 * Throws InvalidInput (also for an unverified address of a user who has a verified one: it cannot sign in), NotFound
 * without createUser, UserLocked, RateLimited, and Unavailable when the message could not be handed over.
 */
export async function sendPasscode(
  ctx: Ctx,
  channel: Channel,
  input: unknown,
  now = new Date(),
): Promise<SentPasscode> {
  const asked = parse(SendPasscode[channel], input)
  if (asked.metadata.ipAddress) await spend('sendPasscode', ctx.tenant, asked.metadata.ipAddress)
  const stored = await storeCode(ctx, asked.to, { createUser: asked.createUser, keepUnknown: false }, now)
  if (stored.locked) throw new UserLocked()
  if (stored.signsIn === false)
    throw new InvalidInput([
      { field: 'to', description: 'is not verified, and the user has a verified address: use that one' },
    ])
  if (stored.waitUntil || (stored.userId !== null && !stored.isReserved))
    throw new RateLimited(secondsUntil(stored.waitUntil, now))
  if (stored.userId === null) {
    if (asked.createUser) throw new Unavailable('The user is being created; try again.')
    throw new NotFound('user')
  }
  await deliverCode(ctx, asked.to, stored)
  return { to: asked.to.shown, userId: stored.userId, userCreated: stored.isCreated }
}

const underWay = new Set<Promise<void>>()

/** Waits for messages of hosted pages that are being sent. Call it before the database is closed. */
export async function settleDeliveries(): Promise<void> {
  while (underWay.size > 0) await Promise.all(underWay)
}

/**
 * After the mail or text message service failed, hosted pages say so to everybody for a while, instead of telling by
 * their answer who is known.
 */
const OUTAGE_MS = 10_000
const outageUntil: Record<Channel, number> = { email: 0, sms: 0 }

/** Throws Unavailable while messages of this kind are known not to get through, whoever is meant. */
export function assertDelivering(channel: Channel): void {
  if (outageUntil[channel] > Date.now())
    throw new Unavailable('Messages cannot be delivered at the moment; try again.')
}

/** Sends a message behind the answer: to wait for it would tell whether there was one. */
export function deliverBehind(channel: Channel, deliver: () => Promise<void>): void {
  const delivery: Promise<void> = deliver()
    .then(
      () => {
        outageUntil[channel] = 0
      },
      (error: unknown) => {
        outageUntil[channel] = Date.now() + OUTAGE_MS
        if (!(error instanceof Unavailable)) log.error({ err: error }, 'a code could not be taken back')
      },
    )
    .finally(() => underWay.delete(delivery))
  underWay.add(delivery)
}

/**
 * Sends a code for the hosted pages, without telling whether the address is known: for an unknown, locked or
 * exhausted one the same statement runs, and nothing is sent. The message goes out behind the answer, as waiting for
 * it would tell; when that fails, the address may ask again at once, and for 10 s everybody gets Unavailable.
 * Throws InvalidInput (no address), RateLimited (the network's budget) and Unavailable, whoever is meant.
 */
export async function sendSignInPasscode(ctx: Ctx, to: string, now = new Date()): Promise<void> {
  const address = addressOf(to)
  if (!address) throw new InvalidInput([{ field: 'to', description: 'must be an e-mail address' }])
  await spend('sendPasscode', ctx.tenant, ctx.ip)
  assertDelivering(address.channel)
  const stored = await storeCode(ctx, address, { createUser: false, keepUnknown: true }, now)
  const isRecipient = stored.userId !== null && !stored.locked && stored.signsIn && stored.isReserved
  if (!isRecipient) return
  deliverBehind(address.channel, () => deliverCode(ctx, address, stored))
}
