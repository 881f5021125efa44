import { describe, expect } from 'vitest'
import { readClientCredentials } from '../../../src/oidc/client-auth/client-authentication.ts'
import { newTenant } from '../../support/actors.ts'
import { test as base } from '../../support/fixtures.ts'
import { makeClient, REDIRECT_URI, tokenRequest } from '../../support/protocol.ts'

const INVALID_CLIENT = { error: 'invalid_client', error_description: 'Client authentication failed.' }
const MACHINE = { appType: 'machine', callbacks: [], scopes: ['users:read'] }
const encodeBasic = (id: string, secret: string) =>
  `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`

/** With token requests of a machine client. */
const test = base
  .extend('machine', { scope: 'file' }, ({ newClient }) => newClient(MACHINE))
  .extend(
    'call',
    { scope: 'file' },
    ({ oidc }) =>
      (form: Record<string, string>, authorization?: string) =>
        oidc.token(
          { grant_type: 'client_credentials', ...form },
          null,
          authorization === undefined ? {} : { authorization },
        ),
  )
  .extend(
    'post',
    { scope: 'file' },
    ({ app, tenant }) =>
      (body: BodyInit, headers: Record<string, string>) =>
        fetch(`${app.origin}/${tenant}/oidc/token`, { method: 'POST', body, headers }),
  )
  .extend(
    'authorization',
    { scope: 'file' },
    ({ machine }) =>
      () =>
        encodeBasic(machine.id, machine.secret),
  )

describe('readClientCredentials (RFC 6749, section 2.3.1)', () => {
  test.each([
    [
      'an id and a secret',
      encodeBasic('a', 'b'),
      { method: 'client_secret_basic', clientId: 'a', secret: 'b' },
    ],
    [
      'form-encoded ones',
      encodeBasic('a%3Ab', 'c%2Bd+e%25'),
      { method: 'client_secret_basic', clientId: 'a:b', secret: 'c+d e%' },
    ],
    [
      'a colon in the secret',
      encodeBasic('a', 'b:c'),
      { method: 'client_secret_basic', clientId: 'a', secret: 'b:c' },
    ],
    ['an empty secret', encodeBasic('a', ''), { method: 'client_secret_basic', clientId: 'a', secret: '' }],
    [
      'the scheme in other letters',
      encodeBasic('a', 'b').replace('Basic', 'bAsIc'),
      { method: 'client_secret_basic', clientId: 'a', secret: 'b' },
    ],
    ['no colon', `Basic ${Buffer.from('ab').toString('base64')}`, null],
    ['no id', encodeBasic('', 'b'), null],
    ['a bad encoding', encodeBasic('%', 'b'), null],
    ['no base64', 'Basic ???', null],
    ['another scheme', 'Bearer abc', null],
    ['nothing', '', null],
  ])('reads a Basic header with %s', (_name, header, expected) => {
    expect(readClientCredentials(header, {})).toEqual(expected)
  })

  test('does not throw for any byte in the header', () => {
    for (let byte = 0; byte < 256; byte++)
      expect(() =>
        readClientCredentials(`Basic ${Buffer.from([byte, 58, byte]).toString('base64')}`, {}),
      ).not.toThrow()
  })
})

describe('a client at the token endpoint', () => {
  test('authenticates by client_secret_basic or by client_secret_post', async ({ machine, call }) => {
    expect(await call({}, encodeBasic(machine.id, machine.secret))).toMatchObject({ status: 200 })
    expect(await call({ client_id: machine.id }, encodeBasic(machine.id, machine.secret))).toMatchObject({
      status: 200,
    })
    expect(await call({ client_id: machine.id, client_secret: machine.secret })).toMatchObject({
      status: 200,
    })
  })

  test.for<[string, (m: { id: string; secret: string }) => string]>([
    ['a wrong secret', (m) => encodeBasic(m.id, 'wrong')],
    ['a truncated secret', (m) => encodeBasic(m.id, m.secret.slice(0, -1))],
    ['a longer secret', (m) => encodeBasic(m.id, `${m.secret}A`)],
    ['no secret', (m) => encodeBasic(m.id, '')],
    ['an unknown id', (m) => encodeBasic('client_unknown', m.secret)],
    ['an id with U+0000', (m) => encodeBasic(`${m.id}%00`, m.secret)],
    ['another scheme', () => 'Bearer x'],
    ['bytes that are not UTF-8', () => 'Basic gICAgA=='],
  ])(
    'is rejected with %s by the same response (RFC 6749, section 5.2)',
    async ([_name, authorization], { tenant, machine, call }) => {
      const answer = await call({}, authorization(machine))
      expect(answer).toMatchObject({ status: 401, body: INVALID_CLIENT })
      expect(answer.headers.get('www-authenticate')).toBe(`Basic realm="http://localhost:3000/${tenant}"`)
      expect(answer.headers.get('cache-control')).toBe('no-store')
    },
  )

  test('is rejected without a challenge when it sends no Authorization header', async ({ machine, call }) => {
    for (const form of [
      {},
      { client_id: machine.id },
      { client_id: machine.id, client_secret: 'wrong' },
    ] as Record<string, string>[]) {
      const answer = await call(form)
      expect(answer).toMatchObject({ status: 401, body: INVALID_CLIENT })
      expect(answer.headers.get('www-authenticate')).toBeNull()
    }
  })

  test('is rejected when it authenticates in two ways (RFC 6749, section 2.3)', async ({ machine, call }) => {
    const both = { client_id: machine.id, client_secret: machine.secret }
    for (const form of [both, { client_id: 'another' }] as Record<string, string>[])
      expect(await call(form, encodeBasic(machine.id, machine.secret))).toMatchObject({
        status: 400,
        body: { error: 'invalid_request' },
      })
  })

  test('of another tenant is rejected', async ({ app, machine }) => {
    const elsewhere = await newTenant()
    const answer = await tokenRequest(app, elsewhere, machine, { grant_type: 'client_credentials' })
    expect(answer).toMatchObject({ status: 401, body: INVALID_CLIENT })
  })

  test('that is public is rejected when it sends a secret (RFC 6749, section 2.1)', async ({ spa, call }) => {
    const form = {
      grant_type: 'authorization_code',
      code: 'x',
      code_verifier: 'y',
      redirect_uri: REDIRECT_URI,
    }
    expect(await call({ ...form, client_id: spa.id })).toMatchObject({
      status: 400,
      body: { error: 'invalid_grant' },
    })
    expect(await call({ ...form, client_id: spa.id, client_secret: 'x' })).toMatchObject({
      status: 401,
      body: INVALID_CLIENT,
    })
    expect(await call(form, encodeBasic(spa.id, ''))).toMatchObject({ status: 401, body: INVALID_CLIENT })
  })

  test.for<[string, Record<string, string>]>([
    ['unsupported_grant_type', { grant_type: 'password' }],
    ['unsupported_grant_type', { grant_type: '__proto__' }],
    ['unauthorized_client', { grant_type: 'authorization_code', code: 'x', redirect_uri: 'x' }],
    ['unauthorized_client', { grant_type: 'refresh_token', refresh_token: 'x' }],
    ['invalid_request', { grant_type: '' }],
  ])('is rejected with %s for %j', async ([error, form], { machine, call }) => {
    expect(await call(form, encodeBasic(machine.id, machine.secret))).toMatchObject({
      status: 400,
      body: { error },
    })
  })

  test('that signs users in is rejected for client_credentials', async ({ newClient, call }) => {
    const web = await newClient()
    expect(await call({}, encodeBasic(web.id, web.secret))).toMatchObject({
      status: 400,
      body: { error: 'unauthorized_client' },
    })
  })
})

describe('a token request', () => {
  test('is rejected when it is not a form (RFC 6749, section 3.2)', async ({ post, authorization }) => {
    const json = JSON.stringify({ grant_type: 'client_credentials' })
    const response = await post(json, { 'content-type': 'application/json', authorization: authorization() })
    expect(response.status).toBe(400)
    expect(await response.json()).toEqual({
      error: 'invalid_request',
      error_description: 'The body must be application/x-www-form-urlencoded.',
    })
  })

  test('is rejected when a parameter is repeated (RFC 6749, section 3.2)', async ({
    post,
    authorization,
  }) => {
    const body = 'grant_type=client_credentials&scope=users%3Aread&scope=users%3Aread'
    const response = await post(body, {
      'content-type': 'application/x-www-form-urlencoded',
      authorization: authorization(),
    })
    expect([response.status, await response.json()]).toEqual([
      400,
      { error: 'invalid_request', error_description: 'Repeated parameters: scope.' },
    ])
  })

  test('is rejected when it is longer than 64 KB', async ({ post }) => {
    const response = await post(new URLSearchParams({ grant_type: 'x'.repeat(70_000) }), {})
    expect([response.status, ((await response.json()) as { error: string }).error]).toEqual([
      413,
      'invalid_request',
    ])
  })

  test('is rejected when it is not a POST', async ({ app, tenant }) => {
    const response = await fetch(`${app.origin}/${tenant}/oidc/token`)
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST, OPTIONS'])
  })

  test('to an unknown tenant or to another spelling of the path is answered 404', async ({ app, tenant }) => {
    for (const path of [
      '/unknown-tenant/oidc/token',
      `/${tenant}/oidc/token/`,
      `/${tenant}/oidc/%74oken`,
      `//${tenant}/oidc/token`,
    ]) {
      const response = await fetch(`${app.origin}${path}`, {
        method: 'POST',
        body: new URLSearchParams(),
      })
      expect(response.status).toBe(404)
    }
  })
})

test('the token endpoint rejects a network after 100 failed authentications a minute but not a valid client', async ({
  app,
}) => {
  const limitedTenant = await newTenant()
  const answers = await Promise.all(
    Array.from({ length: 101 }, () =>
      tokenRequest(app, limitedTenant, { id: 'x', secret: 'y' }, { grant_type: 'client_credentials' }),
    ),
  )
  const limited = answers.filter(({ status }) => status === 429)
  expect(limited).toHaveLength(1)
  expect(limited[0]?.body).toEqual({
    error: 'temporarily_unavailable',
    error_description: 'Too many requests.',
  })
  expect(Number(limited[0]?.headers.get('retry-after'))).toBeGreaterThan(0)
  const good = await makeClient(limitedTenant, MACHINE)
  expect(await tokenRequest(app, limitedTenant, good, { grant_type: 'client_credentials' })).toMatchObject({
    status: 200,
  })
})
