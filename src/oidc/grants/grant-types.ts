import { DEVICE_APP_TYPES, DEVICE_CODE_GRANT } from '../../clients/device-clients.ts'
import { OAuthError } from '../../core/oauth-error.ts'
import { requireParameter, type TokenRequest, type TokenResponse } from '../model/token-request.ts'
import { exchangeCode } from './authorization-code.ts'
import { issueMachineToken } from './client-credentials.ts'
import { redeemDeviceCode } from './device-code.ts'
import { refreshTokens } from './refresh-token.ts'

type GrantHandler = (request: TokenRequest) => Promise<TokenResponse>

/** The supported grant types with their handlers. */
const GRANT_TYPES: Record<string, GrantHandler> = {
  authorization_code: exchangeCode,
  refresh_token: refreshTokens,
  client_credentials: issueMachineToken,
  [DEVICE_CODE_GRANT]: redeemDeviceCode,
}
export const GRANT_TYPE_NAMES = Object.keys(GRANT_TYPES)

/** The kinds of client that may use a grant type, where it is not open to all that sign users in. */
const APP_TYPES: Record<string, readonly string[]> = {
  client_credentials: ['machine'],
  [DEVICE_CODE_GRANT]: DEVICE_APP_TYPES,
}
const SIGN_IN_APP_TYPES = ['web', 'single-page', 'native']

/** Dispatches a token request by its grant_type (RFC 6749, section 3.2). Throws OAuthError. */
export async function handleTokenRequest(request: TokenRequest): Promise<TokenResponse> {
  const type = requireParameter(request.form, 'grant_type')
  if (!Object.hasOwn(GRANT_TYPES, type))
    throw new OAuthError('unsupported_grant_type', `Supported grant types: ${GRANT_TYPE_NAMES.join(', ')}.`, {
      diagnostics: { given: type },
    })
  const { appType, dpopBoundAccessTokens } = request.client
  if (!(APP_TYPES[type] ?? SIGN_IN_APP_TYPES).includes(appType))
    throw new OAuthError('unauthorized_client', 'The client may not use this grant_type.', {
      diagnostics: { app_type: appType },
    })
  // Before a code is used (RFC 9449, section 5.2).
  if (dpopBoundAccessTokens && request.dpopJkt === null)
    throw new OAuthError('invalid_request', 'This client must use DPoP: the DPoP header is missing.')
  return (GRANT_TYPES[type] as GrantHandler)(request)
}
