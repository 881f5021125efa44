import type { Ctx } from '../context/context.ts'
import { unseal } from '../core/crypto.ts'
import { RateLimited } from '../core/errors.ts'
import type { SecondFactorName } from '../core/sign-in-methods.ts'
import { type Sql, sqlFor } from '../database/db.ts'
import { recoveryCodeUsed } from '../events/credential-events.ts'
import { recordEvents } from '../events/log.ts'
import { hashRecoveryCode } from './recovery-codes.ts'
import {
  clearSecondFactorGuesses,
  countSecondFactorGuess,
  type Guesser,
} from './second-factor-guesses.sql.ts'
import { selectTotp, useRecoveryCode, useTimeStep } from './second-factor-use.sql.ts'
import { matchTimeStep, toTotpPurpose } from './totp.ts'

/** A second factor that a user presents. */
export type PresentedFactor = Guesser & { method: SecondFactorName; code: string }

/** What an accepted second factor leaves: the recovery codes that remain, if it was one of them. */
export type AcceptedFactor = { remainingCodes: number | null }

/**
 * Counts a guess before the code is compared. Throws RateLimited: 5 in 15 minutes for a user, and 5 more for each browser
 * that has proven a second factor of the user before.
 */
export async function countGuess(ctx: Ctx, guesser: Guesser, now: Date): Promise<void> {
  const retryAt = await countSecondFactorGuess(sqlFor(ctx), ctx.tenant, guesser, now)
  if (retryAt) throw new RateLimited(Math.max(1, Math.ceil((retryAt.getTime() - now.getTime()) / 1000)))
}

async function useTotp(sql: Sql, ctx: Ctx, { userId, code }: PresentedFactor, now: Date) {
  const totp = await selectTotp(sql, ctx.tenant, userId)
  if (!totp) return null
  const { id } = totp
  const step = matchTimeStep(unseal(toTotpPurpose(ctx.tenant, id), totp.secret).toString(), code, now)
  const isUsed = step !== null && (await useTimeStep(sql, ctx.tenant, { id, step, now }))
  return isUsed ? { remainingCodes: null } : null
}

async function useRecovery(sql: Sql, ctx: Ctx, { userId, code }: PresentedFactor, now: Date) {
  const codeHash = hashRecoveryCode(ctx.tenant, userId, code)
  const used = await useRecoveryCode(sql, ctx.tenant, { userId, codeHash, now })
  if (!used) return null
  await recordEvents(sql, ctx, [recoveryCodeUsed({ id: used.id, userId }, used.remaining)])
  return { remainingCodes: used.remaining }
}

/**
 * Accepts a second factor, once, inside the transaction of the sign-in. Null when it is wrong or was accepted
 * before. Count the guess first.
 */
export async function useSecondFactor(
  sql: Sql,
  ctx: Ctx,
  presented: PresentedFactor,
  now: Date,
): Promise<AcceptedFactor | null> {
  const accepted = await (presented.method === 'totp' ? useTotp : useRecovery)(sql, ctx, presented, now)
  if (accepted) await clearSecondFactorGuesses(sql, ctx.tenant, presented)
  return accepted
}
