import { canUseGrant, DEVICE_CODE_GRANT, GRANT_TYPES, type GrantType } from '../../clients/client-grants.ts'
import { OAuthError } from '../../core/oauth-error.ts'
import { requireParameter, type TokenRequest, type TokenResponse } from '../model/token-request.ts'
import { exchangeCode } from './authorization-code.ts'
import { issueMachineToken } from './client-credentials.ts'
import { redeemDeviceCode } from './device-code.ts'
import { refreshTokens } from './refresh-token.ts'

/** The function of each grant type. */
const HANDLERS: Record<GrantType, (request: TokenRequest) => Promise<TokenResponse>> = {
  authorization_code: exchangeCode,
  refresh_token: refreshTokens,
  client_credentials: issueMachineToken,
  [DEVICE_CODE_GRANT]: redeemDeviceCode,
}
const isGrantType = (type: string): type is GrantType => Object.hasOwn(HANDLERS, type)

/** Dispatches a token request by its grant_type (RFC 6749, section 3.2). Throws OAuthError. */
export async function handleTokenRequest(request: TokenRequest): Promise<TokenResponse> {
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
