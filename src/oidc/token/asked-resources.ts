import { OAuthError } from '../../errors.ts'

/** More APIs than one token could sensibly be for; each is looked up, kept, and told in every token. */
const MAX_RESOURCES = 20

/**
 * The audiences that a request asks for by `resource`, each once; empty ones are none (RFC 8707, section 2). Throws
 * OAuthError invalid_target for more than twenty.
 */
export function askedResources(params: URLSearchParams): string[] {
  const asked = [...new Set(params.getAll('resource').filter((resource) => resource !== ''))]
  if (asked.length > MAX_RESOURCES)
    throw new OAuthError('invalid_target', `A request may ask for ${MAX_RESOURCES} resources at most.`, {
      why: { asked: asked.length },
    })
  return asked
}

/** Throws OAuthError invalid_target when something is asked for that is not allowed. */
export function requireAllowed(asked: readonly string[], allowed: readonly string[]): void {
  if (asked.some((resource) => !allowed.includes(resource)))
    throw new OAuthError('invalid_target', 'The resource is not one of this tenant.', {
      why: { asked: asked.join(' '), allowed: allowed.join(' ') },
    })
}
