import type { H3 } from 'h3'
import { findRequestingClient } from '../../registration/client-documents.ts'
import { oauthError, uncachedJson } from '../answers.routes.ts'
import { addRoute, type Call } from '../call.routes.ts'
import { limitUnproven, preflight, readClientCall } from '../client-auth/client-call.routes.ts'
import { checkParameters } from './authorization.ts'
import { keepPushedRequest, pushedParameters } from './pushed-requests.ts'

/** Where clients push authorize requests before they send the browser (RFC 9126, section 2). */
export function addPushedRequestRoutes(app: H3): void {
  addRoute(app, '/:tenant/oidc/par', { POST: push, OPTIONS: preflight }, oauthError, 'authorize.refused')
}

async function push(call: Call): Promise<Response> {
  const request = await readClientCall(call, (clientId) =>
    findRequestingClient(call.ctx, call.tenant, clientId),
  )
  const params = pushedParameters(request)
  await limitUnproven(request)
  await checkParameters(request.tenant, request.client, params, { isPushed: true })
  return uncachedJson(await keepPushedRequest(request.ctx.tenant, request.client.id, params), { status: 201 })
}
