import { DEVICE_APP_TYPES, DEVICE_CODE_GRANT } from '../../clients/device-clients.ts'
import { OAuthError } from '../../core/oauth-error.ts'
import { requireParameter, type TokenRequest, type TokenResponse } from '../model/token-request.ts'
import { exchangeCode } from './authorization-code.ts'
import { issueMachineToken } from './client-credentials.ts'
import { redeemDeviceCode } from './device-code.ts'
import { refreshTokens } from './refresh-token.ts'

type GrantType = {
  handle: (request: TokenRequest) => Promise<TokenResponse>
  /** The kinds of client that may use it. */
  appTypes: readonly string[]
}

/** The kinds of client that sign users in. */
const SIGN_IN_APP_TYPES = ['web', 'single-page', 'native']

/** The supported grant types. */
const GRANT_TYPES: Record<string, GrantType> = {
  authorization_code: { handle: exchangeCode, appTypes: SIGN_IN_APP_TYPES },
  refresh_token: { handle: refreshTokens, appTypes: SIGN_IN_APP_TYPES },
  client_credentials: { handle: issueMachineToken, appTypes: ['machine'] },
  [DEVICE_CODE_GRANT]: { handle: redeemDeviceCode, appTypes: DEVICE_APP_TYPES },
}
export const GRANT_TYPE_NAMES = Object.keys(GRANT_TYPES)

/** Dispatches a token request by its grant_type (RFC 6749, section 3.2). Throws OAuthError. */
export async function handleTokenRequest(request: TokenRequest): Promise<TokenResponse> {
  const type = requireParameter(request.form, 'grant_type')
  const grantType = Object.hasOwn(GRANT_TYPES, type) ? GRANT_TYPES[type] : undefined
  if (!grantType)
    throw new OAuthError('unsupported_grant_type', `Supported grant types: ${GRANT_TYPE_NAMES.join(', ')}.`, {
      diagnostics: { given: type },
    })
  const { appType, dpopBoundAccessTokens } = request.client
  if (!grantType.appTypes.includes(appType))
    throw new OAuthError('unauthorized_client', 'The client may not use this grant_type.', {
      diagnostics: { app_type: appType },
    })
  // Before a code is used (RFC 9449, section 5.2).
  if (dpopBoundAccessTokens && request.dpopJkt === null)
    throw new OAuthError('invalid_request', 'This client must use DPoP: the DPoP header is missing.')
  return grantType.handle(request)
}
