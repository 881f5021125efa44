import { readFileSync } from 'node:fs'
import { describe, expect } from 'vitest'
import type { Scope } from '../../src/core/scopes.ts'
import { test as base } from '../support/fixtures.ts'

const mapping = (more: object = {}) => ({
  claim: 'plan',
  source: 'appMetadata',
  path: '/billing/plan',
  scope: 'billing',
  targets: ['id_token'],
  ...more,
})

const test = base
  .extend('client', { scope: 'file' }, ({ newClient }) => newClient())
  .extend(
    'setMappings',
    { scope: 'file' },
    ({ rest, client }) =>
      (claimMappings: unknown) =>
        rest('PATCH', `/clients/${client.id}`, { claimMappings }),
  )

describe('the claim mappings of a client', () => {
  test('are kept in their order, and removed by null', async ({ setMappings, rest, client }) => {
    const mappings = [
      mapping({ claim: 'https://shop.example/plan' }),
      mapping({ claim: 'role', source: 'constant', path: null, value: 'authenticated', scope: null }),
    ]
    expect((await setMappings(mappings)).status).toBe(200)
    const { body } = await rest('GET', `/clients/${client.id}`)
    expect(body.claimMappings).toEqual([
      { ...mappings[0], value: null },
      { ...mappings[1], value: 'authenticated' },
    ])
    expect((await setMappings(null)).body.claimMappings).toEqual([])
  })

  test.for<[what: string, member: string, given: object]>([
    ['a claim of the protocol', 'claim', mapping({ claim: 'sub' })],
    ['a claim that identifies a session', 'claim', mapping({ claim: 'sid' })],
    ['permissions', 'claim', mapping({ claim: 'permissions' })],
    ['a claim that makes a logout token', 'claim', mapping({ claim: 'events' })],
    ['a name that would set a prototype', 'claim', mapping({ claim: '__proto__' })],
    ['an e-mail address that an application writes', 'claim', mapping({ claim: 'email' })],
    [
      'a verification of another address',
      'claim',
      mapping({ claim: 'email_verified', source: 'user', path: 'phoneNumberVerified' }),
    ],
    ['roles that users write', 'claim', mapping({ claim: 'roles', source: 'userMetadata' })],
    ['groups that users write', 'claim', mapping({ claim: 'groups', source: 'user', path: 'nickname' })],
    ['groups in an access token', 'claim', mapping({ claim: 'groups', targets: ['access_token'] })],
    ['metadata of applications without a scope', 'scope', mapping({ scope: null })],
    ['metadata of applications with a scope that each sign-in has', 'scope', mapping({ scope: 'openid' })],
    ['a scope of two words', 'scope', mapping({ scope: 'a b' })],
    ['a field that does not exist', 'path', mapping({ source: 'user', path: 'roles' })],
    ['a path that is not a JSON Pointer', 'path', mapping({ path: 'billing.plan' })],
    ['a path of six names', 'path', mapping({ path: '/a/b/c/d/e/f' })],
    ['a constant with a path', 'path', mapping({ source: 'constant', value: 'x' })],
    ['a constant without a value', 'value', mapping({ source: 'constant', path: null })],
    ['a long constant', 'value', mapping({ source: 'constant', path: null, value: 'x'.repeat(1001) })],
    ['no target', 'targets', mapping({ targets: [] })],
    ['roles of what is no API', 'path', mapping({ source: 'roles', path: 'shop' })],
    ['groups of a field', 'path', mapping({ source: 'groups', path: 'name' })],
    [
      'a field of the organization that does not exist',
      'path',
      mapping({ source: 'organization', path: 'logoUrl' }),
    ],
    [
      'metadata of the organization without a scope',
      'scope',
      mapping({ source: 'organization', scope: null }),
    ],
  ])('reject %s', async ([, member, given], { setMappings }) => {
    const { status, body } = await setMappings([given])
    expect(status).toBe(400)
    expect(body.fields).toEqual([{ field: `claimMappings.0.${member}`, description: expect.any(String) }])
  })

  test('reject a claim that is given twice for one target, and more than 50', async ({ setMappings }) => {
    expect(await setMappings([mapping(), mapping({ scope: 'other' })])).toMatchObject({
      status: 400,
      body: { fields: [{ field: 'claimMappings.1.claim' }] },
    })
    expect((await setMappings([mapping(), mapping({ targets: ['userinfo'] })])).status).toBe(200)
    const many = Array.from({ length: 51 }, (_, index) => mapping({ claim: `plan${index}` }))
    expect((await setMappings(many)).body.fields).toMatchObject([{ field: 'claimMappings' }])
  })

  test('are accepted as the documents have them for libraries', async ({ setMappings }) => {
    const lists = readFileSync('docs/claims.md', 'utf8').match(/(?<=```json\n)\[.*?(?=```)/gs) ?? []
    expect(lists.length).toBe(5)
    for (const list of lists) expect((await setMappings(JSON.parse(list))).status).toBe(200)
  })

  test('are set only by callers who may read what they give', async ({ client, rest }) => {
    await rest('PATCH', `/clients/${client.id}`, { claimMappings: null })
    const set = (scopes: Scope[], source: object) =>
      rest('PATCH', `/clients/${client.id}`, { claimMappings: [mapping(source)] }, { scopes })
    expect((await set(['clients:read', 'clients:write'], {})).status).toBe(403)
    expect((await set(['clients:read', 'clients:write', 'users:read'], {})).status).toBe(403)
    const withUsers: Scope[] = ['clients:read', 'clients:write', 'users:read']
    const own = { source: 'userMetadata', scope: null }
    expect((await set(withUsers, own)).status).toBe(200)
    // Scopes and claims of access tokens are permissions at APIs.
    expect((await set(withUsers, { ...own, scope: 'orders:write' })).status).toBe(403)
    expect((await set(withUsers, { ...own, claim: 'scp', targets: ['access_token'] })).status).toBe(403)
    expect((await set([...withUsers, 'roles:write'], { ...own, scope: 'orders:write' })).status).toBe(200)
    for (const [source, needed] of [
      ['roles', 'roles:read'],
      ['organization', 'organizations:read'],
    ] as const) {
      await rest('PATCH', `/clients/${client.id}`, { claimMappings: null })
      const path = source === 'organization' ? 'slug' : null
      expect((await set(withUsers, { source, path, scope: null })).status).toBe(403)
      expect((await set([...withUsers, 'roles:write', needed], { source, path, scope: null })).status).toBe(
        200,
      )
    }
    await rest('PATCH', `/clients/${client.id}`, { claimMappings: null })
    const groups = (scopes: Scope[]) =>
      rest('PATCH', `/clients/${client.id}`, { groupsClaim: true }, { scopes })
    expect((await groups(withUsers)).status).toBe(403)
    expect((await groups([...withUsers, 'roles:read'])).status).toBe(200)
  })

  test('are an obstacle for callers who may not read what the client gets', async ({ newClient, rest }) => {
    const { id } = await newClient({ claimMappings: [mapping()] })
    const scopes: Scope[] = ['clients:read', 'clients:write']
    for (const change of [{ callbacks: ['https://evil.example/cb'] }, { requireConsent: true }])
      expect((await rest('PATCH', `/clients/${id}`, change, { scopes })).status).toBe(403)
    expect((await rest('POST', `/clients/${id}/secret`, {}, { scopes })).status).toBe(403)
    expect((await rest('PATCH', `/clients/${id}`, { name: 'Shop' }, { scopes })).status).toBe(200)
  })
})
