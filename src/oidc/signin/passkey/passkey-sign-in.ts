import type { Ctx } from '../../../core/context.ts'
import { toUserCtx } from '../../../core/context.ts'
import { computeMac } from '../../../core/crypto.ts'
import { UserLocked } from '../../../core/errors.ts'
import { RejectedPasskey, usePasskey, verifyPasskey } from '../../../credentials/passkeys.ts'
import { inTransaction, sql } from '../../../database/db.ts'
import { recordEvents, wakeReaders } from '../../../events/log.ts'
import { passkeyFailed } from '../../../events/session-events.ts'
import { limitStranger } from '../../../passcodes/network-limits.ts'
import { reauthenticateSession, startBrowserSession } from '../../../sessions/sessions.ts'
import { type Interaction, type Progress, saveInteraction } from '../../interactions/interactions.ts'
import { recordSignIn, type SignedIn } from '../sign-in.ts'

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
 * Verifies an assertion of the browser and returns the token of its session, always a new one. The session
 * continues if it is the user's; that of another user ends. Throws RejectedPasskey, after recording why, and
 * RateLimited when the network has presented too many that were not accepted.
 */
export async function signInByPasskey(
  ctx: Ctx,
  interaction: Interaction,
  assertion: string,
  sessionId: string | null,
  now = new Date(),
): Promise<string> {
  const { clientId } = interaction.request
  const counted = { ...interaction, progress: countAttempt(interaction.progress) }
  try {
    const proven = await verifyPasskey(ctx, assertion, deriveChallenge(ctx.tenant, interaction))
    const { userId, amr } = proven
    const signIn = { userId, proof: { method: 'passkey' as const, amr } }
    const userCtx = toUserCtx(ctx, { userId, clientId })
    const started = await inTransaction(async (sql) => {
      await usePasskey(sql, ctx, proven, now)
      const raised = sessionId && (await reauthenticateSession(sql, userCtx, { sessionId, ...signIn }, now))
      return raised || (await startBrowserSession(sql, userCtx, signIn, now))
    })
    wakeReaders(ctx.tenant)
    const signedIn: SignedIn = { userId, ...started }
    await recordSignIn(ctx, counted, signedIn, sessionId)
    return signedIn.token
  } catch (error) {
    const rejection = error instanceof UserLocked ? new RejectedPasskey('locked') : error
    if (!(rejection instanceof RejectedPasskey)) throw error
    await saveInteraction(ctx.tenant, counted)
    await limitStranger('rejectPasskey', ctx)
    const { userId, problem } = rejection
    await recordEvents(sql, ctx, [passkeyFailed(userId, { clientId, reason: problem })])
    wakeReaders(ctx.tenant)
    throw rejection
  }
}
