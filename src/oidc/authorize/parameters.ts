import { OAuthError, type Why } from '../../errors.ts'

/** The value of a parameter; null when it is absent, empty (RFC 6749, section 3.1) or repeated. */
export function single(params: URLSearchParams, name: string): string | null {
  const values = params.getAll(name)
  return values.length === 1 ? values[0] || null : null
}

/** A request that is malformed, which the client is told. */
export const invalid = (description: string, why: Why = {}): OAuthError =>
  new OAuthError('invalid_request', description, { why })

/** A fault that must stay on our own page, since it is not proven where an answer may go. */
export const unproven = (description: string, why: Why = {}): OAuthError =>
  new OAuthError('invalid_request', description, { redirect: false, why })
