import type { Ctx } from '../ctx.ts'
import { sql } from '../db.ts'
import { passcodeMail, passcodeSms } from '../delivery/texts.ts'
import { InvalidInput, NotFound, RateLimited } from '../errors.ts'
import { toEventRow, wakeReaders } from '../events.ts'
import { parse } from '../fields.ts'
import { spend } from '../limits.ts'
import { newCode } from '../passcodes/code-hash.ts'
import type { Address } from '../passcodes/passcodes.fields.ts'
import { SEND_COOLDOWN_SECONDS } from '../passcodes/passcodes.sql.ts'
import { assertDelivering, deliverBehind, LIFETIME_MINUTES } from '../passcodes/send-passcode.ts'
import { reserveAddressChange, withdrawAddressChange } from './address-change.sql.ts'
import { type Asking, changeCodeHashOf, deliver, tenantWords, told } from './change-code.ts'
import { requireOwnAccess } from './own-access.ts'
import { ADDRESS_FIELD, RequestAddressChange } from './self.fields.ts'

/** Sends the code to the new address; when that fails, takes it back and throws Unavailable. */
async function deliverCode(ctx: Ctx, { userId, address }: Asking, code: string, codeHash: Buffer) {
  const { channel, key } = address
  const text = {
    tenantName: (await tenantWords(ctx.tenant)).tenantName,
    code,
    lifetimeMinutes: LIFETIME_MINUTES,
  }
  const message =
    channel === 'email' ? passcodeMail(text, 'address') : { subject: '', text: passcodeSms(text, 'address') }
  try {
    await deliver({ channel, to: key, ...message })
  } catch (error) {
    const event = toEventRow(ctx, {
      type: 'passcode.failed',
      userId,
      detail: { ...told(channel), reason: 'delivery' },
    })
    await withdrawAddressChange(sql, ctx.tenant, { userId, channel, codeHash }, event)
    wakeReaders(ctx.tenant)
    throw error
  }
}

async function requestChange(ctx: Ctx, address: Address, now: Date): Promise<{ sentTo: string }> {
  const { userId, sessionId } = await requireOwnAccess(ctx, now)
  const { channel, key } = address
  await spend('sendPasscode', ctx.tenant, ctx.ip)
  assertDelivering(channel)
  const code = newCode()
  const asking = { userId, sessionId, address }
  const codeHash = changeCodeHashOf(ctx.tenant, asking, code)
  const reserved = await reserveAddressChange(
    sql,
    ctx.tenant,
    {
      userId,
      channel,
      key,
      shown: address.shown.normalize('NFC'),
      codeHash,
      now,
      expiresAt: new Date(now.getTime() + LIFETIME_MINUTES * 60_000),
    },
    toEventRow(ctx, { type: 'passcode.sent', userId, detail: told(channel) }),
  )
  if (!reserved) throw new NotFound('user')
  if (reserved.isOwn)
    throw new InvalidInput([{ field: ADDRESS_FIELD[channel], description: 'is yours already, and proven' }])
  if (!reserved.isAsked) {
    const waitMs = reserved.waitUntil
      ? reserved.waitUntil.getTime() - now.getTime()
      : SEND_COOLDOWN_SECONDS * 1000
    throw new RateLimited(Math.max(1, Math.ceil(waitMs / 1000)))
  }
  if (reserved.hasCode) {
    wakeReaders(ctx.tenant)
    deliverBehind(channel, () => deliverCode(ctx, asking, code, codeHash))
  }
  return { sentTo: address.shown }
}

/**
 * Sends a code to the e-mail address that the caller wants as theirs, in place of a change that was pending. It works for
 * 10 minutes, in the session that asked. An address of somebody else's gets the same answer and no code (security 46);
 * messages go out behind the answer. Throws SignInTooOld, InvalidInput, RateLimited (30 s between two, 10 an hour, the
 * network's budget) and Unavailable.
 */
export async function requestEmailChange(ctx: Ctx, input: unknown, now = new Date()) {
  return requestChange(ctx, parse(RequestAddressChange.email, input).email, now)
}

/** The same for a phone number, by text message. */
export async function requestPhoneNumberChange(ctx: Ctx, input: unknown, now = new Date()) {
  return requestChange(ctx, parse(RequestAddressChange.sms, input).phoneNumber, now)
}
