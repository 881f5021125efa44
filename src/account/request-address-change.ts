import { loadMessageFrame, loadMessageTenant } from '../access/message-tenant.ts'
import { describeRequestSource } from '../access/request-source.ts'
import { requireOwnAccount } from '../access/require-scope.ts'
import type { Ctx } from '../context/context.ts'
import { sha256 } from '../core/crypto.ts'
import { InvalidInput, NotFound, RateLimited } from '../core/errors.ts'
import { cleanTypedCode } from '../core/typed-text.ts'
import { deliverMessage } from '../delivery/deliver-message.ts'
import { buildAddressMessage } from '../delivery/messages/address-code.ts'
import { assertDeliveryAvailable } from '../delivery/outages.ts'
import { createEvent } from '../events/create-event.ts'
import { createEventRow } from '../events/log.ts'
import { limitNetwork } from '../passcodes/network-limits.ts'
import { SHARED_BUDGET } from '../passcodes/passcode-budgets.sql.ts'
import { createCode, createLongCode } from '../passcodes/passcode-hash.ts'
import type { Channel, PasscodeAddress } from '../passcodes/passcodes.fields.ts'
import { answerAddressInBackground } from '../passcodes/send-passcode.ts'
import { limitSms } from '../passcodes/sms-limits.ts'
import { computeWaitSeconds, PASSCODE_LIFETIME_MINUTES } from '../passcodes/store-passcode.ts'
import { parseInput } from '../schema/input-shapes.ts'
import { ADDRESS_FIELD, RequestAddressChange } from './account.fields.ts'
import {
  countChangeCode,
  findChangeWaitEnd,
  lockChangeRequester,
  reserveAddressChange,
  selectPendingChanges,
  storeChangeCode,
  withdrawAddressChange,
} from './address-change.sql.ts'
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
    const event = createEventRow(
      ctx,
      createEvent(
        'passcode.failed',
        { userId },
        { channel, purpose: CHANGE_CODE_PURPOSE, reason: 'delivery' },
      ),
    )
    await withdrawAddressChange(ctx.db, { userId, channel, codeHash }, event)
    throw error
  }
}

/**
 * Stores the change with a code, with an event that says whether it is sent or withheld because the address is another
 * user's. A user learns only of the limits on their own requests. When the messages to the address are used up, there is
 * no code, and when its guesses are used up, the code has ten digits. An address of another user has as many statements,
 * rows and events, so that response times do not reveal it, and a hash that no code has. Throws NotFound, InvalidInput and
 * RateLimited.
 */
async function storeAddressChange(ctx: Ctx, request: AddressChangeRequest, now: Date) {
  const { userId, address } = request
  const { channel, key } = address
  const change = {
    userId,
    channel,
    key,
    now,
    shown: address.shown.normalize('NFC'),
    expiresAt: new Date(now.getTime() + PASSCODE_LIFETIME_MINUTES * 60_000),
  }
  return ctx.db.transaction(async (tx) => {
    const requester = await lockChangeRequester(tx, change)
    if (!requester) throw new NotFound('user')
    if (requester.isOwn)
      throw new InvalidInput([
        { field: ADDRESS_FIELD[channel], description: 'is already your verified address' },
      ])
    if (!(await reserveAddressChange(tx, change)))
      throw new RateLimited(computeWaitSeconds(await findChangeWaitEnd(tx, change), now))
    const counted = await countChangeCode(tx, change)
    const { budget, isTaken, isLong } = counted ?? { budget: SHARED_BUDGET, isTaken: false, isLong: false }
    const code = isLong ? createLongCode() : createCode()
    const codeHash = hashChangeCode(ctx.tenant, request, cleanTypedCode(code))
    const stored = { codeHash: counted && (isTaken ? sha256(code) : codeHash), budget, isLong }
    const detail = { channel, purpose: CHANGE_CODE_PURPOSE } as const
    const event = isTaken
      ? createEvent('passcode.failed', { userId }, { ...detail, reason: 'taken' })
      : createEvent('passcode.sent', { userId }, detail)
    await storeChangeCode(tx, change, stored, counted ? [createEventRow(ctx, event)] : [])
    return { code, codeHash, locale: requester.locale, isSent: counted !== null && !isTaken }
  })
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
      toEvent: (reason) =>
        createEvent('passcode.failed', { userId }, { channel: 'sms', purpose: CHANGE_CODE_PURPOSE, reason }),
    })
  const { servers } = await loadMessageTenant(ctx.tenant)
  assertDeliveryAvailable(ctx.tenant, channel, servers)
  const request = { userId, sessionId, address }
  const { code, codeHash, locale, isSent } = await storeAddressChange(ctx, request, now)
  answerAddressInBackground(
    ctx.tenant,
    address,
    servers,
    isSent ? () => deliverChangeCode(ctx, request, locale, code, codeHash) : null,
  )
  return { sentTo: address.shown }
}

/**
 * Sends a code to the caller's new e-mail address, replacing a pending change. The code is valid for 10
 * minutes, in the same session. The response is the same for an address of another user, which gets no code;
 * messages are sent in the background. Throws InvalidInput, RateLimited (one in 30 s, 10 an hour, and per
 * network), Unavailable and StepUpRequired.
 */
export async function requestEmailChange(ctx: Ctx, input: unknown, now = new Date()) {
  return requestAddressChange(ctx, parseInput(RequestAddressChange.email, input).email, now)
}

/** Sends a code to the new phone number by text message, like requestEmailChange. */
export async function requestPhoneNumberChange(ctx: Ctx, input: unknown) {
  return requestAddressChange(ctx, parseInput(RequestAddressChange.sms, input).phoneNumber, new Date())
}

/** The new addresses of the caller that wait for their code, as they were entered, by channel. */
export async function findPendingChanges(ctx: Ctx): Promise<Partial<Record<Channel, string>>> {
  const { userId } = requireOwnAccount(ctx)
  const rows = await selectPendingChanges(ctx.db, userId, new Date())
  return Object.fromEntries(rows.map(({ channel, shown }) => [channel, shown]))
}
