import type { Ctx } from '../context/context.ts'
import { RateLimited } from '../core/errors.ts'
import { cleanTypedCode } from '../core/typed-text.ts'
import type { Tx } from '../database/handle.ts'
import { createCode, createLongCode, hashCode } from './passcode-hash.ts'
import { countSentPasscode, findLimitEnd, type PasscodeRequest, updatePasscode } from './passcodes.sql.ts'

/** The lifetime allows for slow e-mail and is short enough for six digits. */
export const PASSCODE_LIFETIME_MINUTES = 10

export const computeWaitSeconds = (time: Date, now: Date): number =>
  Math.max(1, Math.ceil((time.getTime() - now.getTime()) / 1000))

/** A code that waits to be entered. */
export type StoredPasscode = { code: string; codeHash: Buffer; isLong: boolean }

/**
 * Counts a new code in its budgets and stores it, inside the caller's transaction, which has locked the recipient and
 * then the code. `userId` is null for an address that may sign up, and for one that is sent nothing. Throws RateLimited,
 * which rolls all of it back.
 */
export async function storePasscode(
  tx: Tx,
  ctx: Ctx,
  request: PasscodeRequest,
  { userId, isSignUp }: { userId: string | null; isSignUp: boolean },
): Promise<StoredPasscode> {
  const { address, now } = request
  const counted = await countSentPasscode(tx, request)
  if (!counted) throw new RateLimited(computeWaitSeconds(await findLimitEnd(tx, request), now))
  const { isLong } = counted
  const code = isLong ? createLongCode() : createCode()
  const codeHash = hashCode(ctx.tenant, address.key, cleanTypedCode(code))
  const expiresAt = new Date(now.getTime() + PASSCODE_LIFETIME_MINUTES * 60_000)
  await updatePasscode(tx, request, { userId, isSignUp, codeHash, isLong, expiresAt })
  return { code, codeHash, isLong }
}
