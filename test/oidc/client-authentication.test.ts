import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readClientCredentials } from '../../src/oidc/client-auth/client-authentication.ts'
import { newTenant } from '../support/actors.ts'
import { makeClient, type Provider, REDIRECT_URI, startProvider, tokenRequest } from './provider.ts'

let provider: Provider
let tenant: string
let machine: Awaited<ReturnType<typeof makeClient>>
let spa: Awaited<ReturnType<typeof makeClient>>
const INVALID_CLIENT = { error: 'invalid_client', error_description: 'Client authentication failed.' }
const machineFields = { appType: 'machine', callbacks: [], scopes: ['users:read'] }

beforeAll(async () => {
  provider = await startProvider()
  tenant = await newTenant()
  machine = await makeClient(tenant, machineFields)
  spa = await makeClient(tenant, { appType: 'single-page' })
})
afterAll(() => provider.close())

const basic = (id: string, secret: string) => `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`
const call = (form: Record<string, string>, authorization?: string) =>
  tokenRequest(
    provider,
    tenant,
    null,
    { grant_type: 'client_credentials', ...form },
    authorization === undefined ? {} : { authorization },
  )

describe('readClientCredentials (RFC 6749, section 2.3.1)', () => {
  test.each([
    ['an id and a secret', basic('a', 'b'), { method: 'client_secret_basic', clientId: 'a', secret: 'b' }],
    [
      'form-encoded ones',
      basic('a%3Ab', 'c%2Bd+e%25'),
      { method: 'client_secret_basic', clientId: 'a:b', secret: 'c+d e%' },
    ],
    [
      'a colon in the secret',
      basic('a', 'b:c'),
      { method: 'client_secret_basic', clientId: 'a', secret: 'b:c' },
    ],
    ['an empty secret', basic('a', ''), { method: 'client_secret_basic', clientId: 'a', secret: '' }],
    [
      'the scheme in other letters',
      basic('a', 'b').replace('Basic', 'bAsIc'),
      { method: 'client_secret_basic', clientId: 'a', secret: 'b' },
    ],
    ['no colon', `Basic ${Buffer.from('ab').toString('base64')}`, null],
    ['no id', basic('', 'b'), null],
    ['a bad encoding', basic('%', 'b'), null],
    ['no base64', 'Basic ???', null],
    ['another scheme', 'Bearer abc', null],
    ['nothing', '', null],
  ])('reads a Basic header with %s', (_name, header, expected) => {
    expect(readClientCredentials(header, {})).toEqual(expected)
  })

  test('survives random bytes (security row 62)', () => {
    for (let byte = 0; byte < 256; byte++)
      expect(() =>
        readClientCredentials(`Basic ${Buffer.from([byte, 58, byte]).toString('base64')}`, {}),
      ).not.toThrow()
  })
})

describe('a client at the token endpoint', () => {
  test('authenticates by Basic or by its form', async () => {
    expect(await call({}, basic(machine.id, machine.secret))).toMatchObject({ status: 200 })
    expect(await call({ client_id: machine.id }, basic(machine.id, machine.secret))).toMatchObject({
      status: 200,
    })
    expect(await call({ client_id: machine.id, client_secret: machine.secret })).toMatchObject({
      status: 200,
    })
  })

  test.each([
    ['a wrong secret', (m: typeof machine) => basic(m.id, 'wrong')],
    ['a secret cut short (security row 26)', (m: typeof machine) => basic(m.id, m.secret.slice(0, -1))],
    ['a longer secret', (m: typeof machine) => basic(m.id, `${m.secret}A`)],
    ['no secret', (m: typeof machine) => basic(m.id, '')],
    ['an unknown id', (m: typeof machine) => basic('client_unknown', m.secret)],
    ['an id with U+0000', (m: typeof machine) => basic(`${m.id}%00`, m.secret)],
    ['another scheme', () => 'Bearer x'],
    ['bytes that are no text', () => 'Basic gICAgA=='],
  ])('is refused with %s, always the same (RFC 6749, section 5.2)', async (_name, authorization) => {
    const answer = await call({}, authorization(machine))
    expect(answer).toMatchObject({ status: 401, body: INVALID_CLIENT })
    expect(answer.headers.get('www-authenticate')).toBe(`Basic realm="http://localhost:3000/${tenant}"`)
    expect(answer.headers.get('cache-control')).toBe('no-store')
  })

  test('is refused without a challenge when it did not use a header', async () => {
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

  test('may authenticate in one way only (RFC 6749, section 2.3)', async () => {
    const both = { client_id: machine.id, client_secret: machine.secret }
    for (const form of [both, { client_id: 'another' }] as Record<string, string>[])
      expect(await call(form, basic(machine.id, machine.secret))).toMatchObject({
        status: 400,
        body: { error: 'invalid_request' },
      })
  })

  test('of another tenant is refused', async () => {
    const elsewhere = await newTenant()
    const answer = await tokenRequest(provider, elsewhere, machine, { grant_type: 'client_credentials' })
    expect(answer).toMatchObject({ status: 401, body: INVALID_CLIENT })
  })

  test('that is public presents no secret (RFC 6749, section 2.1)', async () => {
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
    expect(await call(form, basic(spa.id, ''))).toMatchObject({ status: 401, body: INVALID_CLIENT })
  })

  test.each([
    ['unsupported_grant_type', { grant_type: 'password' }],
    ['unsupported_grant_type', { grant_type: '__proto__' }],
    ['unauthorized_client', { grant_type: 'authorization_code', code: 'x', redirect_uri: 'x' }],
    ['unauthorized_client', { grant_type: 'refresh_token', refresh_token: 'x' }],
    ['invalid_request', { grant_type: '' }],
  ])('gets %s for %j', async (error, form) => {
    expect(await call(form, basic(machine.id, machine.secret))).toMatchObject({
      status: 400,
      body: { error },
    })
  })

  test('that signs people in gets nothing for itself', async () => {
    const web = await makeClient(tenant)
    expect(await call({}, basic(web.id, web.secret))).toMatchObject({
      status: 400,
      body: { error: 'unauthorized_client' },
    })
  })
})

describe('a token request', () => {
  const post = (body: BodyInit, headers: Record<string, string>) =>
    fetch(`${provider.origin}/${tenant}/oidc/token`, { method: 'POST', body, headers })
  const authorization = () => basic(machine.id, machine.secret)

  test('must be a form (RFC 6749, section 3.2)', async () => {
    const json = JSON.stringify({ grant_type: 'client_credentials' })
    const response = await post(json, { 'content-type': 'application/json', authorization: authorization() })
    expect(response.status).toBe(400)
    expect(await response.json()).toEqual({
      error: 'invalid_request',
      error_description: 'The body must be application/x-www-form-urlencoded.',
    })
  })

  test('must not repeat a parameter (RFC 6749, section 3.2)', async () => {
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

  test('must not be longer than 64 KB', async () => {
    const response = await post(new URLSearchParams({ grant_type: 'x'.repeat(70_000) }), {})
    expect([response.status, ((await response.json()) as { error: string }).error]).toEqual([
      413,
      'invalid_request',
    ])
  })

  test('must be a POST', async () => {
    const response = await fetch(`${provider.origin}/${tenant}/oidc/token`)
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST, OPTIONS'])
  })

  test('to an unknown tenant finds nothing, nor does another spelling of a known one (security row 49)', async () => {
    for (const path of [
      '/nobody/oidc/token',
      `/${tenant}/oidc/token/`,
      `/${tenant}/oidc/%74oken`,
      `//${tenant}/oidc/token`,
    ]) {
      const response = await fetch(`${provider.origin}${path}`, {
        method: 'POST',
        body: new URLSearchParams(),
      })
      expect(response.status).toBe(404)
    }
  })
})

test('a network that fails to authenticate too often has to wait, others do not', async () => {
  const many = await newTenant()
  const answers = await Promise.all(
    Array.from({ length: 101 }, () =>
      tokenRequest(provider, many, { id: 'x', secret: 'y' }, { grant_type: 'client_credentials' }),
    ),
  )
  const limited = answers.filter(({ status }) => status === 429)
  expect(limited).toHaveLength(1)
  expect(limited[0]?.body).toEqual({
    error: 'temporarily_unavailable',
    error_description: 'Too many requests.',
  })
  expect(Number(limited[0]?.headers.get('retry-after'))).toBeGreaterThan(0)
  const good = await makeClient(many, machineFields)
  expect(await tokenRequest(provider, many, good, { grant_type: 'client_credentials' })).toMatchObject({
    status: 200,
  })
})
