import type { Ctx } from '../../../context/context.ts'
import { consumeLimit } from '../../../coordination/rate-limits.ts'
import { NotFound } from '../../../core/errors.ts'
import { linkProvenIdentity } from '../../../idps/idp-links.ts'
import { buildAuthorizationUrl } from '../../../idps/provider/provider-authorization.ts'
import { findProviderRow } from '../../../idps/sign-in-providers.ts'
import { announceAccountChange } from '../../../users/deletion/account-notices.ts'
import { openInteraction, readInteractionKey } from '../../interactions/browser-binding.ts'
import { deleteInteraction, findInteraction } from '../../interactions/interactions.ts'
import { ACCOUNT_PAGES_ID, type AccountPagesRequest } from '../../model/authorize-request.ts'
import type { CallbackAnswer } from './callback-answer.ts'
import { beginAttempt, buildLeftCookie, claimAttempt, readHandle } from './provider-attempt.ts'
import {
  proveAnswer,
  RejectedIdentity,
  recordRejection,
  toErrorRejection,
  toRejection,
} from './provider-sign-in.ts'

/** What is connected where: the request names the user, the session and the page; `cookies` are those of the browser. */
type Connection = { request: AccountPagesRequest; cookies: string | null; idpId: string }

/**
 * Begins to connect an identity at a provider. Returns the URL of the authorization request, and the cookies to set. The provider asks the user
 * to sign in again, so that the identity of another person who is signed in there is not connected. The caller has
 * verified a recent sign-in. Throws NotFound, RejectedIdentity, and RateLimited (per network).
 */
export async function beginConnection(
  ctx: Ctx,
  { request, cookies, idpId }: Connection,
): Promise<{ url: string; cookies: string[] }> {
  const row = await findProviderRow(ctx.db, idpId)
  if (!row) throw new NotFound('identity provider')
  await consumeLimit('linkIdentity', ctx.tenant, ctx.ip)
  const { cookies: set, ...opened } = await openInteraction(ctx, request, cookies)
  const interaction = { ...opened, progress: {} }
  const values = await beginAttempt(ctx.db, interaction, { idpId, since: new Date() })
  const wishes = { prompt: 'login', loginHint: null, acrValues: [] } as const
  const url = await buildAuthorizationUrl(row, values, wishes).catch(async (error) => {
    await deleteInteraction(ctx.db, interaction)
    const rejection = toRejection(error)
    if (rejection instanceof RejectedIdentity) await recordRejection(ctx, { request }, idpId, rejection)
    throw rejection
  })
  return { url, cookies: [...set, buildLeftCookie(ctx.tenant, opened.handle)] }
}

/** The answer of a provider, and the cookies of the browser, one of which binds the attempt to it. */
type ReceivedAnswer = { idpId: string; answer: CallbackAnswer; cookies: string | null }

/**
 * Connects the identity that the answer of a provider proves to the user of a session. An answer is accepted once, in
 * the browser and the session that asked for it. The caller has verified a recent sign-in. Throws NotFound for any
 * other answer, RejectedIdentity, RateLimited, Conflict and Unavailable.
 */
export async function finishConnection(
  ctx: Ctx,
  { userId, sessionId }: { userId: string; sessionId: string },
  { idpId, answer, cookies }: ReceivedAnswer,
): Promise<void> {
  const handle = readHandle(answer.state)
  const interaction = await findInteraction(ctx.db, {
    handle,
    cookie: readInteractionKey(ctx.tenant, handle, cookies),
  })
  if (interaction?.request.responseMode !== 'account' || interaction.request.connectsIn !== sessionId)
    throw new NotFound('request')
  const attempt = await claimAttempt(ctx.db, interaction, answer.state)
  if (!attempt) throw new NotFound('request')
  await deleteInteraction(ctx.db, interaction)
  try {
    const { row, identity, tokens } = await proveAnswer(attempt, await findProviderRow(ctx.db, idpId), answer)
    await linkProvenIdentity(ctx, { userId, idpId: row.id }, { identity, tokens, provenAt: row.updatedAt })
  } catch (error) {
    if (error instanceof RejectedIdentity) await recordRejection(ctx, interaction, attempt.idpId, error)
    throw error
  }
  announceAccountChange(ctx, userId, 'identity-linked')
}

/**
 * Records an error that came without `state`, such as a cancellation. Any site can send one: the attempt stays open. Throws
 * RejectedIdentity, and RateLimited.
 */
export async function rejectConnection(ctx: Ctx, idpId: string, error: string): Promise<never> {
  const rejection = toErrorRejection(error)
  await recordRejection(ctx, { request: { clientId: ACCOUNT_PAGES_ID } }, idpId, rejection)
  throw rejection
}
