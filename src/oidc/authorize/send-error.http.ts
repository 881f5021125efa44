import { findClient } from '../../access/client-cache.ts'
import type { TenantCall } from '../../access/endpoint.http.ts'
import { OAuthError } from '../../core/oauth-error.ts'
import type { ResponseTarget } from '../model/authorize-request.ts'
import { isUnreviewed } from '../model/unreviewed-clients.ts'
import { sendAuthorizationResponse } from './response-modes.http.ts'
import { buildErrorResponse } from './response-modes.ts'

/**
 * Records a rejection with its diagnostics and sends the error response through the browser. Anyone can
 * publish a metadata document, so that a link to this server would lead to any address (RFC 9700, section
 * 4.11.2): an error of such a client is shown on a page until the user has seen a page of this client's
 * sign-in. Throws OAuthError, not redirected, with the error code alone: pages show no text of strangers.
 */
export async function sendErrorResponse(
  call: TenantCall,
  target: ResponseTarget,
  error: OAuthError,
  { hasSeenPage }: { hasSeenPage: boolean },
): Promise<Response> {
  const { tenant } = call.ctx
  if (!hasSeenPage && isUnreviewed(await findClient(tenant, target.clientId)))
    throw new OAuthError(error.error, `The application's request was answered with ${error.error}.`, {
      redirect: false,
      diagnostics: { ...error.diagnostics, error_description: error.message },
    })
  await call.logRejection(error)
  return sendAuthorizationResponse(call.ctx, buildErrorResponse(tenant, target, error.error, error.message))
}
