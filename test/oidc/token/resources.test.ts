import { describe, expect } from 'vitest'
import { authenticateToken } from '../../../src/access/authenticate.ts'
import { deleteClient, updateClient } from '../../../src/clients/client-changes.ts'
import { createPlatformCtx } from '../../../src/context/context.ts'
import { issuerOf } from '../../../src/core/issuer.ts'
import { newTenant } from '../../support/actors.ts'
import { dbFor } from '../../support/database.ts'
import { makeClient } from '../../support/protocol.ts'
import { DEFAULT, ORDERS, STOCK, type TokenForm, test } from '../../support/resources.ts'
import { leastStatements } from '../../support/statements.ts'

type Own = { api: string; userinfo: string }

describe('the parameter resource at the authorization endpoint (RFC 8707, section 2.1)', () => {
  test.for<[name: string, asked: (own: Own) => string[], audience: (own: Own) => string[]]>([
    ['no resource: the default of the tenant', () => [], ({ userinfo }) => [DEFAULT, userinfo]],
    ['an API that a client declares', () => [ORDERS], ({ userinfo }) => [ORDERS, userinfo]],
    [
      'several resources, without the management API beside others',
      ({ api }) => [STOCK, ORDERS, api],
      ({ userinfo }) => [STOCK, ORDERS, userinfo],
    ],
    [
      'the management API without a scope for it: userinfo only',
      ({ api }) => [api],
      ({ userinfo }) => [userinfo],
    ],
    ['a resource that is repeated', () => [ORDERS, ORDERS], ({ userinfo }) => [ORDERS, userinfo]],
    ['an empty resource: the default of the tenant', () => [''], ({ userinfo }) => [DEFAULT, userinfo]],
    ['the default of the tenant by its name', () => [DEFAULT], ({ userinfo }) => [DEFAULT, userinfo]],
  ])('sets the audience for %s', async ([_name, asked, audience], { api, userinfo, authorize, redeem }) => {
    const { code } = await authorize(asked({ api, userinfo }))
    expect((await redeem(code)).audience).toEqual(audience({ api, userinfo }))
  })

  test.for([
    'https://unknown.example',
    `${ORDERS}//`,
    `${ORDERS}/?`,
    `${STOCK}/`,
    `${ORDERS}#part`,
    'HTTPS://orders.example.com',
    'orders',
    'http://localhost:3000/system/api',
  ])('rejects %s', async (resource, { authorize }) => {
    expect(await authorize([ORDERS, resource])).toMatchObject({ error: 'invalid_target', state: 'a-state' })
  })

  test('accepts at most 20 different resources', async ({
    newClient,
    userinfo,
    authorize,
    redeem,
    requestAsMachine,
  }) => {
    const twenty = Array.from({ length: 20 }, (_, index) => `https://many.example.com/${index}`)
    await newClient({ resources: twenty })
    const { code } = await authorize([...twenty, ...twenty])
    expect((await redeem(code)).audience).toEqual([...twenty, userinfo])
    const refusal = {
      error: 'invalid_target',
      error_description: 'A request may name at most 20 resources.',
    }
    expect(await authorize([...twenty, ORDERS])).toMatchObject({ ...refusal, state: 'a-state' })
    expect(await requestAsMachine([...twenty, ORDERS])).toMatchObject({ status: 400, body: refusal })
    expect((await requestAsMachine(twenty)).audience).toEqual(twenty)
  })

  test('accepts a resource from its declaration by a client until that or the client is deleted', async ({
    tenant,
    newClient,
    authorize,
  }) => {
    const resource = 'https://new.example.com'
    expect(await authorize([resource])).toMatchObject({ error: 'invalid_target' })
    const server = await newClient({ resources: [resource] })
    expect(await authorize([resource])).toHaveProperty('code')
    await updateClient(createPlatformCtx(tenant), server.id, { resources: [] })
    expect(await authorize([resource])).toMatchObject({ error: 'invalid_target' })
    await updateClient(createPlatformCtx(tenant), server.id, { resources: [resource] })
    expect(await authorize([resource])).toHaveProperty('code')
    await deleteClient(createPlatformCtx(tenant), server.id)
    expect(await authorize([resource])).toMatchObject({ error: 'invalid_target' })
  })

  test('rejects a resource that a client of another tenant declares', async ({
    authorize,
    requestAsMachine,
  }) => {
    const resource = 'https://elsewhere.example.com'
    await makeClient(await newTenant(), { resources: [resource] })
    expect(await authorize([resource])).toMatchObject({ error: 'invalid_target' })
    expect((await requestAsMachine([resource])).body.error).toBe('invalid_target')
  })
})

describe('the parameter resource at the token endpoint (RFC 8707, section 2.2)', () => {
  test('narrows the audience of a redeemed code to some granted resources', async ({
    userinfo,
    authorize,
    redeem,
  }) => {
    const { code } = await authorize([ORDERS, STOCK])
    expect((await redeem(code, [STOCK])).audience).toEqual([STOCK, userinfo])
  })

  test('selects any granted resources for each refresh', async ({ userinfo, authorize, redeem, refresh }) => {
    const { code } = await authorize([ORDERS, STOCK])
    const first = await redeem(code, [STOCK])
    const second = await refresh(first.refresh, [ORDERS])
    expect(second.audience).toEqual([ORDERS, userinfo])
    const third = await refresh(second.refresh, [ORDERS, STOCK])
    expect(third.audience).toEqual([ORDERS, STOCK, userinfo])
    // A narrower token does not narrow the grant.
    expect((await refresh(third.refresh)).audience).toEqual([ORDERS, STOCK, userinfo])
  })

  test('rejects resources that were not granted without using up the code or refresh token', async ({
    tenant,
    api,
    authorize,
    redeem,
    refresh,
  }) => {
    const { code } = await authorize([ORDERS])
    for (const more of [[STOCK], [ORDERS, STOCK], [DEFAULT], [api], ['https://unknown.example']])
      expect(await redeem(code, more)).toMatchObject({ status: 400, body: { error: 'invalid_target' } })
    const first = await redeem(code, [ORDERS])
    expect(first.status).toBe(200)
    for (const more of [[STOCK], [ORDERS, STOCK], [DEFAULT], [api]])
      expect(await refresh(first.refresh, more)).toMatchObject({
        status: 400,
        body: { error: 'invalid_target' },
      })
    const id = { tenantId: tenant, id: first.refresh.split('.')[0] as string }
    const { generation } = await dbFor(tenant).grant.findUniqueOrThrow({ where: { tenantId_id: id } })
    expect(generation).toBe(0)
    expect((await refresh(first.refresh)).status).toBe(200)
  })

  test('rejects other resources for a grant without resources', async ({
    api,
    userinfo,
    authorize,
    redeem,
    refresh,
  }) => {
    const { code } = await authorize([])
    const first = await redeem(code, [DEFAULT])
    expect(first.audience).toEqual([DEFAULT, userinfo])
    expect((await refresh(first.refresh, [ORDERS])).body.error).toBe('invalid_target')
    // It has no management scope, so that its tokens are not for the management surface either.
    expect((await refresh(first.refresh, [api])).body.error).toBe('invalid_target')
    const managing = await redeem((await authorize([], 'openid offline_access users:read')).code)
    expect(managing.audience).toEqual([api, userinfo])
    expect((await refresh(managing.refresh, [DEFAULT])).audience).toEqual([DEFAULT, userinfo])
    const both = await redeem((await authorize([ORDERS, api], 'openid offline_access users:read')).code)
    expect(both.audience).toEqual([ORDERS, userinfo])
    expect((await refresh(both.refresh, [api])).audience).toEqual([api, userinfo])
  })

  test('answers invalid_grant to another client, whatever the resource', async ({
    newClient,
    authorize,
    requestToken,
    redeem,
  }) => {
    expect((await redeem('no-such-code', [ORDERS])).body.error).toBe('invalid_grant')
    const other = await newClient()
    const { refresh: theirs } = await redeem((await authorize([ORDERS])).code)
    for (const resource of [ORDERS, STOCK]) {
      const form: TokenForm = [
        ['grant_type', 'refresh_token'],
        ['refresh_token', theirs],
        ['resource', resource],
      ]
      expect((await requestToken(form, other)).body.error).toBe('invalid_grant')
    }
  })

  test('never widens scope or audience by repeated refreshes', async ({
    tenant,
    api,
    userinfo,
    authorize,
    redeem,
    refresh,
  }) => {
    // The audience of a token for nothing.
    const issuer = issuerOf(tenant)
    let seed = 1
    const next = () => {
      seed = (seed * 48_271) % 2_147_483_647
      return seed / 2_147_483_647
    }
    const some = (from: string[], share: number) => from.filter(() => next() < share)
    const candidates = [ORDERS, STOCK, DEFAULT, api, userinfo, 'https://unknown.example']
    const scopes = ['openid', 'email', 'profile', 'offline_access', 'users:read', 'users:write']
    for (let round = 0; round < 12; round++) {
      const grantedFor = some([ORDERS, STOCK, DEFAULT, api], 0.4)
      const asked = [...new Set(['openid', 'offline_access', ...some(scopes, 0.5)])].join(' ')
      const { code } = await authorize(grantedFor, asked)
      let last = await redeem(code)
      const scopesGranted = (last.body.scope ?? '').split(' ')
      const isForApi = scopesGranted.includes('users:read')
      const resources = grantedFor.length > 0 ? grantedFor : [DEFAULT, ...(isForApi ? [api] : [])]
      const granted = { audience: [...resources, userinfo, issuer], scopes: scopesGranted }
      for (let turn = 0; turn < 8; turn++) {
        const fewer = next() < 0.5 ? some(scopes, 0.4).join(' ') : ''
        const more: TokenForm = fewer ? [['scope', fewer]] : []
        const answer = await refresh(last.refresh, some(candidates, 0.3), more)
        if (answer.status !== 200) {
          expect(['invalid_target', 'invalid_scope']).toContain(answer.body.error)
          continue
        }
        expect(granted.audience).toEqual(expect.arrayContaining(answer.audience as string[]))
        const given = (answer.body.scope ?? '').split(' ').filter((scope) => scope !== '')
        expect(granted.scopes).toEqual(expect.arrayContaining(given))
        last = answer
      }
    }
  })
})

describe('a resource that is an origin', () => {
  test.for([
    [ORDERS, `${ORDERS}/`],
    ['https://slash.example.com/', 'https://slash.example.com'],
  ] as const)(
    'is %s when it is requested as %s, as libraries that parse URLs do',
    async ([declared, asked], { newClient, userinfo, authorize, redeem, refresh, requestAsMachine }) => {
      await newClient({ resources: [declared] })
      const { code } = await authorize([asked, declared])
      const tokens = await redeem(code, [asked])
      expect(tokens.audience).toEqual([declared, userinfo])
      expect((await refresh(tokens.refresh, [asked])).audience).toEqual([declared, userinfo])
      expect((await requestAsMachine([asked])).audience).toEqual([declared])
    },
  )
})

describe('the parameter resource of a machine client (RFC 8707, section 2.2)', () => {
  test('selects APIs of the tenant by name', async ({ api, userinfo, requestAsMachine }) => {
    expect((await requestAsMachine([])).audience).toEqual([api])
    expect((await requestAsMachine([ORDERS])).audience).toEqual([ORDERS])
    expect((await requestAsMachine([ORDERS, STOCK, api])).audience).toEqual([ORDERS, STOCK])
    expect((await requestAsMachine([api])).audience).toEqual([api])
    expect((await requestAsMachine([ORDERS, 'https://unknown.example'])).body.error).toBe('invalid_target')
    expect((await requestAsMachine([userinfo])).body.error).toBe('invalid_target')
  })

  test('issues tokens that the management API and userinfo reject when they are not in the audience', async ({
    tenant,
    oidc,
    api,
    authorize,
    redeem,
    requestAsMachine,
  }) => {
    const bearer = (accessToken: string | undefined) =>
      authenticateToken({ tenant, requestId: 'r', ip: null, userAgent: null }, `Bearer ${accessToken}`)
    const foreign = await requestAsMachine([ORDERS], [['scope', 'users:read users:write']])
    expect(foreign.body.scope).toBe('users:read users:write')
    await expect(bearer(foreign.body.access_token)).rejects.toThrow('invalid')
    expect((await oidc.userinfo(foreign.body.access_token as string)).status).toBe(401)
    const person = await redeem((await authorize([ORDERS], 'openid users:read')).code)
    expect(person.body.scope).toBe('openid users:read')
    await expect(bearer(person.body.access_token)).rejects.toThrow('invalid')
    await expect(bearer((await requestAsMachine([ORDERS, api])).body.access_token)).rejects.toThrow('invalid')
    await expect(bearer((await requestAsMachine([api])).body.access_token)).resolves.toBeDefined()
  })
})

describe('the token endpoint with resources', () => {
  test('sends no statement for a machine client', async ({ api, requestAsMachine }) => {
    expect(await leastStatements(() => requestAsMachine([api, DEFAULT]))).toBe(0)
    expect(await leastStatements(() => requestAsMachine([STOCK]))).toBe(0)
  })

  test('sends one statement more for a refresh with a resource', async ({ authorize, redeem, refresh }) => {
    const codes = [await authorize([ORDERS]), await authorize([ORDERS]), await authorize([ORDERS])]
    let last = await redeem((await authorize([ORDERS])).code)
    expect(await leastStatements(() => redeem(codes.pop()?.code))).toBe(1)
    const count = (resources: string[]) =>
      leastStatements(async () => {
        last = await refresh(last.refresh, resources)
      })
    expect(await count([])).toBe(1)
    expect(await count([ORDERS])).toBe(2)
  })
})
