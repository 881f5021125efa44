import { toUserCtx } from '../../../context/context.ts'
import { takeSignIn } from '../../../coordination/person-budgets.ts'
import { type ProvenPasskey, RejectedPasskey, toPasskeyUse } from '../../../credentials/passkeys/passkeys.ts'
import { endOldPassword } from '../../../old-passwords/old-passwords.ts'
import type { prepareAnswer } from '../../../pages/form-answers.ts'
import { buildBrowserSessionOptions, prepareSession } from '../../../sessions/sessions.ts'
import { evaluateState } from '../../authorize/evaluate-request.ts'
import { issueCodeResponse } from '../../authorize/issue-answer.ts'
import { requiresConsent } from '../../authorize/required-consent.ts'
import type { AuthorizationResponse } from '../../authorize/response-modes.ts'
import { hashBinding } from '../../interactions/interactions.ts'
import { isRedirected } from '../../model/authorize-request.ts'
import { toSignedInProgress } from '../step/sign-in.ts'
import type { EnteredAccount, SignInStep } from '../step/sign-in-step.ts'
import { storePasskeyCompletion } from './passkey-completion.sql.ts'

/** Makes the response from the answer of the request and the account with the token of the new session. */
export type PrepareCompletion = (
  entered: EnteredAccount,
  answer: AuthorizationResponse,
) => ReturnType<typeof prepareAnswer>

/** The account that has signed in, and the response. */
export type CompletedSignIn = { entered: EnteredAccount; response: Response }

/**
 * Signs in by a verified passkey, answers the request and keeps the response, in one statement. Null, without a change, when the
 * browser has a session, a page follows the sign-in, or the request is answered elsewhere than at its redirect URI.
 * Throws RejectedPasskey and RateLimited.
 */
export async function completeByPasskey(
  { call, interaction, authorization, passkey }: SignInStep,
  proven: ProvenPasskey,
  prepare: PrepareCompletion,
  now: Date,
): Promise<CompletedSignIn | null> {
  const { ctx } = call
  const { request, progress } = interaction
  if (!passkey || authorization.signInState || progress.pendingLink || !isRedirected(request)) return null
  const { userId, amr } = proven
  const session = prepareSession(
    toUserCtx(ctx, { userId, clientId: request.clientId }),
    buildBrowserSessionOptions({ userId, proof: { method: 'passkey', amr } }),
    now,
  )
  const { id, proofs } = session.values
  const state = {
    ...passkey,
    id,
    userId,
    proofs,
    amr: [],
    authenticatedAt: now,
    lastSeenAt: now,
    lastOrganizationId: null,
    isUseDue: false,
  }
  const signedIn = toSignedInProgress(progress, state)
  const evaluated = evaluateState(
    request,
    signedIn,
    authorization,
    { state, isAmbiguous: false, isChosen: true },
    now,
  )
  const answer = issueCodeResponse(call.tenant, request, evaluated, now)
  if (!answer) return null
  const { client, scopes } = evaluated
  const { handleHash, browserHash } = hashBinding(interaction)
  const entered = { userId, token: session.token }
  const { response, kept } = await prepare(entered, answer)
  takeSignIn(ctx.tenant, userId)
  const stored = await storePasskeyCompletion(ctx.db, {
    passkey: toPasskeyUse(ctx, proven, now),
    session: session.values,
    event: session.event,
    clientId: client.id,
    interactionHash: handleHash,
    browserHash,
    kept,
    needsConsent: requiresConsent({ requireConsent: client.requireConsent, scopes }),
  })
  if (!stored.isUserActive) throw new RejectedPasskey('locked', { userId })
  // The consent was revoked since it was read.
  if (!stored.hasConsent) return null
  if (!stored.isSignedIn) throw new RejectedPasskey('rejected', { userId })
  await endOldPassword(ctx.db, userId)
  return { entered, response }
}
