import type { CachedClient } from '../../access/client-cache.ts'
import type { CachedTenant } from '../../access/tenant-cache.ts'
import type { Ctx } from '../../core/context.ts'
import { PayloadTooLarge } from '../../core/errors.ts'
import { OAuthError } from '../../core/oauth-error.ts'
import { findRequestingClient } from '../../registration/client-documents.ts'
import type { ResumableSignIn } from '../interactions/interactions.ts'
import type { PendingRedirect, ResponseTarget } from '../model/authorize-request.ts'
import { listSupportedPrompts } from '../model/prompts.ts'
import { listAllowedResources } from '../token/audience.ts'
import { verifyIdTokenHint } from '../token/id-tokens.ts'
import { parseAuthorizeRequest } from './parse-request.ts'
import { isPushedRequest, openPushedRequest } from './pushed-requests.ts'
import { validateResponseTarget } from './response-target.ts'

/**
 * A validated authorize request, with the handle of its sign-in if it was pushed; the sign-in that it started before; or
 * its error and the target that may receive it.
 */
export type CheckedRequest =
  | { request: PendingRedirect; signIn?: ResumableSignIn }
  | { pendingHandle: string }
  | { error: OAuthError; target: ResponseTarget }

/**
 * Requests are stored while the user signs in, also for unauthenticated senders, so they are limited further
 * than forms.
 */
const MAX_REQUEST_CHARACTERS = 16_384

/**
 * Validates the parameters of an authorize request, sent by the browser or pushed. Throws OAuthError and
 * PayloadTooLarge.
 */
export async function validateParameters(
  tenant: CachedTenant,
  client: CachedClient | null,
  params: URLSearchParams,
  { isPushed }: { isPushed: boolean },
): Promise<PendingRedirect> {
  if (params.toString().length > MAX_REQUEST_CHARACTERS) throw new PayloadTooLarge(MAX_REQUEST_CHARACTERS)
  const resources = await listAllowedResources(tenant, params.getAll('resource'))
  const prompts = listSupportedPrompts(tenant)
  const request = parseAuthorizeRequest(params, client, {
    tenant: tenant.tenantId,
    resources,
    prompts,
    defaultScopes: tenant.defaultScopes,
    isPushed,
  })
  const hint =
    request.idTokenHint === null ? null : await verifyIdTokenHint(tenant.tenantId, request.idTokenHint)
  return { ...request, idTokenHint: null, subjectHint: hint?.userId ?? null }
}

/**
 * Validates an authorize request from the browser, or the pushed request that it refers to (RFC 9126).
 * Returns an error that may be sent to the redirect URI; throws OAuthError and PayloadTooLarge otherwise.
 */
export async function validateAuthorizeRequest(
  ctx: Ctx,
  tenant: CachedTenant,
  sent: URLSearchParams,
): Promise<CheckedRequest> {
  const isPushed = isPushedRequest(sent)
  const opened = isPushed ? await openPushedRequest(tenant.tenantId, sent) : { params: sent }
  if ('pendingHandle' in opened) return opened
  const { params, signIn } = opened
  const client = await findRequestingClient(ctx, tenant, params.get('client_id') ?? '')
  try {
    return { request: await validateParameters(tenant, client, params, { isPushed }), signIn }
  } catch (error) {
    if (!(error instanceof OAuthError && error.redirect)) throw error
    return { error, target: validateResponseTarget(params, client) }
  }
}
