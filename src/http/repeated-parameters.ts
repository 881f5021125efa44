import { OAuthError } from '../core/oauth-error.ts'

/** Parameters that an error may name: any other name is arbitrary text from the link. */
const NAMEABLE_PARAMETERS: ReadonlySet<string> = new Set([
  ...['client_id', 'redirect_uri', 'response_type', 'response_mode', 'scope', 'state', 'nonce', 'prompt'],
  ...['max_age', 'display', 'login_hint', 'id_token_hint', 'claims', 'acr_values', 'ui_locales', 'dpop_jkt'],
  ...['code_challenge', 'code_challenge_method', 'request', 'request_uri', 'registration', 'resource'],
  ...['grant_type', 'code', 'code_verifier', 'refresh_token', 'device_code', 'client_secret', 'token'],
  ...['client_assertion', 'client_assertion_type', 'token_type_hint', 'access_token', 'user_code'],
  ...['post_logout_redirect_uri', 'logout_hint', 'iss', 'target_link_uri'],
])

const MAX_RECORDED_NAMES = 20

/**
 * The error of a request that repeats parameters (RFC 6749, section 3.1). It names those of the standards;
 * the event log has all names.
 */
export function createRepeatedError(repeated: readonly string[], redirect: boolean): OAuthError {
  const nameable = repeated.filter((name) => NAMEABLE_PARAMETERS.has(name))
  const description =
    nameable.length > 0 ? `Repeated parameters: ${nameable.join(', ')}.` : 'A parameter is repeated.'
  const diagnostics = { repeated: repeated.slice(0, MAX_RECORDED_NAMES).join(' ') }
  return new OAuthError('invalid_request', description, { redirect, diagnostics })
}

/**
 * Returns the names that are repeated, each once. In one pass: `getAll` for each name would block the
 * process for more than a second when 64 KB of short names are sent.
 */
export function findRepeatedNames(names: Iterable<string>): string[] {
  const seen = new Set<string>()
  const repeated = new Set<string>()
  for (const name of names) {
    if (seen.has(name)) repeated.add(name)
    seen.add(name)
  }
  return [...repeated]
}
