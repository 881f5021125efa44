import { connect } from 'node:net'
import { decodeJwt } from 'jose'
import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../../src/context/context.ts'
import { updateSettings } from '../../../src/tenants/settings.ts'
import { setUserRoles } from '../../../src/users/roles.ts'
import { newTenant } from '../../support/actors.ts'
import { dbFor } from '../../support/database.ts'
import { answerIn, authorizePath, makeClient, REDIRECT_URI } from '../../support/protocol.ts'
import { ageSignIn } from '../../support/sign-in-age.ts'
import { test as base } from '../../support/signed-in.ts'

/** With authorize requests of a user who is signed in. */
const test = base
  .extend('issuer', { scope: 'file' }, ({ tenant }) => `http://localhost:3000/${tenant}`)
  .extend(
    'visit',
    { scope: 'file' },
    ({ client, oidc, signedIn }) =>
      async (more: Record<string, string | null>, by = signedIn, of = client) => {
        const response = await by.fetch(oidc.authorizePath(more, of))
        const location = response.headers.get('location')
        return { response, location, answer: location?.startsWith(REDIRECT_URI) ? answerIn(location) : null }
      },
  )
  .extend(
    'isHosted',
    { scope: 'file' },
    ({ tenant }) =>
      (location: string | null) =>
        new RegExp(`^/${tenant}/signin/[\\w-]{43,}$`).test(location ?? ''),
  )
  .extend(
    'form',
    { scope: 'file' },
    ({ app, oidc }) =>
      (more: Record<string, string | null> = {}) =>
        Object.fromEntries(new URL(oidc.authorizePath(more), app.origin).searchParams),
  )
  .extend(
    'path',
    { scope: 'file' },
    ({ tenant }) =>
      () =>
        `/${tenant}/oidc/authorize`,
  )

describe('an invalid authorize request', () => {
  test.for<[string, Record<string, string | null>]>([
    ['an unknown client', { client_id: 'client_unknown' }],
    ['no client', { client_id: null }],
    ['an unregistered redirect_uri', { redirect_uri: 'https://evil.example/cb' }],
    ['no redirect_uri', { redirect_uri: null }],
    ['U+0000', { state: '\u0000' }],
    ['U+0000 in the client_id', { client_id: 'a\u0000' }],
  ])(
    'with %s shows a page without a redirect (RFC 6749, section 4.1.2.1)',
    async ([_name, more], { visit }) => {
      const { response, location } = await visit(more)
      expect([response.status, location]).toEqual([400, null])
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
      // In development, the page names the URL to the developer.
      expect(await response.text()).not.toMatch(/="[^"]*evil\.example/)
    },
  )

  test('with a client of another tenant shows a page', async ({ signedIn, visit }) => {
    const elsewhere = await makeClient(await newTenant())
    expect((await visit({}, signedIn, elsewhere)).response.status).toBe(400)
  })

  test('with a valid client and redirect_uri redirects with error, state and iss (RFC 9207)', async ({
    issuer,
    visit,
  }) => {
    const { response, answer } = await visit({ scope: 'users:write' })
    expect(response.status).toBe(303)
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('referrer-policy')).toBe('no-referrer')
    expect(answer).toEqual({
      error: 'invalid_scope',
      error_description: 'The client may request none of these scopes.',
      state: 'a-state',
      iss: issuer,
    })
  })

  test('is answered 404 at an unknown tenant and 405 for another method', async ({ app, oidc, signedIn }) => {
    const unknown = await signedIn.fetch('/unknown-tenant/oidc/authorize')
    expect([unknown.status, await unknown.text()]).toEqual([
      404,
      expect.stringContaining('No such tenant at this address.'),
    ])
    const token = await fetch(`${app.origin}/unknown-tenant/oidc/token`, { method: 'POST' })
    expect(await token.json()).toMatchObject({ error_description: 'No such tenant at this address.' })
    const response = await signedIn.fetch(oidc.authorizePath(), { method: 'DELETE' })
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, POST'])
  })
})

describe('prompt and max_age (OIDC Core, section 3.1.2.1)', () => {
  test('none returns a code with a session and login_required without one', async ({
    newBrowser,
    issuer,
    visit,
  }) => {
    expect((await visit({ prompt: 'none' })).answer).toEqual({
      code: expect.any(String),
      state: 'a-state',
      iss: issuer,
    })
    expect((await visit({ prompt: 'none' }, newBrowser())).answer).toMatchObject({
      error: 'login_required',
      state: 'a-state',
    })
  })

  test('login shows the sign-in despite a session and updates auth_time', async ({
    tenant,
    newBrowser,
    oidc,
    user,
    visit,
    isHosted,
  }) => {
    const by = newBrowser()
    await dbFor(tenant).passcode.deleteMany({ where: { tenantId: tenant } })
    await oidc.signIn(by, user.email)
    await ageSignIn(tenant, { userId: user.id }, 100)
    expect((await visit({ max_age: '1000' }, by)).answer).toHaveProperty('code')
    expect(isHosted((await visit({ max_age: '99' }, by)).location)).toBe(true)
    expect((await visit({ max_age: '99', prompt: 'none' }, by)).answer).toMatchObject({
      error: 'login_required',
    })
    await dbFor(tenant).passcode.deleteMany({ where: { tenantId: tenant } })
    const before = by.sessionToken
    const { location } = await oidc.signIn(by, user.email, { prompt: 'login', max_age: '99' })
    const { body } = await oidc.exchange(answerIn(location).code as string)
    expect(decodeJwt(body.id_token as string).auth_time).toBeGreaterThan(Date.now() / 1000 - 60)
    expect(by.sessionToken).not.toBe(before)
  })

  test('select_account redirects to the hosted pages', async ({ visit, isHosted }) => {
    expect(isHosted((await visit({ prompt: 'select_account' })).location)).toBe(true)
  })

  test('prompt=none with an id_token_hint of another user returns login_required', async ({
    newPerson,
    newBrowser,
    oidc,
    visit,
    isHosted,
  }) => {
    const { answer } = await visit({ prompt: 'none' })
    const { body } = await oidc.exchange(answer?.code as string)
    const hint = body.id_token as string
    expect((await visit({ prompt: 'none', id_token_hint: hint })).answer).toHaveProperty('code')
    const other = await newPerson()
    const otherBrowser = newBrowser()
    await oidc.signIn(otherBrowser, other.email)
    expect((await visit({ prompt: 'none', id_token_hint: hint }, otherBrowser)).answer).toMatchObject({
      error: 'login_required',
    })
    expect(isHosted((await visit({ id_token_hint: hint }, otherBrowser)).location)).toBe(true)
    expect((await visit({ id_token_hint: `${hint}x` })).answer).toMatchObject({ error: 'invalid_request' })
  })
})

describe('POST authorize', () => {
  test('without cookies redirects to a hosted page, where the cookies of the browser apply', async ({
    newBrowser,
    signedIn,
    isHosted,
    form,
    path,
  }) => {
    const { cookies } = signedIn
    const other = newBrowser()
    const response = await other.post(path(), form())
    expect(response.status).toBe(303)
    expect(response.headers.getSetCookie()).toEqual([])
    const location = response.headers.get('location') as string
    expect(isHosted(location)).toBe(true)
    const same = newBrowser()
    for (const [name, value] of cookies) same.cookies.set(name, value)
    expect(answerIn((await same.open(location)).location)).toMatchObject({
      code: expect.any(String),
      state: 'a-state',
    })
  })

  test('is bound to the first browser that opens its page', async ({ newBrowser, form, path }) => {
    const location = (await newBrowser().post(path(), form())).headers.get('location') as string
    const [first, second] = [newBrowser(), newBrowser()]
    expect((await first.fetch(location)).status).toBe(200)
    expect((await second.fetch(location)).status).toBe(410)
    expect((await first.fetch(location)).status).toBe(200)
  })

  test('returns errors as GET does', async ({ newBrowser, form, path }) => {
    expect((await newBrowser().post(path(), form({ redirect_uri: 'https://evil.example' }))).status).toBe(400)
    const response = await newBrowser().post(path(), form({ response_type: 'token' }))
    expect(answerIn(response.headers.get('location'))).toMatchObject({
      error: 'unsupported_response_type',
      state: 'a-state',
    })
    const json = await newBrowser().fetch(path(), {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json' },
    })
    expect(json.status).toBe(400)
  })

  test('with prompt=none and no session returns login_required', async ({ newBrowser, form, path }) => {
    const by = newBrowser()
    const { location } = await by.follow(await by.post(path(), form({ prompt: 'none' })))
    expect(answerIn(location)).toMatchObject({ error: 'login_required' })
  })
})

describe('scopes', () => {
  test('of the management surface require both the client and the role of the user', async ({
    tenant,
    newClient,
    oidc,
    issuer,
    user,
    signedIn,
    visit,
  }) => {
    const scope = 'openid users:read users:write clients:write'
    const admin = await newClient({ scopes: ['users:read', 'users:write', 'events:read'] })
    const given = async () => {
      const { answer } = await visit({ prompt: 'none', scope }, signedIn, admin)
      return (await oidc.exchange(answer?.code as string, {}, admin)).body
    }
    expect((await given()).scope).toBe('openid')
    await setUserRoles(createPlatformCtx(tenant), user.id, { roles: ['auditor'] })
    const body = await given()
    expect(body.scope).toBe('openid users:read')
    expect(decodeJwt(body.access_token as string)).toMatchObject({
      scope: 'openid users:read',
      aud: [`${issuer}/api`, `${issuer}/oidc/userinfo`],
    })
    await setUserRoles(createPlatformCtx(tenant), user.id, { roles: [] })
    expect((await given()).scope).toBe('openid')
  })
})

describe('resource (RFC 8707)', () => {
  test('makes no token for the management API without a scope for it', async ({ oidc, issuer, visit }) => {
    const { answer } = await visit({ prompt: 'none', resource: `${issuer}/api` })
    const { body } = await oidc.exchange(answer?.code as string)
    expect(decodeJwt(body.access_token as string).aud).toBe(`${issuer}/oidc/userinfo`)
    expect((await visit({ resource: 'https://elsewhere.example' })).answer).toMatchObject({
      error: 'invalid_target',
    })
  })
})

test('the authorization endpoint redirects to loginUrl of the tenant with the hosted page in continue', async ({
  newBrowser,
}) => {
  const other = await newTenant()
  const theirs = await makeClient(other)
  await updateSettings(createPlatformCtx(other), { loginUrl: 'https://start.example.com/in?a=1' })
  const by = newBrowser()
  const response = await by.fetch(authorizePath(other, theirs))
  const location = new URL(response.headers.get('location') as string)
  expect(location.origin + location.pathname).toBe('https://start.example.com/in')
  const { a, continue: hosted = '' } = Object.fromEntries(location.searchParams)
  expect(a).toBe('1')
  expect(hosted).toMatch(new RegExp(`^http://localhost:3000/${other}/signin/[\\w-]{43}-client_\\w{26}$`))
  expect((await by.fetch(new URL(hosted).pathname)).status).toBe(200)
})

test('forged forwarding headers do not change the issuer', async ({ oidc, issuer, signedIn }) => {
  const headers = {
    host: 'evil.example',
    'x-forwarded-host': 'evil.example',
    'x-forwarded-proto': 'https',
    forwarded: 'host=evil.example',
  }
  const response = await signedIn.fetch(oidc.authorizePath({ prompt: 'none' }), { headers })
  expect(answerIn(response.headers.get('location')).iss).toBe(issuer)
})

test('error_description names a repeated parameter of the standards, and no other', async ({
  oidc,
  signedIn,
}) => {
  const describe = async (repeated: string) => {
    const response = await signedIn.fetch(`${oidc.authorizePath()}&${repeated}`)
    return answerIn(response.headers.get('location')).error_description
  }
  expect(await describe('Call%20555=1&Call%20555=2')).toBe('A parameter is repeated.')
  expect(await describe('nonce=1&nonce=2&x=1&x=2')).toBe('Repeated parameters: nonce.')
  expect(await describe('prompt=Call+555')).not.toContain('555')
})

test.for(['x:99999', '%%%', '[', ''])(
  'a request with the Host header %j is answered as usual',
  async (host, { app, oidc }) => {
    const { hostname, port } = new URL(app.origin)
    const path = oidc.authorizePath({ prompt: 'none' })
    const answer = await new Promise<string>((resolve) => {
      const socket = connect(Number(port), hostname, () => {
        // Not ended: the server drops the response of a half-closed connection.
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
