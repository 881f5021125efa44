import type { H3 } from 'h3'
import { answerPreflight, type TenantCall } from '../../access/endpoint.http.ts'
import { canUseGrant, DEVICE_CODE_GRANT, GRANT_TYPES, type GrantType } from '../../clients/client-grants.ts'
import { OAuthError } from '../../core/oauth-error.ts'
import { addOAuthRoute, createUncachedJson } from '../../pages/responses.http.ts'
import { readTokenRequest } from '../client-auth/client-request.http.ts'
import { requireParameter, type TokenRequest, type TokenResponse } from '../model/token-request.ts'
import { introspectToken } from '../token/introspection.ts'
import { revokeToken } from '../token/revocation.ts'
import { exchangeCode } from './authorization-code.ts'
import { issueMachineToken } from './client-credentials.ts'
import { redeemDeviceCode } from './device-code.ts'
import { refreshTokens } from './refresh-token.ts'

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

/** The function of each grant type. */
const HANDLERS: Record<GrantType, (request: TokenRequest) => Promise<TokenResponse>> = {
  authorization_code: exchangeCode,
  refresh_token: refreshTokens,
  client_credentials: issueMachineToken,
  [DEVICE_CODE_GRANT]: redeemDeviceCode,
}
const isGrantType = (type: string): type is GrantType => Object.hasOwn(HANDLERS, type)

/** Dispatches a token request by its grant_type (RFC 6749, section 3.2). Throws OAuthError. */
async function handleTokenRequest(request: TokenRequest): Promise<TokenResponse> {
  const type = requireParameter(request.form, 'grant_type')
  if (!isGrantType(type))
    throw new OAuthError('unsupported_grant_type', `Supported grant types: ${GRANT_TYPES.join(', ')}.`, {
      diagnostics: { given: type },
    })
  const { appType, dpopBoundAccessTokens } = request.client
  if (!canUseGrant(request.client, type))
    throw new OAuthError('unauthorized_client', 'The client may not use this grant_type.', {
      diagnostics: { app_type: appType },
    })
  // Before a code is used (RFC 9449, section 5.2).
  if (dpopBoundAccessTokens && request.dpopJkt === null)
    throw new OAuthError('invalid_request', 'This client must use DPoP: the DPoP header is missing.')
  return HANDLERS[type](request)
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
