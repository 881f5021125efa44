import type { Ctx } from '../../../context/context.ts'
import { toUserCtx } from '../../../context/context.ts'
import { computeMac } from '../../../core/crypto.ts'
import { UserLocked } from '../../../core/errors.ts'
import {
  type ProvenPasskey,
  parseAssertion,
  RejectedPasskey,
  usePasskey,
  verifyPasskey,
} from '../../../credentials/passkeys/passkeys.ts'
import { createEvent } from '../../../events/create-event.ts'
import { recordEvents } from '../../../events/log.ts'
import { limitUnauthenticated } from '../../../passcodes/network-limits.ts'
import type { BrowserAccount } from '../../../sessions/browser-accounts.ts'
import { enterBrowserSession } from '../../../sessions/sessions.ts'
import { type Interaction, saveInteraction } from '../../interactions/interactions.ts'
import type { Progress } from '../../interactions/progress.ts'
import { recordSignIn } from '../step/sign-in.ts'
import type { EnteredAccount, SignInStep } from '../step/sign-in-step.ts'
import { type CompletedSignIn, completeByPasskey, type PrepareCompletion } from './passkey-completion.ts'

declare module '../../interactions/progress.ts' {
  interface Progress {
    /** How many passkeys were presented: each one needs a challenge of its own. */
    passkeyAttempts?: number
    /** A passkey that was presented and that its user replaces after a sign-in by another method. */
    changedPasskey?: { id: string; userId: string }
  }
}

/**
 * The challenge of an interaction: a MAC over its secrets and the number of passkeys that were presented. It
 * is bound to the browser, cannot be predicted, and takes no row.
 */
export const deriveChallenge = (tenant: string, { handle, key, progress }: Interaction): string =>
  computeMac(
    'passkey-challenge',
    [tenant, handle, key, String(progress.passkeyAttempts ?? 0)].join('\n'),
  ).toString('base64url')

/** A passkey cannot be presented twice for one challenge. */
const countAttempt = ({ passkeyAttempts = 0, ...progress }: Progress): Progress => ({
  ...progress,
  passkeyAttempts: passkeyAttempts + 1,
})

/** What an assertion proves, or why it was rejected; `counted` is the interaction with the attempt. */
type PresentedAssertion = { counted: Interaction } & (
  | { proven: ProvenPasskey }
  | { rejection: RejectedPasskey }
)

/**
 * Verifies an assertion of the browser. Signs its user in and answers the request at once when nothing is left to ask;
 * otherwise, nothing is changed and `continueByPasskey` or `recordPasskeyRejection` follows.
 */
export async function presentPasskey(
  signIn: SignInStep,
  assertion: string,
  prepare: PrepareCompletion,
): Promise<CompletedSignIn | PresentedAssertion> {
  const { interaction, passkey } = signIn
  const { ctx } = signIn.call
  const counted = { ...interaction, progress: countAttempt(interaction.progress) }
  try {
    const challenge = deriveChallenge(ctx.tenant, interaction)
    const proven = await verifyPasskey(ctx.tenant, parseAssertion(assertion), passkey, challenge)
    const completed = await completeByPasskey(signIn, proven, prepare, new Date())
    if (!completed) return { counted, proven }
    await recordDecreasedCounter(ctx, proven)
    return completed
  } catch (error) {
    return { counted, rejection: toRejection(error) }
  }
}

/** Converts an error of a rejected passkey; rethrows any other error. */
function toRejection(error: unknown): RejectedPasskey {
  if (error instanceof RejectedPasskey) return error
  if (error instanceof UserLocked) return new RejectedPasskey('locked')
  throw error
}

/** Records why a passkey was rejected. Throws RateLimited when the network has presented too many of them. */
async function recordPasskeyRejection(
  ctx: Ctx,
  counted: Interaction,
  { userId, problem, changed }: RejectedPasskey,
): Promise<void> {
  const progress = { ...counted.progress, ...(changed && { changedPasskey: changed }) }
  await saveInteraction(ctx.db, { ...counted, progress })
  await limitUnauthenticated('rejectPasskey', ctx)
  const { clientId } = counted.request
  await recordEvents(ctx.db, ctx, [
    createEvent('signin.failed', { userId, clientId }, { method: 'passkey', reason: problem }),
  ])
}

/**
 * Continues the sign-in by a presented passkey, with a new token of the session. Throws RejectedPasskey, after recording
 * why, and RateLimited when the network has presented too many that were not accepted.
 */
export async function continueByPasskey(
  { call: { ctx }, authorization }: SignInStep,
  presented: PresentedAssertion,
): Promise<EnteredAccount> {
  const { counted } = presented
  try {
    if ('rejection' in presented) throw presented.rejection
    return await enterByPasskey(ctx, counted, presented.proven, authorization.accounts, new Date())
  } catch (error) {
    const rejection = toRejection(error)
    await recordPasskeyRejection(ctx, counted, rejection)
    throw rejection
  }
}

/** Records that a synchronized passkey was presented whose counter is not above that of its last use. */
async function recordDecreasedCounter(
  ctx: Ctx,
  { id, userId, formerSignCount: from, signCount: to }: ProvenPasskey,
): Promise<void> {
  if (from === null) return
  await recordEvents(ctx.db, ctx, [
    createEvent('credential.counter_decreased', { userId, credentialId: id }, { from, to }),
  ])
}

/**
 * Continues the interaction as the user of a verified passkey and returns the account. The user's session in the
 * browser continues, if there is one.
 */
async function enterByPasskey(
  ctx: Ctx,
  interaction: Interaction,
  proven: ProvenPasskey,
  present: readonly BrowserAccount[],
  now: Date,
): Promise<EnteredAccount> {
  const { userId, amr } = proven
  const signIn = { userId, proof: { method: 'passkey' as const, amr } }
  const userCtx = toUserCtx(ctx, { userId, clientId: interaction.request.clientId })
  const started = await userCtx.db.transaction(async (tx) => {
    await usePasskey(tx, ctx, proven, now)
    return enterBrowserSession(tx, userCtx, { present, ...signIn }, now)
  })
  await recordDecreasedCounter(ctx, proven)
  await recordSignIn(ctx, interaction, { userId, ...started }, present)
  return { userId, token: started.token }
}
