import { loadMessageFrame } from '../access/message-tenant.ts'
import { describeRequestSource } from '../access/request-source.ts'
import type { Ctx } from '../core/context.ts'
import { InvalidInput, NotFound, RateLimited } from '../core/errors.ts'
import { cleanTypedCode } from '../core/typed-text.ts'
import { sqlFor } from '../database/db.ts'
import { deliverMessage } from '../delivery/deliver-message.ts'
import { buildAddressMessage } from '../delivery/messages/address-code.ts'
import { assertDeliveryAvailable } from '../delivery/outages.ts'
import { createEventRow, wakeReaders } from '../events/log.ts'
import {
  passcodeLimited,
  passcodeSent,
  passcodeUndelivered,
  passcodeWithheld,
} from '../events/session-events.ts'
import { limitNetwork } from '../passcodes/network-limits.ts'
import { SEND_COOLDOWN_SECONDS } from '../passcodes/passcode-budgets.sql.ts'
import { createCode, createLongCode } from '../passcodes/passcode-hash.ts'
import type { PasscodeAddress } from '../passcodes/passcodes.fields.ts'
import { answerAddressInBackground, PASSCODE_LIFETIME_MINUTES } from '../passcodes/send-passcode.ts'
import { limitSms } from '../passcodes/sms-limits.ts'
import { parseInput } from '../schema/input-shapes.ts'
import { ADDRESS_FIELD, RequestAddressChange } from './account.fields.ts'
import { reserveAddressChange, withdrawAddressChange } from './address-change.sql.ts'
import { type AddressChangeRequest, CHANGE_CODE_PURPOSE, hashChangeCode } from './address-change-code.ts'
import { requireStepUp } from './step-up.ts'

/** Sends the code to the new address. On failure, withdraws it and throws Unavailable. */
async function deliverChangeCode(
  ctx: Ctx,
  { userId, address }: AddressChangeRequest,
  locale: string | null,
  code: string,
  codeHash: Buffer,
) {
  const { channel, key } = address
  const text = {
    ...(await loadMessageFrame(ctx, locale)),
    code,
    lifetimeMinutes: PASSCODE_LIFETIME_MINUTES,
    source: describeRequestSource(ctx),
  }
  try {
    await deliverMessage({ channel, to: key }, buildAddressMessage(text))
  } catch (error) {
    const event = createEventRow(ctx, passcodeUndelivered(channel, { userId, purpose: CHANGE_CODE_PURPOSE }))
    await withdrawAddressChange(sqlFor(ctx), ctx.tenant, { userId, channel, codeHash }, event)
    wakeReaders(ctx.tenant)
    throw error
  }
}

async function requestAddressChange(
  ctx: Ctx,
  address: PasscodeAddress,
  now: Date,
): Promise<{ sentTo: string }> {
  const { userId, sessionId } = await requireStepUp(ctx, now)
  const { channel, key } = address
  await limitNetwork('sendPasscode', ctx.tenant, ctx.ip)
  if (channel === 'sms')
    await limitSms(ctx, {
      number: key,
      field: ADDRESS_FIELD.sms,
      toEvent: (reason) => passcodeLimited({ userId, purpose: CHANGE_CODE_PURPOSE }, reason),
    })
  assertDeliveryAvailable(ctx.tenant, channel)
  const [code, longCode] = [createCode(), createLongCode()]
  const request = { userId, sessionId, address }
  const codeHash = hashChangeCode(ctx.tenant, request, code)
  const longHash = hashChangeCode(ctx.tenant, request, cleanTypedCode(longCode))
  const reserved = await reserveAddressChange(
    sqlFor(ctx),
    ctx.tenant,
    {
      userId,
      channel,
      key,
      shown: address.shown.normalize('NFC'),
      codeHash,
      longHash,
      now,
      expiresAt: new Date(now.getTime() + PASSCODE_LIFETIME_MINUTES * 60_000),
    },
    {
      sent: createEventRow(ctx, passcodeSent(channel, { userId, purpose: CHANGE_CODE_PURPOSE })),
      withheld: createEventRow(ctx, passcodeWithheld(channel, { userId, purpose: CHANGE_CODE_PURPOSE })),
    },
  )
  if (!reserved) throw new NotFound('user')
  if (reserved.isOwn)
    throw new InvalidInput([
      { field: ADDRESS_FIELD[channel], description: 'is already your verified address' },
    ])
  if (!reserved.isPending) {
    const waitMs = reserved.waitUntil
      ? reserved.waitUntil.getTime() - now.getTime()
      : SEND_COOLDOWN_SECONDS * 1000
    throw new RateLimited(Math.max(1, Math.ceil(waitMs / 1000)))
  }
  wakeReaders(ctx.tenant)
  const stored = reserved.isLong ? ([longCode, longHash] as const) : ([code, codeHash] as const)
  answerAddressInBackground(
    ctx.tenant,
    address,
    reserved.hasCode ? () => deliverChangeCode(ctx, request, reserved.locale, ...stored) : null,
  )
  return { sentTo: address.shown }
}

/**
 * Sends a code to the caller's new e-mail address, replacing a pending change. The code is valid for 10
 * minutes, in the same session. The response is the same for an address of another user, which gets no code;
 * messages are sent in the background. Throws InvalidInput, RateLimited (one in 30 s, 10 an hour, and per
 * network), Unavailable, and as requireStepUp.
 */
export async function requestEmailChange(ctx: Ctx, input: unknown, now = new Date()) {
  return requestAddressChange(ctx, parseInput(RequestAddressChange.email, input).email, now)
}

/** Sends a code to the new phone number by text message, like requestEmailChange. */
export async function requestPhoneNumberChange(ctx: Ctx, input: unknown, now = new Date()) {
  return requestAddressChange(ctx, parseInput(RequestAddressChange.sms, input).phoneNumber, now)
}
