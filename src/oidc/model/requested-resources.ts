import { toAudience } from '../../access/protected-resources.ts'
import { OAuthError } from '../../core/oauth-error.ts'

/** Each resource is looked up, stored, and listed in every access token. */
const MAX_RESOURCES = 20

/**
 * The distinct audiences that the `resource` parameters name; empty ones are ignored (RFC 8707, section 2). Throws
 * OAuthError invalid_target for more than twenty.
 */
export function parseRequestedResources(tenant: string, params: URLSearchParams): string[] {
  const given = params.getAll('resource').filter((resource) => resource !== '')
  const requested = [...new Set(given.map((resource) => toAudience(tenant, resource)))]
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
