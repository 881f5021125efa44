import { ACCOUNT_SCOPE, isScope, scopesOfRoles } from '../ctx.ts'

/** Scopes of people's own data and sessions (OIDC Core, sections 5.4 and 11); management scopes stand in ctx.ts. */
export const OIDC_SCOPES = [
  'openid',
  'profile',
  'email',
  'phone',
  'address',
  'offline_access',
  'session',
  ACCOUNT_SCOPE,
] as const
const known: ReadonlySet<string> = new Set(OIDC_SCOPES)

/** A `scope` parameter as a list, each once (RFC 6749, section 3.3). */
export const toScopes = (text: string): string[] => [
  ...new Set(text.split(' ').filter((scope) => scope !== '')),
]

/** The scopes that a client may ask a person for: unknown ones and ones that it was not given are ignored. */
export const requestableScopes = (
  asked: readonly string[],
  client: { scopes: readonly string[] },
): string[] => asked.filter((scope) => known.has(scope) || (isScope(scope) && client.scopes.includes(scope)))

/** What of it this person can give: management scopes only as far as the person's roles reach now. */
export function grantableScopes(
  asked: readonly string[],
  client: { scopes: readonly string[] },
  roles: readonly string[],
): string[] {
  const ofRoles = scopesOfRoles(roles)
  return requestableScopes(asked, client).filter((scope) => !isScope(scope) || ofRoles.has(scope))
}
