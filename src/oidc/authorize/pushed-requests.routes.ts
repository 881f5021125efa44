import type { H3 } from 'h3'
import { addRoute, answerPreflight, type TenantCall } from '../../access/endpoint.http.ts'
import { createUncachedJson, renderOAuthError } from '../../pages/responses.http.ts'
import { loadDocumentClient } from '../../registration/client-documents.ts'
import { limitPendingRequest, readTokenRequest } from '../client-auth/client-request.http.ts'
import { extractPushedParameters, storePushedRequest } from './pushed-requests.ts'
import { validateParameters } from './request-checks.ts'

/** The pushed authorization request endpoint (RFC 9126, section 2). */
export function addPushedRequestRoutes(app: H3): void {
  addRoute(
    app,
    '/:tenant/oidc/par',
    { POST: handlePush, OPTIONS: answerPreflight },
    renderOAuthError,
    'authorize.refused',
  )
}

async function handlePush(call: TenantCall): Promise<Response> {
  const request = await readTokenRequest(call, (clientId) =>
    loadDocumentClient(call.ctx, call.tenant, clientId),
  )
  const params = extractPushedParameters(request)
  await limitPendingRequest(request)
  await validateParameters(request.tenant, request.client, params, { isPushed: true })
  return createUncachedJson(await storePushedRequest(request.ctx.db, request.client.id, params), {
    status: 201,
  })
}
