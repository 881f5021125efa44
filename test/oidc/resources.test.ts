import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { deleteClient, updateClient } from '../../src/clients/client-changes.ts'
import { platformCtx } from '../../src/ctx.ts'
import { dbFor } from '../../src/db.ts'
import { authenticateToken } from '../../src/oidc/token/access-tokens.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { setUserRoles } from '../../src/users/roles.ts'
import { newTenant } from '../support/actors.ts'
import { leastStatements } from '../support/statements.ts'
import {
  answerIn,
  authorizePath,
  Browser,
  basic,
  makeClient,
  makeUser,
  type Provider,
  REDIRECT_URI,
  signInAt,
  startProvider,
  userinfoOf,
  VERIFIER,
} from './provider.ts'

type TestClient = Awaited<ReturnType<typeof makeClient>>
type Parameters = [name: string, value: string][]

let provider: Provider
let tenant: string
let api: string
let userinfo: string
let client: TestClient
let machine: TestClient
let browser: Browser
const ORDERS = 'https://orders.example.com'
const STOCK = 'https://stock.example.com/v1'
const DEFAULT = 'urn:shop'

beforeAll(async () => {
  provider = await startProvider()
  tenant = await newTenant()
  api = `http://localhost:3000/${tenant}/api`
  userinfo = `http://localhost:3000/${tenant}/oidc/userinfo`
  await updateSettings(platformCtx(tenant), { defaultAudience: DEFAULT })
  client = await makeClient(tenant, { scopes: ['users:read'] })
  machine = await makeClient(tenant, {
    appType: 'machine',
    callbacks: [],
    scopes: ['users:read', 'users:write'],
  })
  await makeClient(tenant, { resources: [ORDERS, STOCK] })
  const user = await makeUser(tenant, 'ada@example.com')
  await setUserRoles(platformCtx(tenant), user.id, { roles: ['auditor'] })
  browser = new Browser(provider)
  await signInAt(browser, authorizePath(tenant, client), 'ada@example.com')
})
afterAll(() => provider.close())

const resourcesAs = (resources: string[]): Parameters => resources.map((resource) => ['resource', resource])

/** The parameters of the answer to a silent authorize request. */
async function authorize(resources: string[], scope = 'openid offline_access', of = client) {
  const path = `${authorizePath(tenant, of, { prompt: 'none', scope })}&${new URLSearchParams(resourcesAs(resources))}`
  return answerIn((await browser.fetch(path)).headers.get('location'))
}

async function token(form: Parameters, by = client) {
  const response = await fetch(`${provider.origin}/${tenant}/oidc/token`, {
    method: 'POST',
    headers: { authorization: basic(by) },
    body: new URLSearchParams(form),
  })
  const body = (await response.json()) as Record<string, string>
  return {
    status: response.status,
    body,
    refresh: body.refresh_token ?? '',
    audience: body.access_token ? [decodeJwt(body.access_token).aud ?? []].flat() : body.error,
  }
}
const redeem = (code: string | undefined, resources: string[] = []) =>
  token([
    ['grant_type', 'authorization_code'],
    ['code', code ?? ''],
    ['redirect_uri', REDIRECT_URI],
    ['code_verifier', VERIFIER],
    ...resourcesAs(resources),
  ])
const refresh = (refreshToken: string, resources: string[] = [], more: Parameters = []) =>
  token([
    ['grant_type', 'refresh_token'],
    ['refresh_token', refreshToken],
    ...resourcesAs(resources),
    ...more,
  ])
const forMachine = (resources: string[], more: Parameters = []) =>
  token([['grant_type', 'client_credentials'], ...resourcesAs(resources), ...more], machine)

describe('resources at authorize (RFC 8707, section 2.1)', () => {
  test.each([
    ['none: the default of the tenant', () => [], () => [DEFAULT, userinfo]],
    ['an API that a client declares', () => [ORDERS], () => [ORDERS, userinfo]],
    ['several', () => [STOCK, ORDERS, api], () => [STOCK, ORDERS, api, userinfo]],
    ['one twice', () => [ORDERS, ORDERS], () => [ORDERS, userinfo]],
    ['an empty one, which is none', () => [''], () => [DEFAULT, userinfo]],
    ['the default by its name', () => [DEFAULT], () => [DEFAULT, userinfo]],
  ])('%s', async (_name, asked, audience) => {
    const { code } = await authorize(asked())
    expect((await redeem(code)).audience).toEqual(audience())
  })

  test.each([
    'https://nobody.example',
    `${ORDERS}/`,
    `${ORDERS}#part`,
    'HTTPS://orders.example.com',
    'orders',
    'http://localhost:3000/system/api',
  ])('refuses %s', async (resource) => {
    expect(await authorize([ORDERS, resource])).toMatchObject({ error: 'invalid_target', state: 'a-state' })
  })

  test('takes twenty at most, each counted once, at authorize and at the token endpoint', async () => {
    const twenty = Array.from({ length: 20 }, (_, index) => `https://many.example.com/${index}`)
    await makeClient(tenant, { resources: twenty })
    const { code } = await authorize([...twenty, ...twenty])
    expect((await redeem(code)).audience).toEqual([...twenty, userinfo])
    const refusal = {
      error: 'invalid_target',
      error_description: 'A request may ask for 20 resources at most.',
    }
    expect(await authorize([...twenty, ORDERS])).toMatchObject({ ...refusal, state: 'a-state' })
    expect(await forMachine([...twenty, ORDERS])).toMatchObject({ status: 400, body: refusal })
    expect((await forMachine(twenty)).audience).toEqual(twenty)
  })

  test('knows of an API as soon as a client declares it, and forgets it with the client', async () => {
    const resource = 'https://new.example.com'
    expect(await authorize([resource])).toMatchObject({ error: 'invalid_target' })
    const server = await makeClient(tenant, { resources: [resource] })
    expect(await authorize([resource])).toHaveProperty('code')
    await updateClient(platformCtx(tenant), server.id, { resources: [] })
    expect(await authorize([resource])).toMatchObject({ error: 'invalid_target' })
    await updateClient(platformCtx(tenant), server.id, { resources: [resource] })
    expect(await authorize([resource])).toHaveProperty('code')
    await deleteClient(platformCtx(tenant), server.id)
    expect(await authorize([resource])).toMatchObject({ error: 'invalid_target' })
  })

  test('knows of no API of another tenant', async () => {
    const resource = 'https://elsewhere.example.com'
    await makeClient(await newTenant(), { resources: [resource] })
    expect(await authorize([resource])).toMatchObject({ error: 'invalid_target' })
    expect((await forMachine([resource])).body.error).toBe('invalid_target')
  })
})

describe('resources at the token endpoint (RFC 8707, section 2.2)', () => {
  test('a code gives a token for some of those that were granted', async () => {
    const { code } = await authorize([ORDERS, STOCK])
    expect((await redeem(code, [STOCK])).audience).toEqual([STOCK, userinfo])
  })

  test('a refresh gives a token for any of them, one after the other', async () => {
    const { code } = await authorize([ORDERS, STOCK])
    const first = await redeem(code, [STOCK])
    const second = await refresh(first.refresh, [ORDERS])
    expect(second.audience).toEqual([ORDERS, userinfo])
    const third = await refresh(second.refresh, [ORDERS, STOCK])
    expect(third.audience).toEqual([ORDERS, STOCK, userinfo])
    // What was granted stands, whatever the last token was for.
    expect((await refresh(third.refresh)).audience).toEqual([ORDERS, STOCK, userinfo])
  })

  test('asking for more is refused, and neither the code nor the refresh token is used up by it', async () => {
    const { code } = await authorize([ORDERS])
    for (const more of [[STOCK], [ORDERS, STOCK], [DEFAULT], [api], ['https://nobody.example']])
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

  test('a grant that names none reaches as far as its tokens do, and no further', async () => {
    const { code } = await authorize([])
    const first = await redeem(code, [DEFAULT])
    expect(first.audience).toEqual([DEFAULT, userinfo])
    expect((await refresh(first.refresh, [ORDERS])).body.error).toBe('invalid_target')
    // It has no management scope, so that its tokens are not for the management surface either.
    expect((await refresh(first.refresh, [api])).body.error).toBe('invalid_target')
    const managing = await redeem((await authorize([], 'openid offline_access users:read')).code)
    expect(managing.audience).toEqual([DEFAULT, userinfo, api])
    expect((await refresh(managing.refresh, [api])).audience).toEqual([api, userinfo])
  })

  test("a wrong code or token is told nothing about another client's resources", async () => {
    expect((await redeem('no-such-code', [ORDERS])).body.error).toBe('invalid_grant')
    const other = await makeClient(tenant)
    const { refresh: theirs } = await redeem((await authorize([ORDERS])).code)
    for (const resource of [ORDERS, STOCK]) {
      const form: Parameters = [
        ['grant_type', 'refresh_token'],
        ['refresh_token', theirs],
        ['resource', resource],
      ]
      expect((await token(form, other)).body.error).toBe('invalid_grant')
    }
  })

  test('security 37: whatever is refreshed how often, scope and audience stay within what was granted', async () => {
    let seed = 1
    const next = () => {
      seed = (seed * 48_271) % 2_147_483_647
      return seed / 2_147_483_647
    }
    const some = (from: string[], share: number) => from.filter(() => next() < share)
    const candidates = [ORDERS, STOCK, DEFAULT, api, userinfo, 'https://nobody.example']
    const scopes = ['openid', 'email', 'profile', 'offline_access', 'users:read', 'users:write']
    for (let round = 0; round < 12; round++) {
      const grantedFor = some([ORDERS, STOCK, DEFAULT, api], 0.4)
      const asked = [...new Set(['openid', 'offline_access', ...some(scopes, 0.5)])].join(' ')
      const { code } = await authorize(grantedFor, asked)
      let last = await redeem(code)
      const granted = { audience: last.audience as string[], scopes: (last.body.scope ?? '').split(' ') }
      for (let turn = 0; turn < 8; turn++) {
        const fewer = next() < 0.5 ? some(scopes, 0.4).join(' ') : ''
        const more: Parameters = fewer ? [['scope', fewer]] : []
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

describe('resources of machines (RFC 8707, section 2.2; security 38)', () => {
  test('are the APIs of the tenant, by name', async () => {
    expect((await forMachine([])).audience).toEqual([DEFAULT, api])
    expect((await forMachine([ORDERS])).audience).toEqual([ORDERS])
    expect((await forMachine([ORDERS, STOCK, api])).audience).toEqual([ORDERS, STOCK, api])
    expect((await forMachine([ORDERS, 'https://nobody.example'])).body.error).toBe('invalid_target')
    expect((await forMachine([userinfo])).body.error).toBe('invalid_target')
  })

  test('a token for somebody else’s API is useless at ours, whatever its scopes', async () => {
    const bearer = (accessToken: string | undefined) =>
      authenticateToken({ tenant, requestId: 'r', ip: null, userAgent: null }, `Bearer ${accessToken}`)
    const foreign = await forMachine([ORDERS], [['scope', 'users:read users:write']])
    expect(foreign.body.scope).toBe('users:read users:write')
    await expect(bearer(foreign.body.access_token)).rejects.toThrow('invalid')
    expect((await userinfoOf(provider, tenant, foreign.body.access_token as string)).status).toBe(401)
    const person = await redeem((await authorize([ORDERS], 'openid users:read')).code)
    expect(person.body.scope).toBe('openid users:read')
    await expect(bearer(person.body.access_token)).rejects.toThrow('invalid')
    await expect(bearer((await forMachine([ORDERS, api])).body.access_token)).resolves.toBeDefined()
  })
})

// The embedded database takes the same statements; one of the two is enough to count them on.
describe.runIf(inject('database').kind === 'postgres')('round trips (design, section 9)', () => {
  test('a machine makes none, whichever APIs of the tenant it asks for', async () => {
    expect(await leastStatements(() => forMachine([api, DEFAULT]))).toBe(0)
    expect(await leastStatements(() => forMachine([STOCK]))).toBe(0)
  })

  test('a code or refresh token costs one more only where a resource is asked for', async () => {
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
