import type { Ctx } from '../../context/context.ts'
import { unseal } from '../../core/crypto.ts'
import { RateLimited } from '../../core/errors.ts'
import type { Tx } from '../../database/handle.ts'
import { createEvent } from '../../events/create-event.ts'
import { recordEvents } from '../../events/log.ts'
import type { SecondFactorName } from '../../model/sign-in-methods.ts'
import { hashRecoveryCode } from './recovery-codes.ts'
import { countSecondFactorGuess, useRecoveryCode } from './second-factor-use.sql.ts'
import { matchTimeStep, toTotpPurpose } from './totp.ts'

/** Who guesses: a browser in which the user has proven a second factor before; null for any other. */
export type Guesser = { userId: string; browser: string | null }
const toKey = ({ userId, browser }: Guesser) => ({ userId, browser: browser ?? '' })

/** A second factor that a user presents. */
export type PresentedFactor = Guesser & { method: SecondFactorName; code: string }

/** What an accepted second factor leaves: the recovery codes that remain, if it was one of them. */
export type AcceptedFactor = { remainingCodes: number | null }

/**
 * Counts a guess before the code is compared. Throws RateLimited: 5 in 15 minutes for a user, and 5 more for each browser
 * that has proven a second factor of the user before.
 */
export async function countGuess(ctx: Ctx, guesser: Guesser, now: Date): Promise<void> {
  const retryAt = await countSecondFactorGuess(ctx.db, toKey(guesser), now)
  if (retryAt) throw new RateLimited(Math.max(1, Math.ceil((retryAt.getTime() - now.getTime()) / 1000)))
}

/** Accepts the code of a time step, unless that step or a later one was accepted before. */
async function useTotp({ tenant: tenantId, prisma }: Tx, { userId, code }: PresentedFactor, now: Date) {
  const where = { tenantId, userId, type: 'totp' }
  const totp = await prisma.credential.findFirst({ where, select: { id: true, secret: true } })
  if (!totp?.secret) return null
  const { id } = totp
  const step = matchTimeStep(unseal(toTotpPurpose(tenantId, id), totp.secret).toString(), code, now)
  if (step === null) return null
  const { count } = await prisma.credential.updateMany({
    where: { tenantId, id, lastStep: { lt: step } },
    data: { lastStep: step, lastUsedAt: now },
  })
  return count > 0 ? { remainingCodes: null } : null
}

async function useRecovery(tx: Tx, ctx: Ctx, { userId, code }: PresentedFactor, now: Date) {
  const codeHash = hashRecoveryCode(ctx.tenant, userId, code)
  const used = await useRecoveryCode(tx, { userId, codeHash, now })
  if (!used) return null
  await recordEvents(tx, ctx, [
    createEvent(
      'credential.recovery_code_used',
      { userId, credentialId: used.id },
      { remaining: used.remaining },
    ),
  ])
  return { remainingCodes: used.remaining }
}

/**
 * Accepts a second factor, once, inside the transaction of the sign-in. Null when it is wrong or was accepted
 * before. Count the guess first.
 */
export async function useSecondFactor(
  tx: Tx,
  ctx: Ctx,
  presented: PresentedFactor,
  now: Date,
): Promise<AcceptedFactor | null> {
  const accepted =
    presented.method === 'totp'
      ? await useTotp(tx, presented, now)
      : await useRecovery(tx, ctx, presented, now)
  if (accepted)
    await tx.prisma.secondFactorGuess.deleteMany({ where: { tenantId: tx.tenant, ...toKey(presented) } })
  return accepted
}
