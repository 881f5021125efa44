import type { H3 } from 'h3'
import { addRoute, answerPreflight, type TenantCall } from '../../access/endpoint.http.ts'
import { createUncachedJson, renderOAuthError } from '../../pages/responses.http.ts'
import { readTokenRequest } from '../client-auth/client-request.http.ts'
import { revokeToken } from '../token/revocation.ts'
import { handleTokenRequest } from './grant-types.ts'

/** The token endpoint (RFC 6749, section 3.2) and the revocation endpoint (RFC 7009). */
export function addTokenRoutes(app: H3): void {
  addRoute(
    app,
    '/:tenant/oidc/token',
    { POST: handleToken, OPTIONS: answerPreflight },
    renderOAuthError,
    'token.refused',
  )
  addRoute(
    app,
    '/:tenant/oidc/revoke',
    { POST: handleRevocation, OPTIONS: answerPreflight },
    renderOAuthError,
    'token.refused',
  )
}

const handleToken = async (call: TenantCall): Promise<Response> =>
  createUncachedJson(await handleTokenRequest(await readTokenRequest(call)))

async function handleRevocation(call: TenantCall): Promise<Response> {
  const { ctx, tenant, client, form } = await readTokenRequest(call)
  await revokeToken(ctx, tenant, client, form)
  return createUncachedJson({})
}
