/** Error codes of OAuth and OIDC, by the document that registers them. */
export type OAuthErrorCode =
  // RFC 6749, sections 4.1.2.1 and 5.2
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'invalid_scope'
  | 'access_denied'
  | 'unsupported_response_type'
  | 'server_error'
  | 'temporarily_unavailable'
  // OIDC Core, section 3.1.2.6
  | 'login_required'
  | 'interaction_required'
  | 'account_selection_required'
  | 'consent_required'
  | 'request_not_supported'
  | 'request_uri_not_supported'
  | 'invalid_request_uri'
  | 'registration_not_supported'
  // RFC 6750, section 3.1
  | 'invalid_token'
  | 'insufficient_scope'
  // RFC 7009, section 2.2.1
  | 'unsupported_token_type'
  // RFC 8707, section 2
  | 'invalid_target'
  // OpenID Connect Core Error Code unmet_authentication_requirements 1.0
  | 'unmet_authentication_requirements'
  // RFC 8628, section 3.5
  | 'authorization_pending'
  | 'slow_down'
  | 'expired_token'
  // RFC 9449, sections 5 and 8
  | 'invalid_dpop_proof'
  | 'use_dpop_nonce'
  // RFC 7591, section 3.2.2
  | 'invalid_redirect_uri'
  | 'invalid_client_metadata'

/**
 * Why a request was rejected: facts for the tenant's log, such as the value that was expected. Never a
 * secret.
 */
export type Diagnostics = Record<string, string | number | boolean | null>

/**
 * An error response of OAuth 2.0. With `redirect: false` it is shown on a page of the server instead of being
 * sent to the redirect URI, because the client or its redirect URI is not proven. The client gets `error` and
 * the description; `diagnostics` goes to the event log of the tenant.
 */
export class OAuthError extends Error {
  readonly error: OAuthErrorCode
  readonly status: number
  readonly redirect: boolean
  readonly headers: Record<string, string>
  readonly diagnostics: Diagnostics

  constructor(
    error: OAuthErrorCode,
    description: string,
    options: {
      status?: number
      redirect?: boolean
      headers?: Record<string, string>
      diagnostics?: Diagnostics
      cause?: unknown
    } = {},
  ) {
    super(description, { cause: options.cause })
    this.name = 'OAuthError'
    this.diagnostics = options.diagnostics ?? {}
    this.error = error
    this.status = options.status ?? 400
    this.redirect = options.redirect ?? true
    this.headers = options.headers ?? {}
  }
}
