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

const ORIGIN = /^(https?:\/\/[^/?#]+)\/?$/
const toComparable = (resource: string): string => ORIGIN.exec(resource)?.[1] ?? resource

/**
 * The requested resources as they are known, each once, and those that are not known. An origin with and without an
 * empty path is the same resource (RFC 3986, section 6.2.3): libraries that parse URLs send it with one.
 */
export function matchResources(
  requested: readonly string[],
  known: readonly string[],
): { matched: string[]; unknown: string[] } {
  const matched = new Set<string>()
  const unknown: string[] = []
  for (const resource of requested) {
    const match = known.includes(resource)
      ? resource
      : known.find((each) => toComparable(each) === toComparable(resource))
    if (match === undefined) unknown.push(resource)
    else matched.add(match)
  }
  return { matched: [...matched], unknown }
}

/** The requested resources as they are allowed. Throws OAuthError invalid_target when one is not. */
export function requireAllowedResources(requested: readonly string[], allowed: readonly string[]): string[] {
  const { matched, unknown } = matchResources(requested, allowed)
  if (unknown.length > 0)
    throw new OAuthError('invalid_target', 'The resource is not known in this tenant.', {
      diagnostics: { requested: requested.join(' '), allowed: allowed.join(' ') },
    })
  return matched
}
