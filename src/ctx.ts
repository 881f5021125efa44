/** Scopes of the management surface, each with what it permits (shown in descriptions and on the consent page). */
export const SCOPES = {
  'users:read': 'read users',
  'users:write': 'create, change, lock and delete users',
  'users:read_app_metadata': 'read the appMetadata of users',
  'sessions:read': 'read sessions',
  'sessions:write': 'authenticate and revoke sessions',
  'credentials:read': 'read credentials',
  'credentials:write': 'enrol and revoke credentials',
  'passcodes:write': 'send and authenticate passcodes',
  'idps:read': 'read identity providers and links',
  'idps:write': 'change identity providers and links',
  'clients:read': 'read clients',
  'clients:write': 'change clients',
  'tenant:read': 'read the tenant and its settings',
  'tenant:write': "change the tenant's settings",
  'events:read': 'read the event log',
  'tenants:read': 'list tenants',
  'tenants:write': 'create and delete tenants',
} as const
export type Scope = keyof typeof SCOPES
export const SCOPE_NAMES = Object.keys(SCOPES) as Scope[]
export const isScope = (text: string): text is Scope => Object.hasOwn(SCOPES, text)

/**
 * The OIDC scope that lets a client change what is the person's own: profile, addresses, sessions, sign-in methods,
 * consents. It is asked of the person, never of a role.
 */
export const ACCOUNT_SCOPE = 'account'

/** Scopes that only tenant `system` may hold. */
export const SYSTEM_SCOPES: readonly Scope[] = ['tenants:read', 'tenants:write']

/** The tenant of operators. */
export const SYSTEM_TENANT = 'system'

const tenantScopes = SCOPE_NAMES.filter((scope) => !SYSTEM_SCOPES.includes(scope))

/** Which scopes a person with a role can get. */
export const ROLES = {
  admin: tenantScopes,
  support: tenantScopes.filter((scope) =>
    [
      'users:read',
      'users:write',
      'sessions:read',
      'sessions:write',
      'credentials:read',
      'credentials:write',
      'events:read',
    ].includes(scope),
  ),
  auditor: tenantScopes.filter((scope) => scope.endsWith(':read')),
} as const satisfies Record<string, readonly Scope[]>
export type Role = keyof typeof ROLES
export const ROLE_NAMES = Object.keys(ROLES) as Role[]

/** The scopes that a set of roles comes to. */
export const scopesOfRoles = (roles: readonly string[]): Set<Scope> =>
  new Set(roles.flatMap((role): readonly Scope[] => ROLES[role as Role] ?? []))

/** Who calls. `tenant` is the caller's own, which differs from the target for an operator of tenant `system`. */
export type Actor =
  | { kind: 'anonymous' }
  | { kind: 'platform' }
  | { kind: 'client'; tenant: string; clientId: string }
  | {
      kind: 'user'
      tenant: string
      userId: string
      clientId: string | null
      sessionId: string | null
      grantId: string | null
      /** The token carries scope `account`: it may change what is the person's own. */
      mayChangeOwn?: boolean
    }

/** What every service gets first: whose data, on whose behalf, and what the log must say of the request. */
export type Ctx = {
  /** The tenant that the operation is about. */
  tenant: string
  actor: Actor
  /** Management scopes of the caller. */
  scopes: ReadonlySet<Scope>
  requestId: string
  ip: string | null
  userAgent: string | null
}

/**
 * The context of what somebody did on a hosted page, once it is proven who they are: it names them in the log, with the
 * client that sent them there. It permits nothing: no scopes, and no changes to their own account.
 */
export const asPerson = (ctx: Ctx, { userId, sessionId = null, clientId = null }: PersonHere): Ctx => ({
  ...ctx,
  actor: { kind: 'user', tenant: ctx.tenant, userId, clientId, sessionId, grantId: null },
  scopes: new Set(),
})
type PersonHere = { userId: string; sessionId?: string | null; clientId?: string | null }

/** The context of work that the platform does by itself: start, clean-up, command line. */
export const platformCtx = (tenant: string): Ctx => ({
  tenant,
  actor: { kind: 'platform' },
  scopes: new Set(),
  requestId: 'platform',
  ip: null,
  userAgent: null,
})
