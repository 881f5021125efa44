import { getRoleScopes, isAssignableScope, isScope, OIDC_SCOPES } from '../../core/scopes.ts'

/** The scopes that every client may request. */
const COMMON_SCOPES: ReadonlySet<string> = new Set(OIDC_SCOPES.filter((scope) => !isAssignableScope(scope)))

/**
 * The requested scopes that the client may request from users; unknown scopes, and management scopes and
 * `account` that are not assigned to it, are ignored.
 */
export const selectRequestableScopes = (
  requested: readonly string[],
  client: { scopes: readonly string[] },
): string[] =>
  requested.filter(
    (scope) => COMMON_SCOPES.has(scope) || (isAssignableScope(scope) && client.scopes.includes(scope)),
  )

/**
 * The requestable scopes that a user with `roles` can grant: management scopes only as far as the roles
 * include them.
 */
export function selectGrantableScopes(
  requested: readonly string[],
  client: { scopes: readonly string[] },
  roles: readonly string[],
): string[] {
  const roleScopes = getRoleScopes(roles)
  return selectRequestableScopes(requested, client).filter(
    (scope) => !isScope(scope) || roleScopes.has(scope),
  )
}
