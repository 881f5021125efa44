import { describe, expect } from 'vitest'
import { sha256 } from '../../../src/core/crypto.ts'
import { dbFor } from '../../support/database.ts'
import { answerIn, REDIRECT_URI } from '../../support/protocol.ts'
import { type Form, PREFIX, SPA_ORIGIN, test } from '../../support/pushed-requests.ts'
import { leastStatements } from '../../support/statements.ts'

describe('the pushed authorization request endpoint (RFC 9126)', () => {
  test('stores the request and returns a request_uri for 90 seconds (RFC 9126, section 2.2)', async ({
    client,
    good,
    push,
  }) => {
    const { status, headers, body } = await push(good(client))
    expect(status).toBe(201)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(body).toEqual({
      request_uri: expect.stringMatching(/^urn:ietf:params:oauth:request_uri:[A-Za-z0-9_-]{43}$/),
      expires_in: 90,
    })
  })

  test('stores the request_uri as a hash and no client_secret', async ({ tenant, client, good, push }) => {
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

  test.for<[name: string, more: Form, error: string]>([
    ['an unregistered redirect_uri', { redirect_uri: 'https://evil.example/cb' }, 'invalid_request'],
    ['no redirect_uri', { redirect_uri: null }, 'invalid_request'],
    ['no response_type', { response_type: null }, 'invalid_request'],
    ['response_type=token', { response_type: 'token' }, 'unsupported_response_type'],
    ['an unknown scope', { scope: 'nonsense' }, 'invalid_scope'],
    ['PKCE plain', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['prompt=none login', { prompt: 'none login' }, 'invalid_request'],
    ['an unknown response_mode', { response_mode: 'fragment' }, 'invalid_request'],
    ['an unknown resource', { resource: 'https://unknown.example' }, 'invalid_target'],
    ['an id_token_hint that is not an ID token', { id_token_hint: 'e30.e30.e30' }, 'invalid_request'],
    ['a request object', { request: 'e30.e30.' }, 'request_not_supported'],
    ['a request_uri', { request_uri: 'https://rp.example.com/r' }, 'invalid_request'],
    ['a request_uri of its own', { request_uri: `${PREFIX}x` }, 'invalid_request'],
    ['U+0000', { state: 'a\u0000' }, 'invalid_request'],
  ])(
    'rejects %s in JSON with the error of the authorization endpoint (RFC 9126, section 2.3)',
    async ([_name, more, error], { client, good, push }) => {
      const { status, headers, body } = await push(good(client, more))
      expect([status, headers.get('content-type')]).toEqual([400, 'application/json'])
      expect(body).toEqual({ error, error_description: expect.any(String) })
    },
  )

  test('rejects repeated parameters and another media type', async ({ client, good, push }) => {
    const twice = good(client)
    twice.append('scope', 'openid')
    expect(await push(twice)).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
    const json = { headers: { 'content-type': 'application/json' } }
    expect(await push(good(client), client, json)).toMatchObject({
      status: 400,
      body: { error: 'invalid_request' },
    })
  })

  test('authenticates the client as at the token endpoint (RFC 9126, section 2)', async ({
    client,
    good,
    push,
    other,
    spaClient,
  }) => {
    const invalid = { status: 401, body: { error: 'invalid_client' } }
    expect(await push(good(client), { ...client, secret: 'wrong' })).toMatchObject(invalid)
    expect(await push(good(client), null)).toMatchObject(invalid)
    expect(await push(good({ ...client, id: 'unknown' }), null)).toMatchObject(invalid)
    const withSecret = good(spaClient)
    withSecret.set('client_secret', 'any')
    expect(await push(withSecret, null)).toMatchObject(invalid)
    expect(await push(good(spaClient), null)).toMatchObject({ status: 201 })
    // Two clients in one request.
    expect(await push(good(other), client)).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
    // The Authorization header names the client already.
    const unnamed = good(client)
    unnamed.delete('client_id')
    expect(await push(unnamed)).toMatchObject({ status: 201 })
  })

  test('rejects a machine client, which signs no user in', async ({ newClient, good, push }) => {
    const machine = await newClient({ appType: 'machine', callbacks: [] })
    expect((await push(good(machine), machine)).status).toBe(400)
  })

  test('accepts POST only (RFC 9126, section 2.3)', async ({ app, tenant }) => {
    const response = await app.fetch(`/${tenant}/oidc/par`)
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST, OPTIONS'])
  })

  test('allows the origin of a single-page application by CORS', async ({
    app,
    tenant,
    good,
    push,
    spaClient,
  }) => {
    const preflight = await app.fetch(`/${tenant}/oidc/par`, {
      method: 'OPTIONS',
      headers: { origin: SPA_ORIGIN, 'access-control-request-method': 'POST' },
    })
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([
      204,
      SPA_ORIGIN,
    ])
    const origins = [SPA_ORIGIN, 'https://evil.example'].map((origin) =>
      push(good(spaClient), null, { headers: { origin } }),
    )
    expect(
      (await Promise.all(origins)).map(({ headers }) => headers.get('access-control-allow-origin')),
    ).toEqual([SPA_ORIGIN, null])
  })

  test('sends one statement for a push, and one more at the authorization endpoint', async ({
    client,
    oidc,
    visitor,
    good,
    push,
    pushRequest,
    pathFor,
  }) => {
    const silent = { prompt: 'none' }
    const paths = [await pushRequest(silent), await pushRequest(silent), await pushRequest(silent)].map(
      (uri) => pathFor(uri),
    )
    const direct = await leastStatements(() => visitor.browser.fetch(oidc.authorizePath(silent)))
    expect(await leastStatements(() => visitor.browser.fetch(paths.pop() as string))).toBe(direct + 1)
    expect(await leastStatements(() => push(good(client, silent)))).toBe(1)
  })
})

describe('a client that requires pushed requests (RFC 9126, section 6)', () => {
  const rejected = { error: 'invalid_request', state: 'a-state' }

  test('receives invalid_request for other requests, by GET and by POST', async ({
    app,
    tenant,
    oidc,
    visitor,
    countInteractions,
    pushing,
  }) => {
    const path = oidc.authorizePath({}, pushing)
    const before = await countInteractions()
    expect(answerIn((await visitor.browser.fetch(path)).headers.get('location'))).toMatchObject(rejected)
    const posted = await app.fetch(`/${tenant}/oidc/authorize`, {
      method: 'POST',
      body: new URLSearchParams(path.split('?')[1]),
    })
    expect(answerIn(posted.headers.get('location'))).toMatchObject(rejected)
    expect(await countInteractions()).toBe(before)
  })

  test.for(['', 'https://rp.example.com/r', 'urn:ietf:params:oauth:request_uri', 'URN:x'])(
    'receives invalid_request for the request_uri "%s"',
    async (requestUri, { oidc, visitor, pushing }) => {
      const path = `${oidc.authorizePath({}, pushing)}&${new URLSearchParams({ request_uri: requestUri })}`
      expect(answerIn((await visitor.browser.fetch(path)).headers.get('location'))).toMatchObject(rejected)
    },
  )

  test('signs users in with a pushed request', async ({ visitor, pushRequest, pathFor, pushing }) => {
    const answer = await visitor.browser.fetch(pathFor(await pushRequest({}, pushing), pushing))
    expect(answerIn(answer.headers.get('location'))).toHaveProperty('code')
  })
})
