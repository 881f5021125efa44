import { loadMessageFrame, NOTICE } from '../../../access/message-tenant.ts'
import { describeRequestSource } from '../../../access/request-source.ts'
import { type Ctx, toUserCtx } from '../../../context/context.ts'
import { takeRecoveryCode } from '../../../coordination/person-budgets.ts'
import { Conflict, RateLimited, UserLocked } from '../../../core/errors.ts'
import { countGuess, useSecondFactor } from '../../../credentials/second-factors/second-factor-use.ts'
import { listCredentialTypes } from '../../../credentials/second-factors/second-factors.ts'
import type { Db } from '../../../database/handle.ts'
import { deliverInBackground } from '../../../delivery/background.ts'
import { deliverMail } from '../../../delivery/mail.ts'
import { buildRecoveryCodeNotice } from '../../../delivery/messages/recovery-code-used.ts'
import { createEvent } from '../../../events/create-event.ts'
import { recordEvents } from '../../../events/log.ts'
import type { SignInFailure } from '../../../events/reasons.ts'
import { type ProviderOrigin, storeProviderSession } from '../../../idps/provider/provider-sessions.ts'
import type { SecondFactorName } from '../../../model/sign-in-methods.ts'
import type { BrowserAccount } from '../../../sessions/browser-accounts.ts'
import type { NewProof, SessionProof } from '../../../sessions/proofs.ts'
import { enterBrowserSession, type PresentSession } from '../../../sessions/sessions.ts'
import type { ProvenUser } from '../../authorize/sign-in-state.sql.ts'
import { type Interaction, saveProvenInteraction } from '../../interactions/interactions.ts'
import { offersMethod } from '../step/offered-methods.ts'
import { recordSignIn, type SignedIn } from '../step/sign-in.ts'
import type { EnteredAccount, SignInStep } from '../step/sign-in-step.ts'

/** The methods of RFC 8176. A recovery code is a one-time password, too. */
const AMR = ['otp']
/** The proof by a code of an authenticator app. */
export const TOTP_PROOF = { method: 'totp', amr: AMR } as const satisfies NewProof

/** A second factor that was not accepted. The page does not say why; the reason is recorded. */
export class RejectedSecondFactor extends Error {
  readonly reason: SignInFailure

  constructor(reason: SignInFailure) {
    super('a second factor was not accepted')
    this.reason = reason
  }
}

/** The user who presents a second factor, and the proof that it completes, unless that is of the session. */
export type SecondFactorUser = {
  user: ProvenUser
  first: SessionProof | null
  /** Where the first proof came from. */
  provider?: ProviderOrigin
}

/** Who presents a second factor in this step: the user of the first proof, or of the session. */
export function findSecondFactorUser({ interaction, authorization }: SignInStep): SecondFactorUser | null {
  const { next, provenUser, signInState } = authorization
  if (next.step !== 'second-factor') return null
  const { firstProof } = interaction.progress
  if (provenUser && firstProof)
    return { user: provenUser, first: firstProof.proof, provider: firstProof.provider }
  return signInState && { user: signInState, first: null }
}

/** Announces the use of a recovery code to the user's e-mail address, in the background. */
function announceRecoveryCode(ctx: Ctx, { email, locale }: ProvenUser, remaining: number): void {
  if (email === null) return
  deliverInBackground(async () => {
    const source = describeRequestSource(ctx)
    const frame = await loadMessageFrame(ctx, locale, NOTICE)
    const notice = buildRecoveryCodeNotice(frame, { remaining, source })
    await deliverMail({ to: email, ...notice })
  })
}

/**
 * Starts or raises the session by a second factor inside the caller's transaction, with the origin of the first
 * proof. Throws UserLocked.
 */
export async function enterWithSecondFactor(
  tx: Db,
  userCtx: Ctx,
  { user, first, provider }: SecondFactorUser,
  { present, proof }: { present: readonly PresentSession[]; proof: NewProof },
  now: Date,
): Promise<Awaited<ReturnType<typeof enterBrowserSession>>> {
  const entered = await enterBrowserSession(tx, userCtx, { userId: user.userId, present, proof, first }, now)
  if (provider) await storeProviderSession(tx, entered.session.id, provider)
  return entered
}

/** Continues the interaction after a second factor. One of the session's user is not a sign-in for this request. */
export async function recordSecondProof(
  ctx: Ctx,
  interaction: Interaction,
  signedIn: SignedIn,
  present: readonly BrowserAccount[],
): Promise<void> {
  if (signedIn.first) await recordSignIn(ctx, interaction, signedIn, present)
  else await saveProvenInteraction(ctx.db, interaction)
}

/**
 * Signs in by a code that completes the first proof, and returns the account with the token of its session, always a new one. Until
 * then there is no session for the first proof. Throws RejectedSecondFactor and RateLimited, after recording why.
 */
export async function signInBySecondFactor(
  signIn: SignInStep,
  found: SecondFactorUser,
  { method, code, browser }: { method: SecondFactorName; code: string; browser: string | null },
): Promise<EnteredAccount> {
  const now = new Date()
  const { ctx } = signIn.call
  const { interaction } = signIn
  const { user, first } = found
  const { clientId } = interaction.request
  const { userId } = user
  const userCtx = toUserCtx(ctx, { userId, clientId })
  const { accounts } = signIn.authorization
  try {
    await countGuess(ctx, { userId, browser }, now)
    const { accepted, entered } = await ctx.db.transaction(async (tx) => {
      const accepted = await useSecondFactor(tx, userCtx, { userId, browser, method, code }, now)
      if (!accepted) throw new RejectedSecondFactor('wrong')
      // A code that is not announced is not used.
      if (method === 'recovery') takeRecoveryCode(ctx.tenant, userId)
      const proof = { method, amr: AMR }
      return {
        accepted,
        entered: await enterWithSecondFactor(tx, userCtx, found, { present: accounts, proof }, now),
      }
    })
    if (accepted.remainingCodes !== null) announceRecoveryCode(ctx, user, accepted.remainingCodes)
    await recordSecondProof(ctx, interaction, { userId, ...entered, first }, accounts)
    return { userId, token: entered.token }
  } catch (error) {
    const reason = toFailureReason(error)
    if (!reason) throw error
    await recordEvents(ctx.db, ctx, [createEvent('signin.failed', { userId, clientId }, { method, reason })])
    throw error instanceof UserLocked ? new RejectedSecondFactor('locked') : error
  }
}

function toFailureReason(error: unknown): SignInFailure | null {
  if (error instanceof RejectedSecondFactor) return error.reason
  if (error instanceof RateLimited) return 'exhausted'
  return error instanceof UserLocked ? 'locked' : null
}

/** What a user does at this step: enters a code, uses a passkey, or sets up a second factor. */
type FactorTask = 'code' | 'passkey' | 'setup'

/**
 * The task of a user. A user who has a passkey presents it: a first proof alone does not suffice to set up another
 * factor. One statement for users without an authenticator app.
 */
export async function selectFactorTask(signIn: SignInStep, { user }: SecondFactorUser): Promise<FactorTask> {
  return user.hasSecondFactor ? 'code' : findFactorTask(signIn.call.ctx.db, signIn, user.userId)
}

async function findFactorTask(tx: Db, signIn: SignInStep, userId: string): Promise<FactorTask> {
  const types = await listCredentialTypes(tx, userId)
  if (types.includes('totp')) return 'code'
  return types.includes('public-key') && offersMethod(signIn, 'passkey') ? 'passkey' : 'setup'
}

/** Rejects the setup of a factor for a user who has one by now. Lock the user first. Throws Conflict. */
export async function requireSetup(tx: Db, signIn: SignInStep, userId: string): Promise<void> {
  if ((await findFactorTask(tx, signIn, userId)) !== 'setup')
    throw new Conflict([], 'There is a second factor already.')
}
