import { type Diagnostics, OAuthError } from '../../core/oauth-error.ts'

/** The value of a parameter; null when it is absent, empty (RFC 6749, section 3.1) or repeated. */
export function readParameter(params: URLSearchParams, name: string): string | null {
  const values = params.getAll(name)
  return values.length === 1 ? values[0] || null : null
}

/** A malformed request; the error may be returned to the client. */
export const createInvalidRequestError = (description: string, diagnostics: Diagnostics = {}): OAuthError =>
  new OAuthError('invalid_request', description, { diagnostics })

/** An error shown on a page of the authorization server, because the redirect URI has not been validated. */
export const createUnredirectableError = (description: string, diagnostics: Diagnostics = {}): OAuthError =>
  new OAuthError('invalid_request', description, { redirect: false, diagnostics })
