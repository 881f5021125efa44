import type { OrganizationMode } from '../../model/organization-mode.ts'
import type { OrganizationDemand } from './authorize-request.ts'
import { createInvalidRequestError } from './request-parameters.ts'

/** Longer than any id or slug. */
const MAX_CHARACTERS = 100

/** The id or the slug of the organization that a request names. Throws OAuthError invalid_request. */
export function requireOrganizationName(named: string | null): string | null {
  if (named !== null && (named.length > MAX_CHARACTERS || named.includes('\u0000')))
    throw createInvalidRequestError('The organization is not an id or a slug.')
  return named
}

/** What a request demands that names this organization, or none, by the mode of its client; null for nothing. */
export const toOrganizationDemand = (
  named: string | null,
  mode: OrganizationMode,
): OrganizationDemand | null => (named === null && mode === 'none' ? null : { named, mode })
