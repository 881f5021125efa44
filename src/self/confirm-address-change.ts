import { type Ctx, scopesOfRoles } from '../ctx.ts'
import { inTransaction, sql } from '../db.ts'
import { changeNotice } from '../delivery/texts.ts'
import { InvalidCredential } from '../errors.ts'
import { recordEvents, wakeReaders } from '../events.ts'
import { parse } from '../fields.ts'
import type { User } from '../generated/prisma/client.ts'
import { spend } from '../limits.ts'
import { tidyCode } from '../passcodes/code-hash.ts'
import type { Address, Channel } from '../passcodes/passcodes.fields.ts'
import { deliverBehind } from '../passcodes/send-passcode.ts'
import { requireNoEscalation, requireOwnAccount } from '../scopes.ts'
import { fieldsOfColumns, toColumns } from '../users/user-body.ts'
import { updateUserRow } from '../users/users.sql.ts'
import { countChangeAttempt, type RedeemedChange, redeemAddressChange } from './address-change.sql.ts'
import { deliver, isChangeCode, tenantWords, told } from './change-code.ts'
import { ConfirmAddressChange } from './self.fields.ts'

/** One answer for a wrong, used, expired or exhausted code, and for an address that nobody asked for. */
const wrongCode = () => new InvalidCredential('The code is wrong or has expired.')

const columnsFor = (channel: Channel, shown: string) =>
  toColumns(
    channel === 'email'
      ? { email: shown, emailVerified: true }
      : { phoneNumber: shown, phoneNumberVerified: true },
  )

/** Where the person is told: an address that was theirs, proven, before the change; mail first. */
function noticeTo(before: RedeemedChange): { channel: Channel; to: string } | null {
  if (before.emailVerified && before.emailKey) return { channel: 'email', to: before.emailKey }
  if (before.phoneNumberVerified && before.phoneNumberKey && !before.phoneNumberKey.includes(';'))
    return { channel: 'sms', to: before.phoneNumberKey }
  return null
}

/** Tells the person, where they were reached until now, that an address of theirs is another. A failure is logged. */
async function notify(ctx: Ctx, before: RedeemedChange, changed: Channel): Promise<void> {
  const target = noticeTo(before)
  if (!target) return
  const what = changed === 'email' ? 'e-mail address' : 'phone number'
  const notice = changeNotice({ ...(await tenantWords(ctx.tenant)), what })
  deliverBehind(target.channel, () => deliver({ ...target, ...notice }))
}

async function confirmChange(ctx: Ctx, address: Address, code: string, now: Date): Promise<User> {
  const { userId, sessionId } = requireOwnAccount(ctx)
  const { channel, key } = address
  if (sessionId === null) throw wrongCode()
  await spend('authenticatePasscode', ctx.tenant, ctx.ip)
  const pending = { userId, channel, key, now }
  const codeHash = await countChangeAttempt(sql, ctx.tenant, pending)
  const asking = { userId, sessionId, address }
  if (!codeHash || !isChangeCode(ctx.tenant, asking, tidyCode(code), codeHash)) {
    // Also of guesses at nothing: an address of somebody else's must not answer sooner.
    await recordEvents(sql, ctx, [{ type: 'passcode.failed', userId, detail: told(channel) }])
    wakeReaders(ctx.tenant)
    throw wrongCode()
  }
  const { before, user, changed } = await inTransaction(async (sql) => {
    const before = await redeemAddressChange(sql, ctx.tenant, pending, codeHash)
    const updated =
      before && (await updateUserRow(sql, ctx.tenant, userId, columnsFor(channel, before.shown)))
    if (!updated) throw wrongCode()
    requireNoEscalation(ctx, scopesOfRoles(updated.before.roles))
    const changedFields = fieldsOfColumns(updated.changed)
    if (changedFields.length > 0)
      await recordEvents(sql, ctx, [{ type: 'user.updated', userId, changedFields }])
    return { before, user: updated.user, changed: updated.changed }
  })
  wakeReaders(ctx.tenant)
  if (changed.includes(channel === 'email' ? 'emailKey' : 'phoneNumberKey'))
    await notify(ctx, before, channel)
  return user
}

/**
 * Makes the e-mail address that a code was sent to the caller's, as proven, and tells the address before it. A guess is
 * counted, against the code and the address, and committed before it is compared (security 39, 40). Throws
 * InvalidCredential, the same whatever is wrong, InvalidInput, RateLimited (the network's budget), and Conflict when
 * somebody took the address meanwhile.
 */
export async function confirmEmailChange(ctx: Ctx, input: unknown, now = new Date()): Promise<User> {
  requireOwnAccount(ctx)
  const { email, code } = parse(ConfirmAddressChange.email, input)
  return confirmChange(ctx, email, code, now)
}

/** The same for a phone number. */
export async function confirmPhoneNumberChange(ctx: Ctx, input: unknown, now = new Date()): Promise<User> {
  requireOwnAccount(ctx)
  const { phoneNumber, code } = parse(ConfirmAddressChange.sms, input)
  return confirmChange(ctx, phoneNumber, code, now)
}
