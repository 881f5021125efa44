import { OAuthError } from '../../core/oauth-error.ts'
import {
  COMMON_SCOPES,
  getRoleScopes,
  type HeldRoles,
  isAssignableScope,
  isScope,
  parseScopeList,
} from '../../core/scopes.ts'

const commonScopes: ReadonlySet<string> = new Set(COMMON_SCOPES)

/** What decides which scopes a client may request. */
export type ScopeHolder = { scopes: readonly string[]; claimMappings: readonly { scope: string | null }[] }

/**
 * The requested scopes that the client may request from users: common ones, those that are assigned to it, and those of its
 * claim mappings. Others are ignored.
 */
export const selectRequestableScopes = (requested: readonly string[], client: ScopeHolder): string[] =>
  requested.filter(
    (scope) =>
      commonScopes.has(scope) ||
      (isAssignableScope(scope)
        ? client.scopes.includes(scope)
        : client.claimMappings.some((mapping) => mapping.scope === scope)),
  )

/**
 * The scopes of a request: those of its `scope` parameter that the client may request, or the default ones of the tenant
 * without the parameter (RFC 6749, section 3.3). They need not contain `openid`: without it, the request is one of OAuth,
 * and no ID token is issued. Throws OAuthError invalid_scope when the client may request none of the given scopes.
 */
export function parseRequestedScopes(
  text: string | null,
  client: ScopeHolder,
  defaultScopes: readonly string[],
): string[] {
  const given = parseScopeList(text ?? '')
  if (given.length === 0) return [...defaultScopes]
  const scopes = selectRequestableScopes(given, client)
  if (scopes.length > 0) return scopes
  throw new OAuthError('invalid_scope', 'The client may request none of these scopes.', {
    diagnostics: { scope: text },
  })
}

/**
 * The requestable scopes that a user with `roles` can grant: management scopes only as far as the roles
 * include them.
 */
export function selectGrantableScopes(
  requested: readonly string[],
  client: ScopeHolder,
  roles: HeldRoles | readonly [],
): string[] {
  const roleScopes = getRoleScopes(roles)
  return selectRequestableScopes(requested, client).filter(
    (scope) => !isScope(scope) || roleScopes.has(scope),
  )
}

/** The member `scope` of a response, which is absent without scopes: it is not empty (RFC 6749, appendix A.4). */
export const toScopeMember = (scopes: readonly string[]): { scope?: string } =>
  scopes.length > 0 ? { scope: scopes.join(' ') } : {}
