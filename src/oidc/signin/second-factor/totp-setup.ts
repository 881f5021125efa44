import { type Ctx, toUserCtx } from '../../../context/context.ts'
import { seal, unseal } from '../../../core/crypto.ts'
import { Conflict, InvalidCredential, InvalidInput, UserLocked } from '../../../core/errors.ts'
import { selectAccountLabel } from '../../../credentials/passkeys/registration.ts'
import { generateRecoveryCodes } from '../../../credentials/second-factors/recovery-codes.ts'
import { insertSecondFactor } from '../../../credentials/second-factors/second-factors.ts'
import {
  createWrongTotpError,
  openTotpFactor,
  showTotpEnrollment,
  startTotpEnrollment,
  type TotpEnrollment,
  type TotpOwner,
} from '../../../credentials/second-factors/totp-enrollment.ts'
import { createEvent } from '../../../events/create-event.ts'
import { recordEvents } from '../../../events/log.ts'
import { announceAccountChange } from '../../../users/deletion/account-notices.ts'
import { saveProvenProgress } from '../../interactions/interactions.sql.ts'
import {
  createExpiredSignInError,
  hashHandle,
  hashProvenBinding,
  type Interaction,
  saveInteraction,
} from '../../interactions/interactions.ts'
import { applySignIn, toSignedInProgress } from '../step/sign-in.ts'
import type { EnteredAccount, SignInStep } from '../step/sign-in-step.ts'
import {
  enterWithSecondFactor,
  RejectedSecondFactor,
  requireSetup,
  type SecondFactorUser,
  TOTP_PROOF,
} from './second-factor-sign-in.ts'

const toPurpose = (tenant: string, interaction: Interaction): string =>
  ['recovery-codes', tenant, hashHandle(interaction).toString('base64url')].join(':')

/** The codes as the interaction keeps them, sealed, until the user has saved them. */
const sealRecoveryCodes = (tenant: string, interaction: Interaction, codes: string[]): string =>
  seal(toPurpose(tenant, interaction), JSON.stringify(codes))

/** The codes that the user is to save; null when there are none. */
export function readRecoveryCodes(tenant: string, interaction: Interaction): string[] | null {
  const { recoveryCodes } = interaction.progress
  if (recoveryCodes === undefined) return null
  return JSON.parse(unseal(toPurpose(tenant, interaction), recoveryCodes).toString()) as string[]
}

/** Forgets the codes: the user has saved them. */
export function forgetRecoveryCodes(ctx: Ctx, interaction: Interaction): Promise<boolean> {
  const { recoveryCodes: _, ...progress } = interaction.progress
  return saveInteraction(ctx.db, { ...interaction, progress })
}

declare module '../../interactions/progress.ts' {
  interface Progress {
    /** The key of the authenticator app that the user sets up, sealed. */
    pendingTotp?: string
    /** The new recovery codes, sealed, until the user has saved them. */
    recoveryCodes?: string
  }
}

/** The app is confirmed in the interaction, and in the browser, in which its key was shown. */
const toOwner = (interaction: Interaction, userId: string): TotpOwner => ({
  userId,
  place: `${hashHandle(interaction).toString('base64url')}:${interaction.key}`,
})

/**
 * The key for the authenticator app of a user who has none and needs one: the same one until it expires, so that a
 * wrong code does not change it.
 */
export async function prepareTotpSetup(
  { call, interaction }: SignInStep,
  { user }: SecondFactorUser,
): Promise<TotpEnrollment> {
  const now = new Date()
  const { ctx } = call
  const owner = toOwner(interaction, user.userId)
  const accountName = selectAccountLabel(user)
  const { pendingTotp: token } = interaction.progress
  const shown = token === undefined ? null : await showTotpEnrollment(ctx, owner, { token, accountName }, now)
  if (shown) return shown
  const started = await startTotpEnrollment(ctx, owner, accountName, now)
  const progress = { ...interaction.progress, pendingTotp: started.token }
  await saveInteraction(ctx.db, { ...interaction, progress })
  return started
}

/**
 * Enrolls the app by its first code, which completes the first proof, and creates recovery codes, which the user
 * is shown next. App, codes, session and the codes to show are stored in one transaction. Returns the account with the
 * token of its session, always a new one. Throws RejectedSecondFactor, after recording why.
 */
export async function signInByNewTotp(
  signIn: SignInStep,
  found: SecondFactorUser,
  code: string,
): Promise<EnteredAccount> {
  const now = new Date()
  const { interaction, authorization } = signIn
  const { ctx } = signIn.call
  const { tenant } = ctx
  const { user, first } = found
  const { userId } = user
  const { clientId } = interaction.request
  const userCtx = toUserCtx(ctx, { userId, clientId })
  const { accounts } = authorization
  const { pendingTotp: token = '', ...former } = interaction.progress
  const generated = generateRecoveryCodes(tenant, userId)
  const progress = { ...former, recoveryCodes: sealRecoveryCodes(tenant, interaction, generated.codes) }
  try {
    const app = openTotpFactor(tenant, toOwner(interaction, userId), { token, code }, now)
    const entered = await ctx.db.transaction(async (tx) => {
      const check = () => requireSetup(tx, signIn, userId)
      const { isStored } = await insertSecondFactor(tx, userCtx, app, now, check)
      if (!isStored) throw createWrongTotpError()
      await insertSecondFactor(tx, userCtx, generated.factor, now)
      const entered = await enterWithSecondFactor(
        tx,
        userCtx,
        found,
        { present: accounts, proof: TOTP_PROOF },
        now,
      )
      const saved = first ? toSignedInProgress(progress, entered.session, first) : progress
      const proven = { ...hashProvenBinding(interaction), progress: saved }
      if (!(await saveProvenProgress(tx, proven))) throw createExpiredSignInError()
      return entered
    })
    announceAccountChange(userCtx, userId, 'totp-added', now)
    if (first) await applySignIn(ctx, interaction, { userId, ...entered }, accounts)
    return { userId, token: entered.token }
  } catch (error) {
    const reason = toFailureReason(error)
    if (!reason) throw error
    await recordEvents(ctx.db, ctx, [
      createEvent('signin.failed', { userId, clientId }, { method: 'totp', reason }),
    ])
    throw new RejectedSecondFactor(reason)
  }
}

function toFailureReason(error: unknown): 'wrong' | 'locked' | null {
  if (error instanceof UserLocked) return 'locked'
  const isWrong = [Conflict, InvalidCredential, InvalidInput].some((kind) => error instanceof kind)
  return isWrong ? 'wrong' : null
}
