import { upsertConsent } from '../../../consents/consents.sql.ts'
import { toConsentDetail } from '../../../consents/consents.ts'
import type { Ctx } from '../../../context/context.ts'
import { toUserCtx } from '../../../context/context.ts'
import { takeConsent } from '../../../coordination/person-budgets.ts'
import { createEvent } from '../../../events/create-event.ts'
import { recordEvents } from '../../../events/log.ts'
import { endOldPassword } from '../../../old-passwords/old-passwords.ts'
import type { NeedsSecondFactor } from '../../../passcodes/passcodes.ts'
import { parsePhoneNumber } from '../../../schema/phone-numbers.ts'
import { type BrowserAccount, endAccounts, listSurplusAccounts } from '../../../sessions/browser-accounts.ts'
import type { SessionProof } from '../../../sessions/proofs.ts'
import type { AccountState } from '../../authorize/account-choice.ts'
import type { AuthorizationState } from '../../authorize/evaluate-request.ts'
import { type Interaction, saveInteraction, saveProvenInteraction } from '../../interactions/interactions.ts'
import type { FirstProof, Progress } from '../../interactions/progress.ts'
import type { Prompt } from '../../model/authorize-request.ts'
import { needsSecondFactor, selectSecondFactorTerms } from '../../model/second-factor.ts'
import { linkPending } from './pending-links.ts'
import type { EnteredAccount, SignInStep } from './sign-in-step.ts'

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
 * Returns the account, if there is a session.
 */
export async function recordProof(
  ctx: Ctx,
  interaction: Interaction,
  proven: SignedIn | ProvenUser,
  present: readonly BrowserAccount[],
): Promise<EnteredAccount | null> {
  if (proven.token === null) {
    const progress = toFirstProofProgress(interaction.progress, proven)
    await saveProvenInteraction(ctx.db, { ...interaction, progress })
    return null
  }
  await recordSignIn(ctx, interaction, proven, present)
  return { userId: proven.userId, token: proven.token }
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
 * Continues an interaction as the user who has signed in by any method. The other accounts of the browser stay signed
 * in, as far as it keeps them.
 */
export async function recordSignIn(
  ctx: Ctx,
  interaction: Interaction,
  { userId, session, first }: SignedIn,
  present: readonly BrowserAccount[],
): Promise<void> {
  const progress = toSignedInProgress(interaction.progress, session, first)
  // First: a browser whose binding is out of date must not link what another one has proven.
  await saveProvenInteraction(ctx.db, { ...interaction, progress })
  await applySignIn(ctx, interaction, { userId, session }, present)
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
 * Applies a sign-in to the rest: ends the sessions of accounts that the browser does not keep and the old password, and
 * links the identity that the person proved before.
 */
export async function applySignIn(
  ctx: Ctx,
  interaction: Interaction,
  { userId, session }: Pick<SignedIn, 'userId' | 'session'>,
  present: readonly BrowserAccount[],
): Promise<void> {
  const { clientId } = interaction.request
  await endAccounts(ctx, listSurplusAccounts(present, userId), clientId)
  await endOldPassword(ctx.db, userId)
  const { pendingLink } = interaction.progress
  if (pendingLink)
    await linkPending(toUserCtx(ctx, { userId, clientId, sessionId: session.id }), userId, pendingLink)
}

/** The prompts of a request without select_account, or with it. */
const setSelect = ({ request }: Interaction, isAsked: boolean): Prompt[] => [
  ...request.prompt.filter((prompt) => prompt !== 'select_account'),
  ...(isAsked ? (['select_account'] as const) : []),
]

/** Saves an interaction that begins anew, with or without the page on which the user chooses an account. */
const restart = (
  ctx: Ctx,
  interaction: Interaction,
  isAsked: boolean,
  progress: Progress,
  loginHint = interaction.request.loginHint,
): Promise<boolean> =>
  saveInteraction(ctx.db, {
    ...interaction,
    request: { ...interaction.request, loginHint, prompt: setSelect(interaction, isAsked) },
    progress,
  })

/** Lets another user sign in: the request requires a new sign-in from now on. */
export const switchUser = (ctx: Ctx, interaction: Interaction): Promise<boolean> =>
  restart(ctx, interaction, false, { isAnother: true })

/** Lets the user choose among the accounts of the browser. */
export const openAccountChoice = (ctx: Ctx, interaction: Interaction): Promise<boolean> =>
  restart(ctx, interaction, true, {})

/** Continues as the user of a session, or lets the user of an ended one sign in again. */
export function continueAsAccount(
  ctx: Ctx,
  interaction: Interaction,
  { id, isActive, email, phoneNumber }: AccountState,
): Promise<boolean> {
  // Nobody signs in by a number without its country code.
  const address = email ?? parsePhoneNumber(phoneNumber ?? '')
  if (isActive) return restart(ctx, interaction, false, { ...interaction.progress, chosenSession: id })
  return address ? restart(ctx, interaction, false, {}, address) : switchUser(ctx, interaction)
}

/** Continues for one of the organizations of the user, which the session remembers. */
export async function continueInOrganization(
  ctx: Ctx,
  interaction: Interaction,
  { id }: { id: string },
  organizationId: string,
): Promise<void> {
  await ctx.db.prisma.session.updateMany({
    where: { tenantId: ctx.tenant, id },
    data: { organizationId },
  })
  await saveInteraction(ctx.db, { ...interaction, progress: { ...interaction.progress, organizationId } })
}

/** Stores the user's consent and records its event. Throws RateLimited. */
export async function grantConsent(
  ctx: Ctx,
  interaction: Interaction,
  { signInState: state, scopes, claims, resources, client }: AuthorizationState,
): Promise<void> {
  if (!state) return
  const { userId } = state
  takeConsent(ctx.tenant, userId)
  const userCtx = toUserCtx(ctx, { userId, clientId: client.id, sessionId: state.id })
  await ctx.db.transaction(async (tx) => {
    const consent = { userId, clientId: client.id, scopes, claims, resources }
    await upsertConsent(tx, { ...consent, now: new Date() })
    await recordEvents(tx, userCtx, [
      createEvent(
        'consent.granted',
        { userId, sessionId: state.id, clientId: client.id },
        toConsentDetail(consent),
      ),
    ])
  })
  await saveInteraction(ctx.db, {
    ...interaction,
    progress: { ...interaction.progress, consentedIn: state.id },
  })
}
