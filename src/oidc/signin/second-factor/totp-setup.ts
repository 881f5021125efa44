import { toUserCtx } from '../../../core/context.ts'
import { AppError, Conflict, InvalidCredential, InvalidInput, UserLocked } from '../../../core/errors.ts'
import { createRecoveryCodes } from '../../../credentials/recovery-codes.ts'
import { selectAccountLabel } from '../../../credentials/registration.ts'
import {
  finishTotpEnrollment,
  showTotpEnrollment,
  startTotpEnrollment,
  type TotpEnrollment,
  type TotpOwner,
} from '../../../credentials/totp-enrollment.ts'
import { inTransaction } from '../../../database/db.ts'
import { wakeReaders } from '../../../events/log.ts'
import { hashHandle, type Interaction, saveInteraction } from '../../interactions/interactions.ts'
import { recordSignIn } from '../step/sign-in.ts'
import type { SignInStep } from '../step/sign-in-step.ts'
import { requireSetup } from './factor-choice.ts'
import { sealRecoveryCodes } from './recovery-code-display.ts'
import {
  enterWithSecondFactor,
  RejectedSecondFactor,
  type SecondFactorUser,
  TOTP_PROOF,
} from './second-factor-sign-in.ts'

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
  now = new Date(),
): Promise<TotpEnrollment> {
  const { ctx } = call
  const owner = toOwner(interaction, user.userId)
  const accountName = selectAccountLabel(user)
  const { pendingTotp: token } = interaction.progress
  const shown = token === undefined ? null : await showTotpEnrollment(ctx, owner, { token, accountName }, now)
  if (shown) return shown
  const started = await startTotpEnrollment(ctx, owner, accountName, now)
  const progress = { ...interaction.progress, pendingTotp: started.token }
  await saveInteraction(ctx.tenant, { ...interaction, progress })
  return started
}

/**
 * Enrolls the app by its first code, which completes the first proof, and creates recovery codes, which the user
 * is shown next. Returns the token of the session, always a new one. Throws RejectedSecondFactor.
 */
export async function signInByNewTotp(
  signIn: SignInStep,
  found: SecondFactorUser,
  code: string,
  now = new Date(),
): Promise<string> {
  const { interaction, authorization } = signIn
  const { user, first } = found
  const { tenant } = signIn.call.ctx
  const { userId } = user
  const userCtx = toUserCtx(signIn.call.ctx, { userId, clientId: interaction.request.clientId })
  const sessionId = authorization.signInState?.id ?? null
  const { pendingTotp: token = '', ...former } = interaction.progress
  try {
    const owner = toOwner(interaction, userId)
    await finishTotpEnrollment(userCtx, owner, { token, code }, now, (sql) =>
      requireSetup(sql, signIn, userId),
    )
    const { codes } = await createRecoveryCodes(userCtx, userId, { replace: true }, now)
    const entered = await inTransaction((sql) =>
      enterWithSecondFactor(sql, userCtx, found, { sessionId, proof: TOTP_PROOF }, now),
    )
    wakeReaders(tenant)
    const progress = { ...former, recoveryCodes: sealRecoveryCodes(tenant, interaction, codes) }
    const enrolled = { ...interaction, progress }
    if (first) await recordSignIn(signIn.call.ctx, enrolled, { userId, ...entered, first }, sessionId)
    else await saveInteraction(tenant, enrolled)
    return entered.token
  } catch (error) {
    throw error instanceof AppError && isRejection(error) ? new RejectedSecondFactor('wrong') : error
  }
}

const isRejection = (error: AppError): boolean =>
  [Conflict, InvalidCredential, InvalidInput, UserLocked].some((kind) => error instanceof kind)
