import { describe, expect } from 'vitest'
import { updateClient } from '../../src/clients/client-changes.ts'
import { createClient } from '../../src/clients/clients.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { apiAudienceOf } from '../../src/core/issuer.ts'
import { SCOPE_NAMES, SCOPES, type Scope, SYSTEM_TENANT } from '../../src/core/scopes.ts'
import { createManagementRole, updateManagementRole } from '../../src/users/management-roles.ts'
import { setUserRoles } from '../../src/users/roles.ts'
import { newTenant, TENANT_SCOPES } from '../support/actors.ts'
import { startSessionIn } from '../support/browser-session.ts'
import { dbFor } from '../support/database.ts'
import { logOf } from '../support/events.ts'
import { test as base } from '../support/fixtures.ts'
import { PageBrowser } from '../support/page-browser.ts'
import { makeSpa, signInAs } from '../support/people.ts'
import { makeUser, tokenRequest } from '../support/protocol.ts'

/** Calls with the scope that each requires. */
const CALLS: [Scope, string, string][] = [
  ['users:read', 'GET', '/users'],
  ['users:write', 'POST', '/users'],
  ['clients:read', 'GET', '/clients'],
  ['clients:write', 'POST', '/clients'],
  ['tenant:read', 'GET', '/settings'],
  ['tenant:write', 'PATCH', '/settings'],
  ['events:read', 'GET', '/events'],
]

const SUPPORT: Scope[] = [
  'credentials:read',
  'credentials:write',
  'events:read',
  'organizations:read',
  'roles:read',
  'sessions:read',
  'sessions:write',
  'users:read',
  'users:write',
]
const AUDITOR: Scope[] = [
  'api_keys:read',
  'clients:read',
  'credentials:read',
  'events:read',
  'idps:read',
  'organizations:read',
  'roles:read',
  'sessions:read',
  'tenant:read',
  'users:read',
  'webhooks:read',
]
const EVERY = [...TENANT_SCOPES].sort()
const SOME: Scope[] = ['clients:write', 'tenant:read', 'users:read']

/** Scopes that a user has, by roles, scopes of the client and requested scopes. */
type Row = [name: string, roles: string[], client: Scope[], asked: string[], expected: string[]]
const TABLE: Row[] = [
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
const test = base
  .extend('newRolePerson', { scope: 'file' }, ({ tenant }) => {
    let count = 0
    return async (roles: string[], at = tenant): Promise<{ email: string; id: string }> => {
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
      async (roles: string[], scopes: Scope[], asked: string[], more = 'openid') => {
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

describe('the scopes of a user at a single-page application', () => {
  test.for(TABLE)(
    'are issued by role, client and request: %s',
    async ([_name, roles, allowed, asked, expected], { signInWith, readScopes, listPermitted }) => {
      const { token, answer } = await signInWith(roles, allowed, asked)
      expect((answer.scope ?? '').split(' ').sort()).toEqual(['openid', ...expected].sort())
      expect(await readScopes(token)).toEqual(expected)
      const callable = CALLS.map(([scope]) => scope).filter((scope) => expected.includes(scope))
      expect(await listPermitted(token)).toEqual(callable)
    },
  )
})

describe('the list of roles', () => {
  test('has the scopes of each, with their meaning', async ({ gql, rest }) => {
    const expected = [
      ['admin', EVERY],
      ['support', SUPPORT],
      ['auditor', AUDITOR],
    ]
    type Definition = { role: string; scopes: { scope: Scope; description: string }[] }
    const summarize = (roles: Definition[]) =>
      roles.map(({ role, scopes }) => [role.toLowerCase(), scopes.map(({ scope }) => scope).sort()])
    const { body } = await gql('{ roles { role scopes { scope description } } }')
    expect(summarize(body.data.roles)).toEqual(expected)
    const answer = await rest('GET', '/roles')
    expect(summarize(answer.body.roles as never)).toEqual(expected)
    for (const { scopes } of body.data.roles as Definition[])
      for (const { scope, description } of scopes) expect(description).toBe(SCOPES[scope])
  })
})

describe('the scopes of an issued token', () => {
  test('are withdrawn with a role, from issued and refreshed tokens', async ({
    app,
    tenant,
    oidc,
    signInWith,
    readScopes,
  }) => {
    const { token, answer, person, spaClient } = await signInWith(
      ['admin'],
      EVERY,
      EVERY,
      'openid offline_access',
    )
    expect(await readScopes(token)).toEqual(EVERY)
    await setUserRoles(createPlatformCtx(tenant), person.id, { roles: ['auditor'] })
    expect(await readScopes(token)).toEqual(AUDITOR)
    expect((await app.rest(tenant, token, 'POST', '/users', {})).status).toBe(403)
    const refreshed = await oidc.refresh(answer.refresh_token ?? '', {}, spaClient)
    expect(refreshed.body.scope?.split(' ').sort()).toEqual(['offline_access', 'openid', ...AUDITOR].sort())
    await setUserRoles(createPlatformCtx(tenant), person.id, { roles: [] })
    for (const one of [token, refreshed.body.access_token ?? '']) expect(await readScopes(one)).toEqual([])
    // The user stays signed in, without a role.
    expect((await app.gql(tenant, token, '{ viewer { user { id } } }')).body.data.viewer.user.id).toBe(
      person.id,
    )
  })

  test('are those of a role that the tenant has defined, from the next call on', async ({
    app,
    tenant,
    oidc,
    signInWith,
    readScopes,
  }) => {
    const platform = createPlatformCtx(tenant)
    const scopes = ['clients:read', 'users:read', 'users:write']
    const { id } = await createManagementRole(platform, { name: 'helper', scopes })
    const { token, answer, spaClient } = await signInWith(['helper'], EVERY, [...EVERY, 'offline_access'])
    expect(await readScopes(token)).toEqual(scopes)
    await updateManagementRole(platform, id, { scopes: ['users:read', 'webhooks:read'] })
    expect(await readScopes(token)).toEqual(['users:read'])
    expect((await app.rest(tenant, token, 'POST', '/users', {})).status).toBe(403)
    const refreshed = await oidc.refresh(answer.refresh_token ?? '', {}, spaClient)
    expect(refreshed.body.scope?.split(' ').sort()).toEqual(['offline_access', 'openid', 'users:read'])
  })

  test('are not extended by a role that is granted later', async ({ tenant, signInWith, readScopes }) => {
    const { token, person } = await signInWith(['auditor'], EVERY, EVERY)
    await setUserRoles(createPlatformCtx(tenant), person.id, { roles: ['admin'] })
    expect(await readScopes(token)).toEqual(AUDITOR)
  })

  test('are withdrawn with a scope of the client', async ({ tenant, signInWith, readScopes }) => {
    const { token, spaClient } = await signInWith(['admin'], SOME, EVERY)
    await updateClient(createPlatformCtx(tenant), spaClient.id, { scopes: ['users:read'] })
    expect(await readScopes(token)).toEqual(['users:read'])
  })

  test('do not permit a user to take a role', async ({ app, tenant, signInWith }) => {
    const { token, person } = await signInWith(['support'], EVERY, EVERY)
    const { body } = await app.gql(
      tenant,
      token,
      `mutation { setUserRoles(input: {userId: "${person.id}", roles: ["admin"]}) { __typename } }`,
    )
    expect(body.errors?.[0]?.extensions.code).toBe('FORBIDDEN')
    const { roles } = await dbFor(tenant).user.findFirstOrThrow({
      where: { tenantId: tenant, id: person.id },
    })
    expect(roles).toEqual(['support'])
  })
})

describe('a token of the operator', () => {
  test('is accepted in every tenant, without the scopes of tenant system, and recorded as the actor', async ({
    app,
    tenant,
    newOperatorToken,
  }) => {
    const { token, clientId } = await newOperatorToken()
    const other = await newTenant()
    for (const slug of [tenant, other]) {
      const { body } = await app.gql(slug, token, '{ viewer { user { id } client { id } scopes } }')
      expect(body.data.viewer).toEqual({ user: null, client: null, scopes: EVERY })
    }
    const { status } = await app.rest(other, token, 'POST', '/users', {})
    expect(status).toBe(201)
    expect((await logOf(other)).at(-1)).toMatchObject({
      type: 'user.created',
      actorTenantId: SYSTEM_TENANT,
      actorClientId: clientId,
    })
    expect((await app.rest(SYSTEM_TENANT, token, 'GET', '/tenants')).status).toBe(200)
    expect((await app.rest(other, token, 'GET', '/tenants')).status).toBe(403)
  })

  test('is limited to one tenant by resource (RFC 8707)', async ({
    app,
    tenant,
    readScopes,
    newOperatorToken,
  }) => {
    const { token } = await newOperatorToken(apiAudienceOf(tenant))
    const other = await newTenant()
    expect(await readScopes(token)).toEqual(EVERY)
    for (const slug of [other, SYSTEM_TENANT]) {
      expect((await app.gql(slug, token, '{ viewer { scopes } }')).status).toBe(401)
      expect((await app.rest(slug, token, 'GET', '/users')).status).toBe(401)
    }
  })

  test('is not issued to a user: an administrator of tenant system is rejected by other tenants', async ({
    app,
    tenant,
    newRolePerson,
  }) => {
    const { email } = await newRolePerson(['admin'], SYSTEM_TENANT)
    const spa = await makeSpa(SYSTEM_TENANT, { scopes: SCOPE_NAMES })
    const { token } = await signInAs(app, SYSTEM_TENANT, spa, email, {
      scope: `openid ${SCOPE_NAMES.join(' ')}`,
    })
    expect((await app.gql(SYSTEM_TENANT, token, '{ viewer { scopes } }')).status).toBe(200)
    expect((await app.gql(tenant, token, '{ viewer { scopes } }')).status).toBe(401)
  })
})
