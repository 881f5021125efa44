import { consumeLimit } from '../coordination/rate-limits.ts'
import type { Ctx } from '../core/context.ts'
import { NotFound } from '../core/errors.ts'
import { linkProvenIdentity } from '../idps/idp-links.ts'
import { buildAuthorizationUrl } from '../idps/provider-authorization.ts'
import { findProviderRow } from '../idps/sign-in-providers.ts'
import { createInteraction, deleteInteraction, findInteraction } from '../oidc/interactions/interactions.ts'
import type { AccountPagesRequest } from '../oidc/model/authorize-request.ts'
import type { CallbackAnswer } from '../oidc/signin/provider/callback-answer.ts'
import { beginAttempt, claimAttempt, readHandle } from '../oidc/signin/provider/provider-attempt.ts'
import { proveAnswer, RejectedIdentity, recordRejection } from '../oidc/signin/provider/provider-sign-in.ts'
import { announceAccountChange } from '../users/account-notices.ts'
import { requireStepUp } from './step-up.ts'

/** Creates the request for the caller in the caller's session. */
type RequestFactory = (owner: { userId: string; connectsIn: string }) => AccountPagesRequest

/**
 * Begins to connect an identity at a provider to the caller, in the browser with the key `browserKey`. Returns the URL
 * of the authorization request. The provider asks the user to sign in again, so that the identity of another person
 * who is signed in there is not connected. Throws NotFound, Unavailable, RateLimited (per network), and as
 * requireStepUp.
 */
export async function beginConnection(
  ctx: Ctx,
  idpId: string,
  browserKey: string,
  createRequest: RequestFactory,
): Promise<string> {
  const { userId, sessionId } = await requireStepUp(ctx)
  const row = await findProviderRow(ctx.tenant, idpId)
  if (!row) throw new NotFound('identity provider')
  await consumeLimit('linkIdentity', ctx.tenant, ctx.ip)
  const request = createRequest({ userId, connectsIn: sessionId })
  const handle = await createInteraction(ctx, request, browserKey)
  const interaction = { handle, key: browserKey, request, progress: {} }
  const values = await beginAttempt(ctx.tenant, interaction, { idpId, since: new Date() })
  return buildAuthorizationUrl(row, values, { prompt: 'login', loginHint: null, acrValues: [] })
}

/** The answer of a provider, and the cookie that binds the attempt to the browser. */
type ReceivedAnswer = { idpId: string; answer: CallbackAnswer; cookie: string | null }

/**
 * Connects the identity that the answer of a provider proves to the caller. An answer is accepted once, in the browser
 * and the session that asked for it. Throws NotFound for any other answer, RejectedIdentity, RateLimited, and as
 * linkProvenIdentity and requireStepUp.
 */
export async function finishConnection(ctx: Ctx, { idpId, answer, cookie }: ReceivedAnswer): Promise<void> {
  const { userId, sessionId } = await requireStepUp(ctx)
  const handle = readHandle(answer.state)
  const interaction = await findInteraction(ctx.tenant, { handle, cookie })
  if (interaction?.request.responseMode !== 'account' || interaction.request.connectsIn !== sessionId)
    throw new NotFound('request')
  const attempt = await claimAttempt(ctx.tenant, interaction, answer.state)
  if (!attempt) throw new NotFound('request')
  await deleteInteraction(ctx.tenant, handle)
  try {
    const { row, identity, tokens } = await proveAnswer(
      attempt,
      await findProviderRow(ctx.tenant, idpId),
      answer,
    )
    await linkProvenIdentity(ctx, { userId, idpId: row.id }, { identity, tokens, provenAt: row.updatedAt })
  } catch (error) {
    if (error instanceof RejectedIdentity) await recordRejection(ctx, interaction, attempt.idpId, error)
    throw error
  }
  announceAccountChange(ctx, userId, 'identity-linked')
}
