import type { Ctx } from '../../../core/context.ts'
import { toUserCtx } from '../../../core/context.ts'
import { computeMac } from '../../../core/crypto.ts'
import { UserLocked } from '../../../core/errors.ts'
import {
  type ProvenPasskey,
  parseAssertion,
  RejectedPasskey,
  usePasskey,
  verifyPasskey,
} from '../../../credentials/passkeys.ts'
import { inTransaction, sql } from '../../../database/db.ts'
import { counterDecreased } from '../../../events/credential-events.ts'
import { recordEvents, wakeReaders } from '../../../events/log.ts'
import { passkeyFailed } from '../../../events/session-events.ts'
import { limitStranger } from '../../../passcodes/network-limits.ts'
import type { BrowserAccount } from '../../../sessions/browser-accounts.ts'
import { enterBrowserSession } from '../../../sessions/sessions.ts'
import { type Interaction, type Progress, saveInteraction } from '../../interactions/interactions.ts'
import { recordSignIn } from '../step/sign-in.ts'
import type { EnteredAccount, SignInStep } from '../step/sign-in-step.ts'
import { type CompletedSignIn, completeByPasskey } from './passkey-completion.ts'

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

/**
 * Verifies an assertion of the browser and signs its user in, with a new token of the session. Answers the request at
 * once when nothing is left to ask. Throws RejectedPasskey, after recording why, and RateLimited when the network
 * has presented too many that were not accepted.
 */
export async function signInByPasskey(
  signIn: SignInStep,
  assertion: string,
  now = new Date(),
): Promise<CompletedSignIn | { entered: EnteredAccount; answer: null }> {
  const { interaction, passkey } = signIn
  const { ctx } = signIn.call
  const { clientId } = interaction.request
  const counted = { ...interaction, progress: countAttempt(interaction.progress) }
  try {
    const challenge = deriveChallenge(ctx.tenant, interaction)
    const proven = await verifyPasskey(ctx.tenant, parseAssertion(assertion), passkey, challenge)
    await recordDecreasedCounter(ctx, proven)
    const completed = await completeByPasskey(signIn, proven, now)
    if (completed) return completed
    const { accounts } = signIn.authorization
    return { entered: await continueByPasskey(ctx, counted, proven, accounts, now), answer: null }
  } catch (error) {
    const rejection = error instanceof UserLocked ? new RejectedPasskey('locked') : error
    if (!(rejection instanceof RejectedPasskey)) throw error
    const { userId, problem, changed } = rejection
    const progress = { ...counted.progress, ...(changed && { changedPasskey: changed }) }
    await saveInteraction(ctx.tenant, { ...counted, progress })
    await limitStranger('rejectPasskey', ctx)
    await recordEvents(sql, ctx, [passkeyFailed(userId, { clientId, reason: problem })])
    wakeReaders(ctx.tenant)
    throw rejection
  }
}

/** Records that a synchronized passkey was presented whose counter is not above that of its last use. */
async function recordDecreasedCounter(
  ctx: Ctx,
  { id, userId, formerSignCount: from, signCount: to }: ProvenPasskey,
): Promise<void> {
  if (from === null) return
  await recordEvents(sql, ctx, [counterDecreased({ id, userId }, { from, to })])
  wakeReaders(ctx.tenant)
}

/**
 * Continues the interaction as the user of a verified passkey and returns the account. The user's session in the
 * browser continues, if there is one.
 */
async function continueByPasskey(
  ctx: Ctx,
  interaction: Interaction,
  proven: ProvenPasskey,
  present: readonly BrowserAccount[],
  now: Date,
): Promise<EnteredAccount> {
  const { userId, amr } = proven
  const signIn = { userId, proof: { method: 'passkey' as const, amr } }
  const userCtx = toUserCtx(ctx, { userId, clientId: interaction.request.clientId })
  const started = await inTransaction(async (sql) => {
    await usePasskey(sql, ctx, proven, now)
    return enterBrowserSession(sql, userCtx, { present, ...signIn }, now)
  })
  wakeReaders(ctx.tenant)
  await recordSignIn(ctx, interaction, { userId, ...started }, present)
  return { userId, token: started.token }
}
