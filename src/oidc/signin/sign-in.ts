import { upsertConsent } from '../../consents/consents.sql.ts'
import type { Ctx } from '../../core/context.ts'
import { toUserCtx } from '../../core/context.ts'
import { addSeconds } from '../../core/time.ts'
import { inTransaction } from '../../database/db.ts'
import { consentGranted } from '../../events/grant-events.ts'
import { recordEvents, wakeReaders } from '../../events/log.ts'
import { SEND_COOLDOWN_SECONDS } from '../../passcodes/passcode-budgets.sql.ts'
import { toSignInOrigin } from '../../passcodes/passcode-origin.ts'
import { verifySignInPasscode } from '../../passcodes/passcodes.ts'
import { sendSignInPasscode } from '../../passcodes/send-passcode.ts'
import { endSession } from '../../sessions/sessions.ts'
import type { AuthorizationState } from '../authorize/evaluate-request.ts'
import { hashHandle, type Interaction, type Progress, saveInteraction } from '../interactions/interactions.ts'
import { findKnownBrowser } from './known-browsers.ts'

/** When another code can be requested; null when none was sent. */
export const computeResendAllowedAt = ({ sentAt }: Progress): Date | null =>
  sentAt ? addSeconds(new Date(sentAt), SEND_COOLDOWN_SECONDS) : null

/** Where the code of this sign-in is requested and entered; `cookies` are those of the browser. */
const toOrigin = (ctx: Ctx, interaction: Interaction, address: string, cookies: string | null) =>
  toSignInOrigin(
    hashHandle(interaction).toString('base64url'),
    ctx.ip,
    findKnownBrowser(ctx.tenant, address, cookies),
  )

/** Sends a code to the address and saves the address. Throws as sendSignInPasscode. */
export async function requestSignInCode(
  ctx: Ctx,
  interaction: Interaction,
  address: string,
  cookies: string | null,
): Promise<void> {
  const { progress } = interaction
  const isRepeated =
    progress.address === address && (computeResendAllowedAt(progress) ?? new Date(0)) > new Date()
  if (isRepeated) return
  const origin = toOrigin(ctx, interaction, address, cookies)
  const { clientId } = interaction.request
  const sent = await sendSignInPasscode(ctx, address, { clientId, origin })
  const sentAt = new Date().toISOString()
  const { refusal: _, ...kept } = progress
  const code = { origin, ...(sent && { digits: sent.digits }) }
  await saveInteraction(ctx.tenant, { ...interaction, progress: { ...kept, address, sentAt, ...code } })
}

/** Removes the address, so that another one can be entered. */
export const clearAddress = (ctx: Ctx, interaction: Interaction): Promise<boolean> =>
  saveInteraction(ctx.tenant, { ...interaction, progress: { isAnother: true } })

/**
 * Verifies the passcode of the address and returns the token of the browser session, always a new one against
 * session fixation. The session continues when its user has signed in again: clients that know it do not have
 * to be signed out (OIDC Core, section 3.1.2.1). The session of another user ends. Throws RejectedCode and
 * RateLimited.
 */
export async function completeSignIn(
  ctx: Ctx,
  interaction: Interaction,
  code: string,
  previousSessionId: string | null,
): Promise<string> {
  const { clientId } = interaction.request
  const { address = '', origin = toOrigin(ctx, interaction, address, null) } = interaction.progress
  const { userId, session, token } = await verifySignInPasscode(ctx, address, code, {
    clientId,
    origin,
    sessionId: previousSessionId,
  })
  // The event names the user who signs in, not the previous user.
  const userCtx = toUserCtx(ctx, { userId, clientId, sessionId: session.id })
  if (previousSessionId !== null && previousSessionId !== session.id)
    await endSession(userCtx, previousSessionId, 'logout')
  const progress: Progress = { ...interaction.progress, sessionId: session.id }
  await saveInteraction(ctx.tenant, { ...interaction, progress })
  return token
}

/** Lets another user sign in: the request requires a new sign-in from now on. */
export const switchUser = (ctx: Ctx, interaction: Interaction): Promise<boolean> =>
  saveInteraction(ctx.tenant, {
    ...interaction,
    request: {
      ...interaction.request,
      prompt: [...new Set([...interaction.request.prompt, 'login' as const])],
    },
    progress: { isAnother: true },
  })

/** Continues as the signed-in user: answers prompt=select_account. */
export const continueAsUser = (ctx: Ctx, interaction: Interaction): Promise<boolean> =>
  saveInteraction(ctx.tenant, {
    ...interaction,
    request: {
      ...interaction.request,
      prompt: interaction.request.prompt.filter((prompt) => prompt !== 'select_account'),
    },
  })

/** Stores the user's consent and records its event. */
export async function grantConsent(
  ctx: Ctx,
  interaction: Interaction,
  { signInState: state, scopes, claims, client }: AuthorizationState,
  now = new Date(),
): Promise<void> {
  if (!state) return
  const { userId } = state
  const userCtx = toUserCtx(ctx, { userId, clientId: client.id, sessionId: state.id })
  await inTransaction(async (sql) => {
    await upsertConsent(sql, ctx.tenant, { userId, clientId: client.id, scopes, claims, now })
    const consent = { userId, clientId: client.id, scopes, claims }
    await recordEvents(sql, userCtx, [consentGranted(consent, state.id)])
  })
  wakeReaders(ctx.tenant)
  await saveInteraction(ctx.tenant, {
    ...interaction,
    progress: { ...interaction.progress, consentedIn: state.id },
  })
}
