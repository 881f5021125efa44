import { upsertConsent } from '../../../consents/consents.sql.ts'
import type { Ctx } from '../../../core/context.ts'
import { toUserCtx } from '../../../core/context.ts'
import { inTransaction } from '../../../database/db.ts'
import { consentGranted } from '../../../events/grant-events.ts'
import { recordEvents, wakeReaders } from '../../../events/log.ts'
import type { NeedsSecondFactor } from '../../../passcodes/passcodes.ts'
import type { SessionProof } from '../../../sessions/proofs.ts'
import { endSession } from '../../../sessions/sessions.ts'
import type { AuthorizationState } from '../../authorize/evaluate-request.ts'
import {
  type FirstProof,
  type Interaction,
  type Progress,
  saveInteraction,
} from '../../interactions/interactions.ts'
import { needsSecondFactor, selectSecondFactorTerms } from '../../model/second-factor.ts'
import { linkPending } from './pending-links.ts'
import type { SignInStep } from './sign-in-step.ts'

/** A proven user and the session of the browser, with its new token. */
export type SignedIn = {
  userId: string
  session: { id: string; authenticatedAt: Date }
  token: string
  /** The proof that a second factor completed. */
  first?: SessionProof | null
}
/** A proven user who presents a second factor next: there is no session yet. */
type ProvenUser = FirstProof & { token: null }

/**
 * Continues an interaction after a proof by any method: as the user who has signed in, or with a second factor.
 * Returns the token of the session, if there is one.
 */
export async function recordProof(
  ctx: Ctx,
  interaction: Interaction,
  proven: SignedIn | ProvenUser,
  previousSessionId: string | null,
): Promise<string | null> {
  if (proven.token === null)
    await saveInteraction(ctx.tenant, {
      ...interaction,
      progress: toFirstProofProgress(interaction.progress, proven),
    })
  else await recordSignIn(ctx, interaction, proven, previousSessionId)
  return proven.token
}

/** The progress after a first proof, which a second factor completes. */
export const toFirstProofProgress = (
  former: Progress,
  { userId, proof, provider }: FirstProof,
): Progress => ({
  ...former,
  firstProof: { userId, proof, provider },
})

/** Whether a second factor follows a proof of this sign-in. */
export const createSecondFactorRule =
  ({ interaction, authorization }: Pick<SignInStep, 'interaction' | 'authorization'>): NeedsSecondFactor =>
  ({ roles, hasSecondFactor }, amr) =>
    needsSecondFactor(
      selectSecondFactorTerms(authorization.secondFactorPolicy, authorization.client, roles),
      interaction.request.claims,
      amr,
      hasSecondFactor,
    )

/**
 * Continues an interaction as the user who has signed in by any method. The previous session of the browser
 * ends if it is that of another user.
 */
export async function recordSignIn(
  ctx: Ctx,
  interaction: Interaction,
  { userId, session, first }: SignedIn,
  previousSessionId: string | null,
): Promise<void> {
  await settleSignIn(ctx, interaction, { userId, session }, previousSessionId)
  const progress = toSignedInProgress(interaction.progress, session, first)
  await saveInteraction(ctx.tenant, { ...interaction, progress })
}

/** The progress after a sign-in. The first proof for the request counts as its time. */
export const toSignedInProgress = (
  { pendingLink: _, firstProof: __, ...former }: Progress,
  session: SignedIn['session'],
  first: SessionProof | null = null,
): Progress => ({
  ...former,
  sessionId: session.id,
  signedInAt:
    (former.sessionId === session.id ? former.signedInAt : undefined) ??
    first?.at ??
    session.authenticatedAt.toISOString(),
})

/**
 * Ends the previous session of the browser if it is that of another user, and links the identity that the person
 * proved before.
 */
export async function settleSignIn(
  ctx: Ctx,
  interaction: Interaction,
  { userId, session }: Pick<SignedIn, 'userId' | 'session'>,
  previousSessionId: string | null,
): Promise<void> {
  const { clientId } = interaction.request
  // The event names the user who signs in, not the previous user.
  const userCtx = toUserCtx(ctx, { userId, clientId, sessionId: session.id })
  if (previousSessionId !== null && previousSessionId !== session.id)
    await endSession(userCtx, previousSessionId, 'logout')
  const { pendingLink } = interaction.progress
  if (pendingLink) await linkPending(userCtx, userId, pendingLink)
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
