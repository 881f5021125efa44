import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { updateClient } from '../../src/clients/client-changes.ts'
import { createClient } from '../../src/clients/clients.ts'
import { platformCtx, type Role, SCOPE_NAMES, type Scope, SYSTEM_TENANT } from '../../src/ctx.ts'
import { dbFor } from '../../src/db.ts'
import { apiAudienceOf } from '../../src/oidc/keys/keys.ts'
import { setUserRoles } from '../../src/users/roles.ts'
import { newTenant, TENANT_SCOPES } from '../support/actors.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { logOf } from '../support/events.ts'
import { makeSpa, signInAs } from '../support/people.ts'
import { makeUser, type Provider, refreshWith, tokenRequest } from './provider.ts'

let app: TestApp
let tenant: string
let people = 0
beforeAll(async () => {
  app = await startApp()
  tenant = await newTenant()
})
afterAll(() => app.close())

const newPerson = async (roles: Role[], at = tenant): Promise<{ email: string; id: string }> => {
  const email = `person${people++}@${at}.example`
  const { id } = await makeUser(at, email)
  await setUserRoles(platformCtx(at), id, { roles })
  return { email, id }
}
/** Signs in at a frontend in the browser, with code and PKCE, asking for these scopes of the management surface. */
async function signIn(roles: Role[], client: Scope[], asked: string[], more = 'openid') {
  const person = await newPerson(roles)
  const spa = await makeSpa(tenant, { scopes: client })
  const signedIn = await signInAs(app, tenant, spa, person.email, { scope: [more, ...asked].join(' ') })
  return { ...signedIn, person, spa }
}
const scopesOf = async (token: string): Promise<string[]> =>
  (await app.gql(tenant, token, '{ viewer { scopes } }')).body.data.viewer.scopes

/** A call that each of these scopes is what it takes for. */
const CALLS: [Scope, string, string][] = [
  ['users:read', 'GET', '/users'],
  ['users:write', 'POST', '/users'],
  ['clients:read', 'GET', '/clients'],
  ['clients:write', 'POST', '/clients'],
  ['tenant:read', 'GET', '/settings'],
  ['tenant:write', 'PATCH', '/settings'],
  ['events:read', 'GET', '/events'],
]
/** Which of the calls a token may make, told by REST: everything else is 403. */
async function permitted(token: string): Promise<Scope[]> {
  const scopes: Scope[] = []
  for (const [scope, method, path] of CALLS) {
    // An empty client is no client: 400 tells that the call got past the scope.
    const body = method === 'GET' ? undefined : {}
    const { status } = await app.rest(tenant, token, method, path, body)
    if (status !== 403) scopes.push(scope)
  }
  return scopes
}

const SUPPORT: Scope[] = [
  'credentials:read',
  'credentials:write',
  'events:read',
  'sessions:read',
  'sessions:write',
  'users:read',
  'users:write',
]
const AUDITOR: Scope[] = [
  'clients:read',
  'credentials:read',
  'events:read',
  'idps:read',
  'sessions:read',
  'tenant:read',
  'users:read',
]
const EVERY = [...TENANT_SCOPES].sort()
const SOME: Scope[] = ['clients:write', 'tenant:read', 'users:read']

type Row = [string, Role[], Scope[], string[], string[]]
const TABLE: Row[] = [
  ['no role, whatever client and request', [], EVERY, EVERY, []],
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
    "scopes of tenant system, and ones that don't exist",
    ['admin'],
    EVERY,
    ['tenants:read', 'tenants:write', 'users:admin', '*', 'users:read'],
    ['users:read'],
  ],
]

describe('a person at a browser frontend gets exactly what role, client and request have in common', () => {
  test.each(TABLE)('%s', async (_name, roles, client, asked, expected) => {
    const { token, answer } = await signIn(roles, client, asked)
    expect((answer.scope ?? '').split(' ').sort()).toEqual(['openid', ...expected].sort())
    expect(await scopesOf(token)).toEqual(expected)
    const callable = CALLS.map(([scope]) => scope).filter((scope) => expected.includes(scope))
    expect(await permitted(token)).toEqual(callable)
  })
})

describe('what was given and is taken away is gone at the next call', () => {
  test('a role: from tokens that were issued, and from those that a refresh token gets', async () => {
    const { token, answer, person, spa } = await signIn(['admin'], EVERY, EVERY, 'openid offline_access')
    expect(await scopesOf(token)).toEqual(EVERY)
    await setUserRoles(platformCtx(tenant), person.id, { roles: ['auditor'] })
    expect(await scopesOf(token)).toEqual(AUDITOR)
    expect((await app.rest(tenant, token, 'POST', '/users', {})).status).toBe(403)
    const refreshed = await refreshWith(app as Provider, tenant, spa, answer.refresh_token ?? '')
    expect(refreshed.body.scope?.split(' ').sort()).toEqual(['offline_access', 'openid', ...AUDITOR].sort())
    await setUserRoles(platformCtx(tenant), person.id, { roles: [] })
    for (const one of [token, refreshed.body.access_token ?? '']) expect(await scopesOf(one)).toEqual([])
    // The person stays signed in, as one of no role.
    expect((await app.gql(tenant, token, '{ viewer { user { id } } }')).body.data.viewer.user.id).toBe(
      person.id,
    )
  })

  test('a role that comes later gives a token nothing that it was not issued with', async () => {
    const { token, person } = await signIn(['auditor'], EVERY, EVERY)
    await setUserRoles(platformCtx(tenant), person.id, { roles: ['admin'] })
    expect(await scopesOf(token)).toEqual(AUDITOR)
  })

  test('a scope of the client', async () => {
    const { token, spa } = await signIn(['admin'], SOME, EVERY)
    await updateClient(platformCtx(tenant), spa.id, { scopes: ['users:read'] })
    expect(await scopesOf(token)).toEqual(['users:read'])
  })

  test('nobody gives a role that they lack, to themselves least of all', async () => {
    const { token, person } = await signIn(['support'], EVERY, EVERY)
    const { body } = await app.gql(
      tenant,
      token,
      `mutation { setUserRoles(input: {userId: "${person.id}", roles: [ADMIN]}) { __typename } }`,
    )
    expect(body.errors?.[0]?.extensions.code).toBe('FORBIDDEN')
    const { roles } = await dbFor(tenant).user.findFirstOrThrow({
      where: { tenantId: tenant, id: person.id },
    })
    expect(roles).toEqual(['support'])
  })
})

describe("an operator's token", () => {
  const operatorToken = async (resource?: string) => {
    const { client, secret } = await createClient(platformCtx(SYSTEM_TENANT), {
      name: 'Operator',
      appType: 'machine',
      type: 'login',
      scopes: SCOPE_NAMES,
      allTenants: true,
    })
    const { body } = await tokenRequest(
      app as Provider,
      SYSTEM_TENANT,
      { id: client.id, secret: secret ?? '' },
      { grant_type: 'client_credentials', ...(resource && { resource }) },
    )
    return { token: body.access_token ?? '', clientId: client.id }
  }

  test("works in every tenant, without the scopes of tenant system there, and the tenant's log names it", async () => {
    const { token, clientId } = await operatorToken()
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

  test('is narrowed to one tenant by resource (RFC 8707)', async () => {
    const { token } = await operatorToken(apiAudienceOf(tenant))
    const other = await newTenant()
    expect(await scopesOf(token)).toEqual(EVERY)
    for (const slug of [other, SYSTEM_TENANT]) {
      expect((await app.gql(slug, token, '{ viewer { scopes } }')).status).toBe(401)
      expect((await app.rest(slug, token, 'GET', '/users')).status).toBe(401)
    }
  })

  test('is for machines: a person of tenant system is nobody elsewhere, whatever the role', async () => {
    const { email } = await newPerson(['admin'], SYSTEM_TENANT)
    const spa = await makeSpa(SYSTEM_TENANT, { scopes: SCOPE_NAMES })
    const { token } = await signInAs(app, SYSTEM_TENANT, spa, email, {
      scope: `openid ${SCOPE_NAMES.join(' ')}`,
    })
    expect((await app.gql(SYSTEM_TENANT, token, '{ viewer { scopes } }')).status).toBe(200)
    expect((await app.gql(tenant, token, '{ viewer { scopes } }')).status).toBe(401)
  })
})
