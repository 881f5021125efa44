/** Scopes of the management API with what each permits, as descriptions and the consent page show it. */
export const SCOPES = {
  'users:read': 'read users',
  'users:write': 'create, change, lock and delete users',
  'users:read_app_metadata': 'read the appMetadata of users',
  'sessions:read': 'read sessions',
  'sessions:write': 'authenticate and revoke sessions',
  'credentials:read': 'read credentials',
  'credentials:write': 'enroll and revoke credentials',
  'passcodes:write': 'send and authenticate passcodes',
  'idps:read': 'read identity providers and links',
  'idps:write': 'change identity providers and links',
  'idp_tokens:read': 'read the tokens that identity providers issued for users',
  'organizations:read': 'read organizations and their members',
  'organizations:write': 'create, change and delete organizations, add and remove members',
  'clients:read': 'read clients',
  'clients:write': 'change clients',
  'roles:read': 'read APIs, roles and groups, and who has which permission',
  'roles:write': 'change APIs, roles and groups, and who has them',
  'api_keys:read': 'read API keys',
  'api_keys:write': 'create, change and revoke API keys',
  'scim:write': 'provision users and groups by SCIM',
  'webhooks:read': 'read webhooks',
  'webhooks:write': 'create, change and delete webhooks',
  'tenant:read': 'read the tenant and its settings',
  'tenant:write': "change the tenant's settings",
  'events:read': 'read the event log',
  'tenants:read': 'list tenants',
  'tenants:write': 'create and delete tenants',
} as const

export type Scope = keyof typeof SCOPES

/** The scope of SCIM. It is the only one that a key of an organization may have. */
export const SCIM_SCOPE: Scope = 'scim:write'

export const SCOPE_NAMES = Object.keys(SCOPES) as Scope[]

export const isScope = (text: string): text is Scope => Object.hasOwn(SCOPES, text)

/**
 * The scope that permits a client to change the user's own account: profile, addresses, sessions, sign-in
 * methods and consents. An administrator assigns it to clients, and the user consents to it; no role contains
 * it.
 */
export const ACCOUNT_SCOPE = 'account'

/**
 * The scope that permits a client to manage the organization of the token for a user who is an administrator of it. It is
 * assigned to clients; no role contains it.
 */
export const ORGANIZATION_SCOPE = 'organization'

/** Scopes that are assigned to clients and that no role contains. */
const USER_SCOPES = [ACCOUNT_SCOPE, ORGANIZATION_SCOPE] as const

export const isUserScope = (text: string): boolean => (USER_SCOPES as readonly string[]).includes(text)

/**
 * Scopes that are assigned to clients, which use them for themselves, and that no role and no user's token contains: those
 * of the streams of shared signals (CAEP Interoperability Profile 1.0, section 2.7.3).
 */
const CLIENT_SCOPES = ['ssf.read', 'ssf.manage'] as const
export type ClientScope = (typeof CLIENT_SCOPES)[number]

export const isClientScope = (text: string): text is ClientScope =>
  (CLIENT_SCOPES as readonly string[]).includes(text)

/** The scopes that an administrator assigns to a client: its member `scopes`. */
export const ASSIGNABLE_SCOPES = [...SCOPE_NAMES, ...USER_SCOPES, ...CLIENT_SCOPES] as [
  Scope,
  ...Scope[],
  'account',
  'organization',
  'ssf.read',
  'ssf.manage',
]

/** Whether a client may request a scope for a user only if it is assigned to it. */
export const isAssignableScope = (text: string): boolean => isUserScope(text) || isScope(text)

/** Scopes that only tenant `system` may hold. */
export const SYSTEM_SCOPES: readonly Scope[] = ['tenants:read', 'tenants:write']

/** The tenant of operators. */
export const SYSTEM_TENANT = 'system'

const TENANT_SCOPES = SCOPE_NAMES.filter((scope) => !SYSTEM_SCOPES.includes(scope))

/** The management scopes of a tenant. */
export const listManagementScopes = (tenant: string): readonly Scope[] =>
  tenant === SYSTEM_TENANT ? SCOPE_NAMES : TENANT_SCOPES

/** The scopes that each role permits. */
export const ROLES = {
  admin: TENANT_SCOPES,
  support: TENANT_SCOPES.filter((scope) =>
    [
      'users:read',
      'users:write',
      'sessions:read',
      'sessions:write',
      'credentials:read',
      'credentials:write',
      'organizations:read',
      'roles:read',
      'events:read',
    ].includes(scope),
  ),
  // The tokens give access to accounts elsewhere.
  auditor: TENANT_SCOPES.filter((scope) => scope.endsWith(':read') && scope !== 'idp_tokens:read'),
  operator: SYSTEM_SCOPES,
} as const satisfies Record<string, readonly Scope[]>

export type Role = keyof typeof ROLES

export const ROLE_NAMES = Object.keys(ROLES) as Role[]

/** The roles that users of a tenant can have: `operator` exists in tenant `system` only. */
export const listRoles = (tenant: string): Role[] => {
  const available = listManagementScopes(tenant)
  return ROLE_NAMES.filter((role) => ROLES[role].every((scope) => available.includes(scope)))
}

declare const HELD: unique symbol
/**
 * The names of roles together with the scopes of those that the tenant has defined. The name of a role has no colon, a
 * scope has one. access/held-roles.sql.ts reads them.
 */
export type HeldRoles = string[] & { readonly [HELD]: true }

export const isBuiltInRole = (name: string): name is Role => Object.hasOwn(ROLES, name)

/** The union of the scopes of roles. */
export const getRoleScopes = (roles: HeldRoles | readonly Role[]): Set<Scope> =>
  new Set(
    [...roles].flatMap((role: string): readonly Scope[] =>
      isScope(role) ? [role] : isBuiltInRole(role) ? ROLES[role] : [],
    ),
  )

/** The names of the roles alone. */
export const toRoleNames = (roles: HeldRoles): string[] => roles.filter((role) => !isScope(role))

/** Parses a `scope` parameter to a list without duplicates (RFC 6749, section 3.3). */
export const parseScopeList = (text: string): string[] => [
  ...new Set(text.split(' ').filter((scope) => scope !== '')),
]

/** Scopes that every client may request (OIDC Core, sections 5.4 and 11). */
export const COMMON_SCOPES = [
  'openid',
  'profile',
  'email',
  'phone',
  'address',
  'offline_access',
  'session',
] as const

/** Scopes that are not management scopes (OIDC Core, sections 5.4 and 11). */
export const OIDC_SCOPES = [...COMMON_SCOPES, ...USER_SCOPES] as const
