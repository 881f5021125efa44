import { createClient } from '../../src/clients/clients.ts'
import { createPlatformCtx } from '../../src/core/context.ts'
import { type Role, SCOPE_NAMES, type Scope, SYSTEM_TENANT } from '../../src/core/scopes.ts'
import { setUserRoles } from '../../src/users/roles.ts'
import { TENANT_SCOPES } from './actors.ts'
import { startSessionIn } from './browser-session.ts'
import { test as base } from './fixtures.ts'
import { PageBrowser } from './page-browser.ts'
import { makeSpa, signInAs } from './people.ts'
import { makeUser, tokenRequest } from './protocol.ts'

/** Calls with the scope that each requires. */
export const CALLS: [Scope, string, string][] = [
  ['users:read', 'GET', '/users'],
  ['users:write', 'POST', '/users'],
  ['clients:read', 'GET', '/clients'],
  ['clients:write', 'POST', '/clients'],
  ['tenant:read', 'GET', '/settings'],
  ['tenant:write', 'PATCH', '/settings'],
  ['events:read', 'GET', '/events'],
]

export const SUPPORT: Scope[] = [
  'credentials:read',
  'credentials:write',
  'events:read',
  'sessions:read',
  'sessions:write',
  'users:read',
  'users:write',
]
export const AUDITOR: Scope[] = [
  'clients:read',
  'credentials:read',
  'events:read',
  'idps:read',
  'sessions:read',
  'tenant:read',
  'users:read',
]
export const EVERY = [...TENANT_SCOPES].sort()
export const SOME: Scope[] = ['clients:write', 'tenant:read', 'users:read']

/** Scopes that a user has, by roles, scopes of the client and requested scopes. */
type Row = [name: string, roles: Role[], client: Scope[], asked: string[], expected: string[]]
export const TABLE: Row[] = [
  ['no role', [], EVERY, EVERY, []],
  ['support, a client of all, asking for all', ['support'], EVERY, EVERY, SUPPORT],
  ['auditor, a client of all, asking for all', ['auditor'], EVERY, EVERY, AUDITOR],
  ['admin, a client of all, asking for all', ['admin'], EVERY, EVERY, EVERY],
  ['two roles', ['support', 'auditor'], EVERY, EVERY, [...new Set([...SUPPORT, ...AUDITOR])].sort()],
  ['a client of some', ['admin'], SOME, EVERY, SOME],
  ['a client of none', ['admin'], [], EVERY, []],
  ['a request for one', ['admin'], EVERY, ['users:read'], ['users:read']],
  ['a request for none', ['admin'], EVERY, [], []],
  ['role and client overlap in part', ['auditor'], SOME, EVERY, ['tenant:read', 'users:read']],
  ['all three differ', ['support'], SOME, ['users:read', 'events:read', 'clients:write'], ['users:read']],
  [
    'scopes of tenant system, and unknown scopes',
    ['admin'],
    EVERY,
    ['tenants:read', 'tenants:write', 'users:admin', '*', 'users:read'],
    ['users:read'],
  ],
]

/** `test` with users of roles at single-page applications, and the operator. */
export const test = base
  .extend('newRolePerson', { scope: 'file' }, ({ tenant }) => {
    let count = 0
    return async (roles: Role[], at = tenant): Promise<{ email: string; id: string }> => {
      const email = `person${count++}@${tenant}.${at}.example`
      const { id } = await makeUser(at, email)
      await setUserRoles(createPlatformCtx(at), id, { roles })
      return { email, id }
    }
  })
  /** Signs a user with roles in at a client with scopes, requesting scopes. */
  .extend(
    'signInWith',
    { scope: 'file' },
    ({ app, tenant, newRolePerson }) =>
      async (roles: Role[], scopes: Scope[], asked: string[], more = 'openid') => {
        const person = await newRolePerson(roles)
        const spaClient = await makeSpa(tenant, { scopes })
        const scope = [more, ...asked].join(' ')
        const browser = new PageBrowser(app.origin)
        await startSessionIn(browser, tenant, person.id)
        const signedIn = await signInAs(app, tenant, spaClient, person.email, { scope, browser })
        return { ...signedIn, person, spaClient }
      },
  )
  .extend('readScopes', { scope: 'file' }, ({ gql }) => async (token: string): Promise<string[]> => {
    const { status, body } = await gql('{ viewer { scopes } }', {}, { token })
    // A token that permits nothing at the API is not for the API.
    return status === 401 ? [] : body.data.viewer.scopes
  })
  /** The scopes of CALLS that a token permits; all other calls get 403, or 401 without any scope. */
  .extend('listPermitted', { scope: 'file' }, ({ rest }) => async (token: string): Promise<Scope[]> => {
    const scopes: Scope[] = []
    for (const [scope, method, path] of CALLS) {
      // An empty body is rejected with 400, but only after the scope was checked.
      const { status } = await rest(method, path, method === 'GET' ? undefined : {}, { token })
      if (status !== 403 && status !== 401) scopes.push(scope)
    }
    return scopes
  })
  .extend('newOperatorToken', { scope: 'file' }, ({ app }) => async (resource?: string) => {
    const { client, secret } = await createClient(createPlatformCtx(SYSTEM_TENANT), {
      name: 'Operator',
      appType: 'machine',
      type: 'login',
      scopes: SCOPE_NAMES,
      allTenants: true,
    })
    const { body } = await tokenRequest(
      app,
      SYSTEM_TENANT,
      { id: client.id, secret: secret ?? '' },
      { grant_type: 'client_credentials', ...(resource && { resource }) },
    )
    return { token: body.access_token ?? '', clientId: client.id }
  })
