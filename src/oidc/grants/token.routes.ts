import type { H3 } from 'h3'
import { answerPreflight, type TenantCall } from '../../access/endpoint.http.ts'
import { addOAuthRoute, createUncachedJson } from '../../pages/responses.http.ts'
import { readTokenRequest } from '../client-auth/client-request.http.ts'
import { introspectToken } from '../token/introspection.ts'
import { revokeToken } from '../token/revocation.ts'
import { handleTokenRequest } from './grant-types.ts'

/**
 * The token endpoint (RFC 6749, section 3.2), the revocation endpoint (RFC 7009), and the introspection endpoint (RFC 7662,
 * section 2), which is for servers: there is no preflight.
 */
export function addTokenRoutes(app: H3): void {
  addOAuthRoute(app, '/:tenant/oidc/token', { POST: handleToken, OPTIONS: answerPreflight }, 'token.refused')
  addOAuthRoute(
    app,
    '/:tenant/oidc/revoke',
    { POST: handleRevocation, OPTIONS: answerPreflight },
    'token.refused',
  )
  addOAuthRoute(app, '/:tenant/oidc/introspect', { POST: handleIntrospection }, 'token.refused')
}

const handleToken = async (call: TenantCall): Promise<Response> =>
  createUncachedJson(await handleTokenRequest(await readTokenRequest(call)))

async function handleRevocation(call: TenantCall): Promise<Response> {
  const { ctx, tenant, client, form } = await readTokenRequest(call)
  await revokeToken(ctx, tenant, client, form)
  return createUncachedJson({})
}

const handleIntrospection = async (call: TenantCall): Promise<Response> =>
  createUncachedJson(await introspectToken(await readTokenRequest(call)))
