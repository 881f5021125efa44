import { connect } from 'node:net'
import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { platformCtx } from '../../src/ctx.ts'
import { dbFor } from '../../src/db.ts'
import type { User } from '../../src/generated/prisma/client.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { setUserRoles } from '../../src/users/roles.ts'
import { newTenant } from '../support/actors.ts'
import {
  answerIn,
  authorizePath,
  Browser,
  exchange,
  makeClient,
  makeUser,
  type Provider,
  REDIRECT_URI,
  signInAt,
  startProvider,
} from './provider.ts'

let provider: Provider
let tenant: string
let client: Awaited<ReturnType<typeof makeClient>>
let user: User
let browser: Browser
const ISS = () => `http://localhost:3000/${tenant}`

beforeAll(async () => {
  provider = await startProvider()
  tenant = await newTenant()
  client = await makeClient(tenant)
  user = await makeUser(tenant, 'ada@example.com')
  browser = new Browser(provider)
  await signInAt(browser, authorizePath(tenant, client), 'ada@example.com')
})
afterAll(() => provider.close())

const visit = async (more: Record<string, string | null>, by = browser, of = client) => {
  const response = await by.fetch(authorizePath(tenant, of, more))
  const location = response.headers.get('location')
  return { response, location, answer: location?.startsWith(REDIRECT_URI) ? answerIn(location) : null }
}
const visitor = () => new Browser(provider)
const isHosted = (location: string | null) =>
  new RegExp(`^/${tenant}/signin/[\\w-]{43}$`).test(location ?? '')

describe('a faulty authorize request', () => {
  test.each([
    ['an unknown client', { client_id: 'client_unknown' }],
    ['no client', { client_id: null }],
    ['an unregistered redirect_uri', { redirect_uri: 'https://evil.example/cb' }],
    ['no redirect_uri', { redirect_uri: null }],
    ['U+0000', { state: '\u0000' }],
    ['U+0000 in the client_id', { client_id: 'a\u0000' }],
  ])('with %s shows a page and redirects nowhere (RFC 6749, section 4.1.2.1)', async (_name, more) => {
    const { response, location } = await visit(more)
    expect([response.status, location]).toEqual([400, null])
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(await response.text()).not.toContain('evil.example')
  })

  test("with another tenant's client shows a page", async () => {
    const elsewhere = await makeClient(await newTenant())
    expect((await visit({}, browser, elsewhere)).response.status).toBe(400)
  })

  test('otherwise goes back with error, state and iss (RFC 9207)', async () => {
    const { response, answer } = await visit({ scope: 'profile' })
    expect(response.status).toBe(303)
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('referrer-policy')).toBe('no-referrer')
    expect(answer).toEqual({
      error: 'invalid_scope',
      error_description: 'The scope must contain openid.',
      state: 'a-state',
      iss: ISS(),
    })
  })

  test('to an unknown tenant shows a page, another method 405', async () => {
    const nobody = await browser.fetch('/nobody/oidc/authorize')
    expect([nobody.status, await nobody.text()]).toEqual([
      404,
      expect.stringContaining('No such tenant at this address.'),
    ])
    const token = await fetch(`${provider.origin}/nobody/oidc/token`, { method: 'POST' })
    expect(await token.json()).toMatchObject({ error_description: 'No such tenant at this address.' })
    const response = await browser.fetch(authorizePath(tenant, client), { method: 'DELETE' })
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, POST'])
  })
})

describe('prompt and max_age (OIDC Core, section 3.1.2.1)', () => {
  test('none answers at once when somebody is signed in, else login_required', async () => {
    expect((await visit({ prompt: 'none' })).answer).toEqual({
      code: expect.any(String),
      state: 'a-state',
      iss: ISS(),
    })
    expect((await visit({ prompt: 'none' }, visitor())).answer).toMatchObject({
      error: 'login_required',
      state: 'a-state',
    })
  })

  test('login asks again although somebody is signed in, and gives a newer auth_time', async () => {
    const by = visitor()
    await dbFor(tenant).passcode.deleteMany({ where: { tenantId: tenant } })
    await signInAt(by, authorizePath(tenant, client), 'ada@example.com')
    await dbFor(tenant).session.updateMany({
      where: { tenantId: tenant, endedAt: null, userId: user.id },
      data: { authenticatedAt: new Date(Date.now() - 100_000) },
    })
    expect((await visit({ max_age: '1000' }, by)).answer).toHaveProperty('code')
    expect(isHosted((await visit({ max_age: '99' }, by)).location)).toBe(true)
    expect((await visit({ max_age: '99', prompt: 'none' }, by)).answer).toMatchObject({
      error: 'login_required',
    })
    await dbFor(tenant).passcode.deleteMany({ where: { tenantId: tenant } })
    const before = by.cookies.get('vst_sid')
    const { location } = await signInAt(
      by,
      authorizePath(tenant, client, { prompt: 'login', max_age: '99' }),
      'ada@example.com',
    )
    const { body } = await exchange(provider, tenant, client, answerIn(location).code as string)
    expect(decodeJwt(body.id_token as string).auth_time).toBeGreaterThan(Date.now() / 1000 - 60)
    expect(by.cookies.get('vst_sid')).not.toBe(before)
  })

  test('select_account shows the start of the sign-in', async () => {
    expect(isHosted((await visit({ prompt: 'select_account' })).location)).toBe(true)
  })

  test('id_token_hint must name who is signed in', async () => {
    const { answer } = await visit({ prompt: 'none' })
    const { body } = await exchange(provider, tenant, client, answer?.code as string)
    const hint = body.id_token as string
    expect((await visit({ prompt: 'none', id_token_hint: hint })).answer).toHaveProperty('code')
    await makeUser(tenant, 'bob@example.com')
    const bob = visitor()
    await signInAt(bob, authorizePath(tenant, client), 'bob@example.com')
    expect((await visit({ prompt: 'none', id_token_hint: hint }, bob)).answer).toMatchObject({
      error: 'login_required',
    })
    expect(isHosted((await visit({ id_token_hint: hint }, bob)).location)).toBe(true)
    expect((await visit({ id_token_hint: `${hint}x` })).answer).toMatchObject({ error: 'invalid_request' })
  })
})

describe('POST authorize', () => {
  const form = (more: Record<string, string | null> = {}) =>
    Object.fromEntries(new URL(authorizePath(tenant, client, more), provider.origin).searchParams)
  const path = () => `/${tenant}/oidc/authorize`

  test('from another site, so without cookies, goes on as a GET of ours that has them', async () => {
    const { cookies } = browser
    const stranger = visitor()
    const response = await stranger.post(path(), form())
    expect(response.status).toBe(303)
    expect(response.headers.getSetCookie()).toEqual([])
    const location = response.headers.get('location') as string
    expect(isHosted(location)).toBe(true)
    const same = visitor()
    for (const [name, value] of cookies) same.cookies.set(name, value)
    expect(answerIn((await same.open(location)).location)).toMatchObject({
      code: expect.any(String),
      state: 'a-state',
    })
  })

  test('is bound to the first browser that goes on with it', async () => {
    const location = (await visitor().post(path(), form())).headers.get('location') as string
    const [first, second] = [visitor(), visitor()]
    expect((await first.fetch(location)).status).toBe(200)
    expect((await second.fetch(location)).status).toBe(410)
    expect((await first.fetch(location)).status).toBe(200)
  })

  test('reports its faults as GET does', async () => {
    expect((await visitor().post(path(), form({ redirect_uri: 'https://evil.example' }))).status).toBe(400)
    const response = await visitor().post(path(), form({ response_type: 'token' }))
    expect(answerIn(response.headers.get('location'))).toMatchObject({
      error: 'unsupported_response_type',
      state: 'a-state',
    })
    const json = await visitor().fetch(path(), {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json' },
    })
    expect(json.status).toBe(400)
  })

  test('with prompt=none answers login_required', async () => {
    const by = visitor()
    const { location } = await by.follow(await by.post(path(), form({ prompt: 'none' })))
    expect(answerIn(location)).toMatchObject({ error: 'login_required' })
  })
})

describe('scopes', () => {
  test('of the management surface need the client and the role of the person', async () => {
    const scope = 'openid users:read users:write clients:write'
    const admin = await makeClient(tenant, { scopes: ['users:read', 'users:write', 'events:read'] })
    const given = async () => {
      const { answer } = await visit({ prompt: 'none', scope }, browser, admin)
      return (await exchange(provider, tenant, admin, answer?.code as string)).body
    }
    expect((await given()).scope).toBe('openid')
    await setUserRoles(platformCtx(tenant), user.id, { roles: ['auditor'] })
    const body = await given()
    expect(body.scope).toBe('openid users:read')
    expect(decodeJwt(body.access_token as string)).toMatchObject({
      scope: 'openid users:read',
      aud: [`${ISS()}/api`, `${ISS()}/oidc/userinfo`],
    })
    await setUserRoles(platformCtx(tenant), user.id, { roles: [] })
    expect((await given()).scope).toBe('openid')
  })
})

describe('resource (RFC 8707)', () => {
  test('narrows the audience of the access token', async () => {
    const { answer } = await visit({ prompt: 'none', resource: `${ISS()}/api` })
    const { body } = await exchange(provider, tenant, client, answer?.code as string)
    expect(decodeJwt(body.access_token as string).aud).toEqual([`${ISS()}/api`, `${ISS()}/oidc/userinfo`])
    expect((await visit({ resource: 'https://elsewhere.example' })).answer).toMatchObject({
      error: 'invalid_target',
    })
  })
})

test("the tenant's loginUrl replaces the start of the sign-in and leads back to it", async () => {
  const other = await newTenant()
  const theirs = await makeClient(other)
  await updateSettings(platformCtx(other), { loginUrl: 'https://start.example.com/in?a=1' })
  const by = visitor()
  const response = await by.fetch(authorizePath(other, theirs))
  const location = new URL(response.headers.get('location') as string)
  expect(location.origin + location.pathname).toBe('https://start.example.com/in')
  const { a, continue: hosted = '' } = Object.fromEntries(location.searchParams)
  expect(a).toBe('1')
  expect(hosted).toMatch(new RegExp(`^http://localhost:3000/${other}/signin/[\\w-]{43}$`))
  expect((await by.fetch(new URL(hosted).pathname)).status).toBe(200)
})

test('forged forwarding headers change nothing in what the provider says of itself (security row 19)', async () => {
  const headers = {
    host: 'evil.example',
    'x-forwarded-host': 'evil.example',
    'x-forwarded-proto': 'https',
    forwarded: 'host=evil.example',
  }
  const response = await browser.fetch(authorizePath(tenant, client, { prompt: 'none' }), { headers })
  expect(answerIn(response.headers.get('location')).iss).toBe(ISS())
})

test('a fault names a parameter in letters that an error_description may have (RFC 6749, section 5.2)', async () => {
  const response = await browser.fetch(`${authorizePath(tenant, client)}&%22%C3%A9%0A=1&%22%C3%A9%0A=2`)
  expect(answerIn(response.headers.get('location')).error_description).toBe('Repeated parameters: ???.')
})

test.each(['x:99999', '%%%', '[', ''])(
  'a Host header of %j is no concern of the provider (security row 44)',
  async (host) => {
    const { hostname, port } = new URL(provider.origin)
    const path = authorizePath(tenant, client, { prompt: 'none' })
    const answer = await new Promise<string>((resolve) => {
      const socket = connect(Number(port), hostname, () => {
        // Not ended: the server takes a half-closed connection for one that nobody waits at.
        socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
      })
      let text = ''
      socket.on('data', (chunk) => (text += chunk))
      socket.on('close', () => resolve(text))
    })
    expect(answer).toMatch(/^HTTP\/1\.1 303 /)
    expect(answer).toContain('error=login_required')
  },
)
