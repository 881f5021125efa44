import type { H3 } from 'h3'
import { addRoute, type TenantCall } from '../../access/endpoint.http.ts'
import { createUncachedJson, renderOAuthError } from '../../pages/responses.http.ts'
import { readTokenRequest } from '../client-auth/client-request.http.ts'
import { introspectToken } from './introspection.ts'

/** The introspection endpoint (RFC 7662, section 2). It is for servers: there is no preflight. */
export function addIntrospectionRoutes(app: H3): void {
  addRoute(app, '/:tenant/oidc/introspect', { POST: handleIntrospection }, renderOAuthError, 'token.refused')
}

const handleIntrospection = async (call: TenantCall): Promise<Response> =>
  createUncachedJson(await introspectToken(await readTokenRequest(call)))
