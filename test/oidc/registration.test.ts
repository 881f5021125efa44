import { exportJWK, generateKeyPair } from 'jose'
import * as oidc from 'openid-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../support/process.ts'

// The issuer must be where the provider listens: the environment is read with the first import of src.
const port = await freePort()
process.env.BASE_URL = `http://localhost:${port}`
process.env.PORT = String(port)
const { updateClient } = await import('../../src/clients/client-changes.ts')
const { platformCtx } = await import('../../src/ctx.ts')
const { dbFor } = await import('../../src/db.ts')
const { createRegistrationToken, revokeRegistrationToken } = await import(
  '../../src/registration/registration-tokens.ts'
)
const { updateSettings } = await import('../../src/tenants/settings.ts')
const { newTenant, tokenFor } = await import('../support/actors.ts')
const { startApp } = await import('../support/app.ts')
const { logOf } = await import('../support/events.ts')
const { Browser, basic, csrfIn, makeUser, REDIRECT_URI, signInAt } = await import('./provider.ts')

// biome-ignore lint/suspicious/noExplicitAny: what a test asks for decides the shape
type Any = any
let app: Awaited<ReturnType<typeof startApp>>
let tenant: string
const insecure = { execute: [oidc.allowInsecureRequests] }
const issuerUrl = (of = tenant) => new URL(`http://localhost:${port}/${of}`)

const newOpenTenant = async () => {
  const slug = await newTenant()
  await updateSettings(platformCtx(slug), { dynamicRegistration: true })
  return slug
}
const newToken = async (input: object = { uses: null }, of = tenant) =>
  (await createRegistrationToken(platformCtx(of), input)).token

async function call(method: string, path: string, token: string | null, body?: unknown, of = tenant) {
  const response = await app.fetch(`/${of}/oidc/register${path}`, {
    method,
    headers: {
      ...(token !== null && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: (text ? JSON.parse(text) : null) as Any }
}
const register = async (metadata: unknown, of = tenant) =>
  call('POST', '', await newToken({ uses: null }, of), metadata, of)
const WEB = { redirect_uris: [REDIRECT_URI] }
const clientsOf = (of: string) => dbFor(of).client.findMany({ where: { tenantId: of } })

beforeAll(async () => {
  app = await startApp()
  tenant = await newOpenTenant()
  await tokenFor(tenant)
})
afterAll(() => app.close())

describe('openid-client registers itself, then signs a person in', () => {
  test.each([
    ['client_secret_basic', {}, undefined],
    ['client_secret_post', { token_endpoint_auth_method: 'client_secret_post' }, undefined],
    ['none', { token_endpoint_auth_method: 'none' }, oidc.None()],
  ])('%s', async (method, more, authentication) => {
    const email = `${method.replaceAll('_', '-')}@example.com`
    const user = await makeUser(tenant, email, { name: 'Ada Lovelace' })
    const config = await oidc.dynamicClientRegistration(
      issuerUrl(),
      { redirect_uris: [REDIRECT_URI], client_name: 'Newcomer', ...more },
      authentication,
      { initialAccessToken: await newToken(), ...insecure },
    )
    const checks = {
      pkceCodeVerifier: oidc.randomPKCECodeVerifier(),
      expectedState: oidc.randomState(),
      expectedNonce: oidc.randomNonce(),
    }
    const url = oidc.buildAuthorizationUrl(config, {
      redirect_uri: REDIRECT_URI,
      scope: 'openid email users:read',
      state: checks.expectedState,
      nonce: checks.expectedNonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(checks.pkceCodeVerifier),
      code_challenge_method: 'S256',
    })
    const browser = new Browser(app)
    const asked = await signInAt(browser, url.pathname + url.search, email)
    const html = await asked.response.text()
    expect(html).toContain('Allow')
    expect(html).toContain('Newcomer')
    const { location } = await browser.submit({ html, path: asked.path }, { step: 'allow' })
    expect(csrfIn(html)).toBeTruthy()
    const tokens = await oidc.authorizationCodeGrant(config, new URL(location as string), {
      ...checks,
      idTokenExpected: true,
    })
    expect(tokens.claims()).toMatchObject({ sub: user.id, aud: config.clientMetadata().client_id })
    expect(tokens.scope).toBe('openid email')
    expect(await oidc.fetchUserInfo(config, tokens.access_token, user.id)).toMatchObject({ email })
  })
})

describe('RFC 7591, section 3: the registration endpoint', () => {
  test('is neither there nor advertised while the tenant has not turned it on', async () => {
    const closed = await newTenant()
    const metadata = async (of: string) =>
      (await (await app.fetch(`/${of}/.well-known/openid-configuration`)).json()) as Any
    expect(await metadata(closed)).not.toHaveProperty('registration_endpoint')
    expect((await metadata(tenant)).registration_endpoint).toBe(`${issuerUrl().href}/oidc/register`)
    expect((await call('POST', '', await newToken({}, closed), WEB, closed)).status).toBe(404)
    const registered = await newOpenTenant()
    const { body } = await register(WEB, registered)
    await updateSettings(platformCtx(registered), { dynamicRegistration: false })
    await expect
      .poll(
        async () =>
          (
            await call(
              'GET',
              `/${body.client_id}`,
              body.registration_access_token as string,
              undefined,
              registered,
            )
          ).status,
      )
      .toBe(404)
  })

  test('takes an initial access token: no other token, none that is used up, revoked, expired or of another tenant', async () => {
    const other = await newOpenTenant()
    const spent = await newToken({})
    expect((await call('POST', '', spent, WEB)).status).toBe(201)
    const revoked = await createRegistrationToken(platformCtx(tenant), {})
    await revokeRegistrationToken(platformCtx(tenant), revoked.registrationToken.id)
    const expired = await createRegistrationToken(platformCtx(tenant), {}, new Date(Date.now() - 90_000_000))
    const before = await clientsOf(tenant)
    const missing = await call('POST', '', null, WEB)
    expect(missing).toMatchObject({ status: 401, body: { error: 'invalid_token' } })
    expect(missing.headers.get('www-authenticate')).toBe(`Bearer realm="${issuerUrl().href}"`)
    for (const token of [
      'x',
      spent,
      revoked.token,
      expired.token,
      await newToken({}, other),
      await tokenFor(tenant),
    ]) {
      const answer = await call('POST', '', token, WEB)
      expect(answer).toMatchObject({ status: 401, body: { error: 'invalid_token' } })
      expect(answer.headers.get('www-authenticate')).toContain('error="invalid_token"')
    }
    expect(await clientsOf(tenant)).toEqual(before)
  })

  test('a token for one lets one of fifty in that come at once', async () => {
    const slug = await newOpenTenant()
    const token = await newToken({ uses: 1 }, slug)
    const answers = await Promise.all(Array.from({ length: 50 }, () => call('POST', '', token, WEB, slug)))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(49).fill(401)])
    expect(await clientsOf(slug)).toHaveLength(1)
  })

  test('metadata that is refused costs no use', async () => {
    const token = await newToken({ uses: 1 })
    expect((await call('POST', '', token, {})).status).toBe(400)
    expect((await call('POST', '', token, WEB)).status).toBe(201)
  })

  test('section 3.2.1: answers all that was registered, and what the server chose', async () => {
    const jwk = await exportJWK((await generateKeyPair('ES256')).publicKey)
    const metadata = {
      client_name: 'Shop',
      redirect_uris: [REDIRECT_URI, 'http://localhost:8080/cb'],
      logo_uri: 'https://rp.example.com/logo.png',
      post_logout_redirect_uris: ['https://rp.example.com/bye'],
      initiate_login_uri: 'https://rp.example.com/start',
      backchannel_logout_uri: 'https://rp.example.com/logout',
      jwks: { keys: [jwk] },
      id_token_signed_response_alg: 'RS256',
      userinfo_signed_response_alg: 'ES384',
      require_pushed_authorization_requests: true,
      token_endpoint_auth_method: 'private_key_jwt',
    }
    const { status, headers, body } = await register({
      ...metadata,
      scope: 'openid users:write tenants:write',
      contacts: ['ada@example.com'],
      tos_uri: 'https://rp.example.com/terms',
      default_max_age: 60,
      unheard_of: { of: 'x' },
      grant_types: ['authorization_code'],
      scopes: ['users:write'],
      allTenants: true,
      requireConsent: false,
    })
    expect(status).toBe(201)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(body).toEqual({
      ...metadata,
      client_id: expect.stringMatching(/^client_/),
      client_id_issued_at: expect.any(Number),
      registration_access_token: expect.stringMatching(/^[\w-]{43}$/),
      registration_client_uri: `${issuerUrl().href}/oidc/register/${body.client_id}`,
      application_type: 'web',
      grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
      response_types: ['code'],
      subject_type: 'public',
      scope: 'openid profile email phone address offline_access session account',
      backchannel_logout_session_required: true,
    })
    const row = (await clientsOf(tenant)).find(({ id }) => id === body.client_id)
    expect(row).toMatchObject({
      appType: 'web',
      requireConsent: true,
      registeredBy: 'registration',
      scopes: [],
      allTenants: false,
    })
  })

  test.each([
    ['a secret by default', {}, 'web', 'client_secret_basic', true],
    ['no secret in a browser', { token_endpoint_auth_method: 'none' }, 'single-page', 'none', false],
    ['native applications', { application_type: 'native' }, 'native', 'none', false],
    [
      'what is answered on the device alone',
      { token_endpoint_auth_method: 'none', redirect_uris: ['http://127.0.0.1/cb', 'com.example.app:/cb'] },
      'native',
      'none',
      false,
    ],
  ])('%s', async (_title, more, appType, method, hasSecret) => {
    const { status, body } = await register({ ...WEB, ...more })
    expect(status).toBe(201)
    expect(body.token_endpoint_auth_method).toBe(method)
    expect(body.client_name).toMatch(/^(rp\.example\.com|127\.0\.0\.1)$/)
    expect([body.client_secret !== undefined, body.client_secret_expires_at]).toEqual(
      hasSecret ? [true, 0] : [false, undefined],
    )
    const row = (await clientsOf(tenant)).find(({ id }) => id === body.client_id)
    expect(row?.appType).toBe(appType)
    expect(row?.allowedOrigins).toEqual(appType === 'single-page' ? ['https://rp.example.com'] : [])
  })

  test('section 3.2.2: names all faults at once, by the names of the metadata', async () => {
    const { status, body } = await register({
      redirect_uris: ['javascript:alert(1)', 'https://rp.example.com/*'],
      logo_uri: 'http://evil.example/logo.png',
      jwks_uri: 'http://169.254.169.254/latest/meta-data',
      jwks: { keys: [{ kty: 'oct', k: 'AA' }] },
      grant_types: ['client_credentials'],
      response_types: ['token'],
      id_token_signed_response_alg: 'none',
      backchannel_logout_uri: 'ftp://rp.example.com',
      subject_type: 'pairwise',
      client_name: 7,
    })
    expect([status, body.error]).toEqual([400, 'invalid_client_metadata'])
    for (const name of [
      'redirect_uris.0',
      'redirect_uris.1',
      'logo_uri',
      'jwks_uri is not fetched',
      'jwks.keys.0',
      'grant_types.0',
      'response_types.0',
      'id_token_signed_response_alg',
      'backchannel_logout_uri',
      'subject_type',
      'client_name',
    ])
      expect(body.error_description).toContain(name)
    expect((await register({ redirect_uris: ['x'] })).body.error).toBe('invalid_redirect_uri')
    for (const redirect_uris of [undefined, null, [], '', 'https://rp.example.com/cb', [7]])
      expect((await register({ redirect_uris })).body.error).toBe('invalid_redirect_uri')
    for (const metadata of ['{', '[]', 'null', '7'])
      expect((await register(metadata)).body.error).toBe('invalid_client_metadata')
    expect(
      (await register({ ...WEB, application_type: 'native', token_endpoint_auth_method: 'private_key_jwt' }))
        .body.error_description,
    ).toMatch(/token_endpoint_auth_method must be none.*jwks is required/)
  })

  test('security 3, 5, 6: no URL that runs, hides where it leads or is a pattern is registered', async () => {
    const BAD = [
      'javascript:alert(1)',
      'data:text/html,x',
      '//evil.example',
      'https://user:password@evil.example/',
      'https://rp.example.com/cb#fragment',
      'https://*.example.com/cb',
      'https://rp.example.com\\@evil.example',
      ' https://rp.example.com/cb',
    ]
    for (const bad of BAD) {
      for (const member of ['redirect_uris', 'post_logout_redirect_uris'])
        expect([bad, (await register({ ...WEB, [member]: [bad] })).status]).toEqual([bad, 400])
      for (const member of ['logo_uri', 'initiate_login_uri', 'backchannel_logout_uri'])
        if (!bad.includes('*'))
          expect([bad, member, (await register({ ...WEB, [member]: bad })).status]).toEqual([
            bad,
            member,
            400,
          ])
    }
  })

  test('security 64: registration gives no management scope, whatever it asks for, and no client_credentials', async () => {
    const { body } = await register({ ...WEB, scope: 'openid users:read users:write clients:write' })
    expect(body.scope).not.toContain(':')
    const answer = await fetch(`${issuerUrl().href}/oidc/token`, {
      method: 'POST',
      headers: { authorization: basic({ id: body.client_id, secret: body.client_secret }) },
      body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'users:read' }),
    })
    expect(answer.status).toBe(400)
    // Its own token is one for its registration, and for nothing else.
    const asCaller = await app.rest(tenant, body.registration_access_token as string, 'GET', '/clients')
    expect(asCaller.status).toBe(401)
  })

  test('the log tells which token let it in, and no secret', async () => {
    const slug = await newOpenTenant()
    const { registrationToken, token } = await createRegistrationToken(platformCtx(slug), { note: 'Partner' })
    const { body } = await call('POST', '', token, WEB, slug)
    const path = `/${body.client_id}`
    const own = body.registration_access_token as string
    const put = { ...WEB, client_id: body.client_id, client_name: 'Renamed' }
    expect((await call('PUT', path, own, put, slug)).status).toBe(200)
    expect((await call('DELETE', path, own, undefined, slug)).status).toBe(204)
    const log = await logOf(slug)
    const by = { detail: { by: 'registration' } }
    expect(log.slice(-4)).toMatchObject([
      { type: 'registration_token.created', subjectIds: [registrationToken.id] },
      { type: 'client.created', subjectIds: [body.client_id, registrationToken.id], ...by, ip: '127.0.0.1' },
      { type: 'client.updated', changedFields: ['name'], actorClientId: body.client_id, ...by },
      { type: 'client.deleted', subjectIds: [body.client_id], ...by },
    ])
    for (const secret of [token, own, body.client_secret]) expect(JSON.stringify(log)).not.toContain(secret)
  })
})

describe('RFC 7592, section 2: a registered client manages itself', () => {
  test('it reads, replaces and deletes what it registered', async () => {
    const { body: made } = await register({ ...WEB, logo_uri: 'https://rp.example.com/l.png' })
    const path = `/${made.client_id}`
    const own = made.registration_access_token as string
    const { client_secret, client_secret_expires_at: _, ...shown } = made
    expect(await call('GET', path, own)).toMatchObject({ status: 200, body: shown })
    expect((await call('GET', path, own)).body).not.toHaveProperty('client_secret')

    const { status, body } = await call('PUT', path, own, {
      client_id: made.client_id,
      client_secret,
      client_name: 'Renamed',
      redirect_uris: ['https://rp.example.com/other'],
    })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      client_name: 'Renamed',
      redirect_uris: ['https://rp.example.com/other'],
      registration_access_token: own,
    })
    expect(body).not.toHaveProperty('logo_uri')
    expect((await clientsOf(tenant)).find(({ id }) => id === made.client_id)).toMatchObject({
      logoUrl: null,
      requireConsent: true,
      callbacks: ['https://rp.example.com/other'],
    })

    expect((await call('DELETE', path, own)).status).toBe(204)
    await expect.poll(async () => (await call('GET', path, own)).status).toBe(401)
  })

  test('section 2.2: what identifies it, and what the server sets, is not replaced; all faults are named', async () => {
    const { body: made } = await register(WEB)
    const answer = await call('PUT', `/${made.client_id}`, made.registration_access_token as string, {
      client_id: 'client_other',
      client_secret: 'guessed',
      redirect_uris: ['javascript:x'],
      token_endpoint_auth_method: 'none',
      registration_access_token: 'x',
      registration_client_uri: 'https://x.example',
      client_id_issued_at: 1,
      client_secret_expires_at: 0,
    })
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_client_metadata' } })
    for (const name of [
      'client_id must',
      'client_secret must',
      'redirect_uris.0',
      'token_endpoint_auth_method cannot',
      'registration_access_token is set',
      'registration_client_uri is set',
      'client_id_issued_at is set',
      'client_secret_expires_at is set',
    ])
      expect(answer.body.error_description).toContain(name)
    expect((await clientsOf(tenant)).find(({ id }) => id === made.client_id)?.callbacks).toEqual([
      REDIRECT_URI,
    ])
  })

  test('security 64: it takes the token of this very client; others are 401, the same for clients that there are not', async () => {
    const [{ body: one }, { body: other }] = [await register(WEB), await register(WEB)]
    const administered = await app.rest(tenant, await tokenFor(tenant), 'POST', '/clients', {
      name: 'Ours',
      appType: 'web',
      type: 'login',
    })
    const attempts: [unknown, string | null][] = [
      [one.client_id, other.registration_access_token],
      [one.client_id, await newToken()],
      [one.client_id, await tokenFor(tenant)],
      [one.client_id, one.client_secret],
      [one.client_id, one.registration_access_token.slice(0, -1)],
      [administered.body.id, one.registration_access_token],
      ['client_01m7xeb1sbendby702xerkqv3p', one.registration_access_token],
      ['nobody', one.registration_access_token],
    ]
    const before = await clientsOf(tenant)
    const answers = new Set<string>()
    for (const [id, token] of attempts)
      for (const method of ['GET', 'PUT', 'DELETE']) {
        const { status, headers, body } = await call(
          method,
          `/${id}`,
          token,
          method === 'PUT' ? { ...WEB, client_id: id } : undefined,
        )
        answers.add(JSON.stringify([status, headers.get('www-authenticate'), body]))
      }
    expect(answers.size).toBe(1)
    expect([...answers][0]).toContain('[401,')
    expect(await clientsOf(tenant)).toEqual(before)
  })

  test('security 64: once an administrator gave it management scopes, it cannot move its callbacks any more', async () => {
    const { body: made } = await register(WEB)
    const id = made.client_id as string
    await updateClient(platformCtx(tenant), id, { scopes: ['users:write'] })
    const moved = { client_id: id, redirect_uris: ['https://evil.example/cb'] }
    const answer = await call('PUT', `/${id}`, made.registration_access_token as string, moved)
    expect(answer.status).toBe(403)
    expect((await clientsOf(tenant)).find((client) => client.id === id)?.callbacks).toEqual([REDIRECT_URI])
  })

  test('administrators see who registered it, on both surfaces, and cannot say otherwise', async () => {
    const { body: made } = await register(WEB)
    const id = made.client_id as string
    const token = await tokenFor(tenant)
    const read = await app.rest(tenant, token, 'GET', `/clients/${id}`)
    expect(read.body.registeredBy).toBe('registration')
    expect(JSON.stringify(read.body)).not.toMatch(/hash|registrationToken/i)
    const { body } = await app.gql(tenant, token, `{ client(id: "${id}") { registeredBy } }`)
    expect(body.data).toEqual({ client: { registeredBy: 'REGISTRATION' } })
    const patch = (registeredBy: string) =>
      app.rest(tenant, token, 'PATCH', `/clients/${id}`, { registeredBy })
    expect((await patch('administrator')).status).toBe(400)
    expect((await patch('registration')).status).toBe(200)
  })
})
