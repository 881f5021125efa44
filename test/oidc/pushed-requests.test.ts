import { exportJWK, generateKeyPair } from 'jose'
import * as oidc from 'openid-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort, startServer } from '../support/process.ts'

// The issuer must be where the provider listens: the environment is read with the first import of src.
const port = await freePort()
process.env.BASE_URL = `http://localhost:${port}`
process.env.PORT = String(port)
const { deleteClient, updateClient } = await import('../../src/clients/client-changes.ts')
const { sha256 } = await import('../../src/crypto.ts')
const { platformCtx } = await import('../../src/ctx.ts')
const { dbFor } = await import('../../src/db.ts')
const { newTenant } = await import('../support/actors.ts')
const { startApp } = await import('../support/app.ts')
const { alterationsOf } = await import('../support/attacks.ts')
const { leastStatements } = await import('../support/statements.ts')
const { basic, answerIn, authorizePath, Browser, exchange, makeClient, makeUser, REDIRECT_URI, signInAt } =
  await import('./provider.ts')

type TestClient = Awaited<ReturnType<typeof makeClient>>
type Form = Record<string, string | null>

let app: Awaited<ReturnType<typeof startApp>>
let tenant: string
let client: TestClient
let other: TestClient
let spa: TestClient
let signedIn: InstanceType<typeof Browser>
const SPA_ORIGIN = 'https://spa.example.com'
const PREFIX = 'urn:ietf:params:oauth:request_uri:'

beforeAll(async () => {
  app = await startApp()
  tenant = await newTenant()
  client = await makeClient(tenant)
  other = await makeClient(tenant)
  spa = await makeClient(tenant, { appType: 'single-page', allowedOrigins: [SPA_ORIGIN] })
  await makeUser(tenant, 'ada@example.com')
  signedIn = new Browser(app)
  await signInAt(signedIn, authorizePath(tenant, client), 'ada@example.com')
})
afterAll(() => app.close())

const good = (of: TestClient, more: Form = {}): URLSearchParams =>
  new URLSearchParams(authorizePath(tenant, of, more).split('?')[1])

async function push(
  body: URLSearchParams,
  by: TestClient | null = client,
  { at = tenant, origin = app.origin, headers = {} as Record<string, string> } = {},
) {
  const response = await fetch(`${origin}/${at}/oidc/par`, {
    method: 'POST',
    headers: { ...(by?.secret && { authorization: basic(by) }), ...headers },
    body,
  })
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Record<string, string>,
  }
}
const pushed = async (more: Form = {}, by = client): Promise<string> =>
  (await push(good(by, more), by)).body.request_uri as string
const pathOf = (requestUri: string, of = client, more: Record<string, string> = {}, at = tenant) =>
  `/${at}/oidc/authorize?${new URLSearchParams({ client_id: of.id, request_uri: requestUri, ...more })}`
const interactions = (of = tenant) => dbFor(of).interaction.count({ where: { tenantId: of } })

describe('POST par', () => {
  test('keeps the request and answers what to send the browser with (RFC 9126, section 2.2)', async () => {
    const { status, headers, body } = await push(good(client))
    expect(status).toBe(201)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(body).toEqual({
      request_uri: expect.stringMatching(/^urn:ietf:params:oauth:request_uri:[A-Za-z0-9_-]{43}$/),
      expires_in: 90,
    })
  })

  test('stores the hash of the reference alone, and no credential', async () => {
    const form = good(client)
    form.set('client_secret', client.secret)
    const { body } = await push(form, null)
    const reference = (body.request_uri as string).slice(PREFIX.length)
    const rows = await dbFor(tenant).pushedRequest.findMany({ where: { tenantId: tenant } })
    const row = rows.find(({ requestHash }) => sha256(reference).equals(requestHash))
    expect(row?.parameters).toContainEqual(['redirect_uri', REDIRECT_URI])
    const text = JSON.stringify(rows)
    expect(text).not.toContain(reference)
    expect(text).not.toContain(client.secret)
  })

  test.each<[string, Form, string]>([
    ['an unregistered redirect_uri', { redirect_uri: 'https://evil.example/cb' }, 'invalid_request'],
    ['no redirect_uri', { redirect_uri: null }, 'invalid_request'],
    ['no response_type', { response_type: null }, 'invalid_request'],
    ['response_type=token', { response_type: 'token' }, 'unsupported_response_type'],
    ['a scope without openid', { scope: 'email' }, 'invalid_scope'],
    ['PKCE plain', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['prompt=none login', { prompt: 'none login' }, 'invalid_request'],
    ['an unknown response_mode', { response_mode: 'fragment' }, 'invalid_request'],
    ['a resource of nobody', { resource: 'https://nobody.example' }, 'invalid_target'],
    ['an id_token_hint that is none', { id_token_hint: 'e30.e30.e30' }, 'invalid_request'],
    ['a request object', { request: 'e30.e30.' }, 'request_not_supported'],
    ['a request_uri', { request_uri: 'https://rp.example.com/r' }, 'invalid_request'],
    ['a request_uri of ours', { request_uri: `${PREFIX}x` }, 'invalid_request'],
    ['U+0000', { state: 'a\u0000' }, 'invalid_request'],
  ])('with %s answers as authorize would, in JSON (RFC 9126, section 2.3)', async (_name, more, error) => {
    const { status, headers, body } = await push(good(client, more))
    expect([status, headers.get('content-type')]).toEqual([400, 'application/json'])
    expect(body).toEqual({ error, error_description: expect.any(String) })
  })

  test('refuses repeated parameters, and another media type', async () => {
    const twice = good(client)
    twice.append('scope', 'openid')
    expect(await push(twice)).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
    const json = { headers: { 'content-type': 'application/json' } }
    expect(await push(good(client), client, json)).toMatchObject({
      status: 400,
      body: { error: 'invalid_request' },
    })
  })

  test('authenticates the client as at the token endpoint (RFC 9126, section 2)', async () => {
    const invalid = { status: 401, body: { error: 'invalid_client' } }
    expect(await push(good(client), { ...client, secret: 'wrong' })).toMatchObject(invalid)
    expect(await push(good(client), null)).toMatchObject(invalid)
    expect(await push(good({ ...client, id: 'nobody' }), null)).toMatchObject(invalid)
    const withSecret = good(spa)
    withSecret.set('client_secret', 'any')
    expect(await push(withSecret, null)).toMatchObject(invalid)
    expect(await push(good(spa), null)).toMatchObject({ status: 201 })
    // Two clients in one request.
    expect(await push(good(other), client)).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
    // What Basic says need not be said again.
    const unnamed = good(client)
    unnamed.delete('client_id')
    expect(await push(unnamed)).toMatchObject({ status: 201 })
  })

  test('of a machine is refused: it signs nobody in', async () => {
    const machine = await makeClient(tenant, { appType: 'machine', callbacks: [] })
    expect((await push(good(machine), machine)).status).toBe(400)
  })

  test('takes POST alone (RFC 9126, section 2.3)', async () => {
    const response = await app.fetch(`/${tenant}/oidc/par`)
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST, OPTIONS'])
  })

  test('answers a preflight and a call of a single-page application on its own origin', async () => {
    const preflight = await app.fetch(`/${tenant}/oidc/par`, {
      method: 'OPTIONS',
      headers: { origin: SPA_ORIGIN, 'access-control-request-method': 'POST' },
    })
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([
      204,
      SPA_ORIGIN,
    ])
    const origins = [SPA_ORIGIN, 'https://evil.example'].map((origin) =>
      push(good(spa), null, { headers: { origin } }),
    )
    expect(
      (await Promise.all(origins)).map(({ headers }) => headers.get('access-control-allow-origin')),
    ).toEqual([SPA_ORIGIN, null])
  })
})

describe('authorize with the request_uri (RFC 9126, section 4)', () => {
  test('is the request that was pushed: what else the URL says does not count', async () => {
    const requestUri = await pushed({ state: 'pushed', scope: 'openid email', prompt: 'none' })
    const path = pathOf(requestUri, client, {
      state: 'in the URL',
      redirect_uri: 'https://evil.example/cb',
      scope: 'openid phone',
      prompt: 'login',
      request: 'e30.e30.',
    })
    const answer = (await signedIn.fetch(path)).headers.get('location') as string
    expect(answer.startsWith(`${REDIRECT_URI}?`)).toBe(true)
    expect(answerIn(answer).state).toBe('pushed')
    const { body } = await exchange(app, tenant, client, answerIn(answer).code as string)
    expect(body.scope).toBe('openid email')
  })

  test('carries several resources, and tells the client of what went wrong later', async () => {
    const form = good(client, { prompt: 'none', state: 's' })
    const api = `http://localhost:${port}/${tenant}/api`
    form.append('resource', api)
    form.append('resource', api)
    const { body } = await push(form)
    const { location } = await new Browser(app).open(pathOf(body.request_uri as string))
    expect(answerIn(location)).toMatchObject({ error: 'login_required', state: 's' })
  })

  test.each([
    ['an unknown one', async () => pathOf(PREFIX + 'A'.repeat(43))],
    ['an empty one', async () => pathOf(PREFIX)],
    ["another client's", async () => pathOf(await pushed({}, other))],
    ['one without a client_id', async () => pathOf(await pushed()).replace(/client_id=[^&]*&/, '')],
    ['one with two client_ids', async () => `${pathOf(await pushed())}&client_id=${other.id}`],
    ["another tenant's", async () => pathOf(await pushed(), client, {}, await newTenant())],
    ['one beside another', async () => `${pathOf(await pushed())}&request_uri=x`],
  ])('with %s stays on our own page, and leaves it for its client', async (_name, path) => {
    const before = await interactions()
    const response = await signedIn.fetch(await path())
    expect([response.status, response.headers.get('location')]).toEqual([400, null])
    expect(await interactions()).toBe(before)
  })

  test('says invalid_request_uri to those who run the client', async () => {
    const path = pathOf(await pushed())
    await signedIn.fetch(path)
    const html = await (await signedIn.fetch(path)).text()
    expect(html).toContain('The request_uri is unknown, expired or used up.')
    const event = await dbFor(tenant).event.findFirst({
      where: { tenantId: tenant, type: 'authorize.refused' },
      orderBy: { seq: 'desc' },
    })
    expect(event?.detail).toMatchObject({
      error: 'invalid_request_uri',
      reason: expect.stringContaining('used before'),
    })
  })

  test('security 26: altered in any way it is refused', async () => {
    const requestUri = await pushed()
    for (const [name, altered] of alterationsOf(requestUri.slice(PREFIX.length))) {
      const response = await signedIn.fetch(pathOf(PREFIX + altered))
      expect([name, response.headers.get('location')]).toEqual([name, null])
    }
    expect((await signedIn.fetch(pathOf(requestUri))).status).toBe(303)
  })

  test('works for 90 s', async () => {
    const requestUri = await pushed()
    const id = { tenantId: tenant, requestHash: sha256(requestUri.slice(PREFIX.length)) }
    const row = await dbFor(tenant).pushedRequest.findUniqueOrThrow({
      where: { tenantId_requestHash: id },
    })
    expect(row.expiresAt.getTime() - row.createdAt.getTime()).toBe(90_000)
    await dbFor(tenant).pushedRequest.update({
      where: { tenantId_requestHash: id },
      data: { expiresAt: new Date(Date.now() - 1) },
    })
    expect((await signedIn.fetch(pathOf(requestUri))).status).toBe(400)
  })

  test('security 23: works once, by whichever door', async () => {
    const doors = {
      GET: (path: string) => signedIn.fetch(path),
      POST: (path: string) =>
        app.fetch(`/${tenant}/oidc/authorize`, {
          method: 'POST',
          body: new URLSearchParams(path.split('?')[1]),
        }),
    }
    for (const first of Object.values(doors))
      for (const second of Object.values(doors)) {
        const path = pathOf(await pushed())
        expect([(await first(path)).status, (await second(path)).status]).toEqual([303, 400])
      }
  })

  test('of a person who reloads the page goes on', async () => {
    const browser = new Browser(app)
    const page = await browser.open(pathOf(await pushed()))
    expect(page.response.status).toBe(200)
    expect((await browser.fetch(page.path)).status).toBe(200)
  })

  test('security 23: of 50 uses at once one gets through, to a code or to a sign-in', async () => {
    const fifty = (browser: InstanceType<typeof Browser>, path: string) =>
      Promise.all(Array.from({ length: 50 }, () => browser.fetch(path)))
    const silent = await fifty(signedIn, pathOf(await pushed({ prompt: 'none' })))
    expect(silent.filter(({ status }) => status === 303)).toHaveLength(1)
    expect(silent.filter(({ status }) => status === 400)).toHaveLength(49)
    const before = await interactions()
    await fifty(new Browser(app), pathOf(await pushed()))
    expect(await interactions()).toBe(before + 1)
  })

  test('of a client that is gone is refused', async () => {
    const gone = await makeClient(tenant)
    const path = pathOf(await pushed({}, gone), gone)
    await deleteClient(platformCtx(tenant), gone.id)
    expect((await signedIn.fetch(path)).status).toBe(400)
  })

  test('where the redirect_uri was taken away meanwhile is refused', async () => {
    const moved = await makeClient(tenant)
    const path = pathOf(await pushed({}, moved), moved)
    await updateClient(platformCtx(tenant), moved.id, { callbacks: ['https://elsewhere.example/cb'] })
    const response = await signedIn.fetch(path)
    expect([response.status, response.headers.get('location')]).toEqual([400, null])
  })
})

test('a request_uri of others is not fetched but refused (OIDC Core, section 3.1.2.6; security 52)', async () => {
  const path = authorizePath(tenant, client, { request_uri: 'http://169.254.169.254/latest' })
  expect(answerIn((await signedIn.fetch(path)).headers.get('location'))).toMatchObject({
    error: 'request_uri_not_supported',
    state: 'a-state',
  })
})

describe('a client that must push its requests (RFC 9126, section 6)', () => {
  let pushing: TestClient
  beforeAll(async () => {
    pushing = await makeClient(tenant, { requirePushedRequests: true })
  })
  const refused = { error: 'invalid_request', state: 'a-state' }

  test('is told so at authorize, by GET and by POST', async () => {
    const path = authorizePath(tenant, pushing)
    const before = await interactions()
    expect(answerIn((await signedIn.fetch(path)).headers.get('location'))).toMatchObject(refused)
    const posted = await app.fetch(`/${tenant}/oidc/authorize`, {
      method: 'POST',
      body: new URLSearchParams(path.split('?')[1]),
    })
    expect(answerIn(posted.headers.get('location'))).toMatchObject(refused)
    expect(await interactions()).toBe(before)
  })

  test.each(['', 'https://rp.example.com/r', 'urn:ietf:params:oauth:request_uri', 'URN:x'])(
    'gets around it by no request_uri such as "%s"',
    async (requestUri) => {
      const path = `${authorizePath(tenant, pushing)}&${new URLSearchParams({ request_uri: requestUri })}`
      expect(answerIn((await signedIn.fetch(path)).headers.get('location'))).toMatchObject(refused)
    },
  )

  test('signs people in with a pushed one', async () => {
    const answer = await signedIn.fetch(pathOf(await pushed({}, pushing), pushing))
    expect(answerIn(answer.headers.get('location'))).toHaveProperty('code')
  })
})

describe.runIf(process.env.DATABASE_URL)('on PostgreSQL', () => {
  test('a push costs one statement, and one more at authorize than without (design, section 9)', async () => {
    const silent = { prompt: 'none' }
    const paths = [await pushed(silent), await pushed(silent), await pushed(silent)].map((uri) => pathOf(uri))
    const direct = await leastStatements(() => signedIn.fetch(authorizePath(tenant, client, silent)))
    expect(await leastStatements(() => signedIn.fetch(paths.pop() as string))).toBe(direct + 1)
    expect(await leastStatements(() => push(good(client, silent)))).toBe(1)
  })

  test('what is pushed to one process is used on another', async () => {
    const { DATABASE_URL, REDIS_URL, ENCRYPTION_KEY, BASE_URL } = process.env
    const second = await startServer({ DATABASE_URL, REDIS_URL, ENCRYPTION_KEY, BASE_URL })
    try {
      const { body } = await push(good(client, { prompt: 'none' }), client, { origin: second.origin })
      const path = pathOf(body.request_uri as string)
      expect(answerIn((await signedIn.fetch(path)).headers.get('location'))).toHaveProperty('code')
      expect((await fetch(`${second.origin}${path}`, { redirect: 'manual' })).status).toBe(400)
    } finally {
      await second.stop()
    }
  })
})

const keyPair = await generateKeyPair('ES256', { extractable: true })
const jwks = { keys: [{ ...(await exportJWK(keyPair.publicKey)), kid: 'k1', alg: 'ES256', use: 'sig' }] }

describe.each([
  ['web', { appType: 'web' }, (secret: string) => oidc.ClientSecretBasic(secret)],
  ['web by client_secret_post', { appType: 'web' }, (secret: string) => oidc.ClientSecretPost(secret)],
  [
    'web by private_key_jwt',
    { appType: 'web', jwks },
    () => oidc.PrivateKeyJwt({ key: keyPair.privateKey, kid: 'k1' }),
  ],
  ['single-page', { appType: 'single-page' }, () => oidc.None()],
])('openid-client as a relying party that pushes: %s', (_name, fields, authentication) => {
  test.each([false, true])('signs a person in, with DPoP: %s (RFC 9449, section 10.1)', async (withKey) => {
    const party = await makeClient(tenant, { ...fields, requirePushedRequests: true })
    const issuer = new URL(`http://localhost:${port}/${tenant}`)
    const config = await oidc.discovery(issuer, party.id, undefined, authentication(party.secret), {
      execute: [oidc.allowInsecureRequests],
    })
    expect(config.serverMetadata()).toMatchObject({ require_pushed_authorization_requests: false })
    const keyed = async () => ({ DPoP: oidc.getDPoPHandle(config, await oidc.randomDPoPKeyPair()) })
    const by = withKey ? await keyed() : {}
    const checks = {
      pkceCodeVerifier: oidc.randomPKCECodeVerifier(),
      expectedState: oidc.randomState(),
      expectedNonce: oidc.randomNonce(),
      idTokenExpected: true,
    }
    const parameters = {
      redirect_uri: REDIRECT_URI,
      scope: 'openid email',
      state: checks.expectedState,
      nonce: checks.expectedNonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(checks.pkceCodeVerifier),
      code_challenge_method: 'S256',
    }
    const url = await oidc.buildAuthorizationUrlWithPAR(config, parameters, by)
    expect([...url.searchParams.keys()].sort()).toEqual(['client_id', 'request_uri'])
    const answer = await signedIn.fetch(url.pathname + url.search)
    const location = new URL(answer.headers.get('location') as string)
    if (withKey)
      for (const other of [await keyed(), {}])
        await expect(
          oidc.authorizationCodeGrant(config, location, checks, undefined, other),
        ).rejects.toMatchObject({ error: 'invalid_grant' })
    const tokens = await oidc.authorizationCodeGrant(config, location, checks, undefined, by)
    expect(tokens.token_type).toBe(withKey ? 'dpop' : 'bearer')
    expect(tokens.claims()).toMatchObject({ aud: party.id, nonce: checks.expectedNonce })
  })
})
