import { shareRoles } from '../access/held-roles.sql.ts'
import { loadMessageFrame, NOTICE } from '../access/message-tenant.ts'
import { describeRequestSource } from '../access/request-source.ts'
import { requireNoEscalation, requireOwnAccount, requireOwnChange } from '../access/require-scope.ts'
import type { Ctx } from '../context/context.ts'
import { InvalidCredential } from '../core/errors.ts'
import { getRoleScopes } from '../core/scopes.ts'
import { cleanTypedCode } from '../core/typed-text.ts'
import { deliverInBackground } from '../delivery/background.ts'
import { deliverMessage, type Recipient } from '../delivery/deliver-message.ts'
import { buildChangeNotice } from '../delivery/messages/address-changed.ts'
import { createEvent } from '../events/create-event.ts'
import { recordEvents } from '../events/log.ts'
import type { User } from '../generated/prisma/client.ts'
import { hasJoinDomains, joinByDomain } from '../organizations/domain-joins.ts'
import { limitNetwork, returnProvenCode } from '../passcodes/network-limits.ts'
import { toApiOrigin } from '../passcodes/passcode-origin.ts'
import type { Channel, PasscodeAddress } from '../passcodes/passcodes.fields.ts'
import { parseInput } from '../schema/input-shapes.ts'
import { toChangedFields, toUserColumns } from '../users/user-body.ts'
import { updateUserRow } from '../users/users.sql.ts'
import { ConfirmAddressChange } from './account.fields.ts'
import { countChangeAttempt, type RedeemedAddressChange, redeemAddressChange } from './address-change.sql.ts'
import { CHANGE_CODE_PURPOSE, isMatchingChangeCode } from './address-change-code.ts'

/**
 * One error for a wrong, used, expired or exhausted code, and for an address without a pending change.
 */
const createWrongCodeError = () => new InvalidCredential('The code is wrong or has expired.')

const toAddressColumns = (channel: Channel, shown: string) =>
  toUserColumns(
    channel === 'email'
      ? { email: shown, emailVerified: true }
      : { phoneNumber: shown, phoneNumberVerified: true },
  )

/** The recipient of the notice: a verified address before the change, by e-mail if possible. */
function selectNoticeRecipient(before: RedeemedAddressChange): Recipient | null {
  if (before.emailVerified && before.emailKey) return { channel: 'email', to: before.emailKey }
  if (before.phoneNumberVerified && before.phoneNumberKey && !before.phoneNumberKey.includes(';'))
    return { channel: 'sms', to: before.phoneNumberKey }
  return null
}

/** Notifies the user, at an address from before the change. Failures are logged. */
async function sendChangeNotice(
  ctx: Ctx,
  { locale }: User,
  before: RedeemedAddressChange,
  changed: Channel,
): Promise<void> {
  const target = selectNoticeRecipient(before)
  if (!target) return
  const addressKind = changed === 'email' ? 'email' : 'phone'
  const frame = await loadMessageFrame(ctx, locale, NOTICE)
  deliverInBackground(() =>
    deliverMessage(target, buildChangeNotice(frame, addressKind, describeRequestSource(ctx))),
  )
}

async function confirmAddressChange(
  ctx: Ctx,
  address: PasscodeAddress,
  code: string,
  now: Date,
): Promise<User> {
  const { userId, sessionId } = requireOwnChange(ctx)
  const { channel, key } = address
  if (sessionId === null) throw createWrongCodeError()
  await limitNetwork('authenticatePasscode', ctx.tenant, ctx.ip)
  const pending = { userId, channel, key, now }
  const codeHash = await countChangeAttempt(ctx.db, pending)
  const request = { userId, sessionId, address }
  if (!codeHash || !isMatchingChangeCode(ctx.tenant, request, cleanTypedCode(code), codeHash)) {
    // Also without a pending change, so that the response time does not reveal whether there is one.
    await recordEvents(ctx.db, ctx, [
      createEvent('passcode.failed', { userId }, { channel, purpose: CHANGE_CODE_PURPOSE }),
    ])
    throw createWrongCodeError()
  }
  const joins = channel === 'email' && (await hasJoinDomains(ctx))
  const { before, user, changed } = await ctx.db.transaction(async (tx) => {
    const before = await redeemAddressChange(tx, pending, codeHash)
    const updated = before && (await updateUserRow(tx, userId, toAddressColumns(channel, before.shown)))
    if (!updated) throw createWrongCodeError()
    requireNoEscalation(ctx, getRoleScopes(await shareRoles(tx, updated.before.roles)))
    const changedFields = toChangedFields(updated.changed)
    if (changedFields.length > 0)
      await recordEvents(tx, ctx, [createEvent('user.updated', { userId, changedFields })])
    if (joins) await joinByDomain(tx, ctx, { userId, emailKey: key })
    return { before, user: updated.user, changed: updated.changed }
  })
  await returnProvenCode(ctx.tenant, ctx.ip, { origin: toApiOrigin(ctx.ip), address })
  if (changed.includes(channel === 'email' ? 'emailKey' : 'phoneNumberKey'))
    await sendChangeNotice(ctx, user, before, channel)
  return user
}

/**
 * Sets the e-mail address that a code was sent to as the caller's verified address, and notifies the previous
 * address. The attempt is counted, against the code and the address, and committed before the code is
 * compared. Throws InvalidCredential, the same for every reason, InvalidInput, RateLimited (per network), and
 * Conflict when another user has taken the address.
 */
export async function confirmEmailChange(ctx: Ctx, input: unknown, now = new Date()): Promise<User> {
  requireOwnAccount(ctx)
  const { email, code } = parseInput(ConfirmAddressChange.email, input)
  return confirmAddressChange(ctx, email, code, now)
}

/** Sets the phone number, like confirmEmailChange. */
export async function confirmPhoneNumberChange(ctx: Ctx, input: unknown): Promise<User> {
  requireOwnAccount(ctx)
  const { phoneNumber, code } = parseInput(ConfirmAddressChange.sms, input)
  return confirmAddressChange(ctx, phoneNumber, code, new Date())
}
