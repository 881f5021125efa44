import { OAuthError } from '../../core/oauth-error.ts'

/** Each resource is looked up, stored, and listed in every access token. */
const MAX_RESOURCES = 20

/**
 * The distinct values of the `resource` parameters; empty ones are ignored (RFC 8707, section 2). Throws
 * OAuthError invalid_target for more than twenty.
 */
export function parseRequestedResources(params: URLSearchParams): string[] {
  const requested = [...new Set(params.getAll('resource').filter((resource) => resource !== ''))]
  if (requested.length > MAX_RESOURCES)
    throw new OAuthError('invalid_target', `A request may name at most ${MAX_RESOURCES} resources.`, {
      diagnostics: { requested: requested.length },
    })
  return requested
}

/** Throws OAuthError invalid_target when a requested resource is not allowed. */
export function requireAllowedResources(requested: readonly string[], allowed: readonly string[]): void {
  if (requested.some((resource) => !allowed.includes(resource)))
    throw new OAuthError('invalid_target', 'The resource is not known in this tenant.', {
      diagnostics: { requested: requested.join(' '), allowed: allowed.join(' ') },
    })
}
