import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newTenant } from '../support/actors.ts'
import { makeClient, type Provider, REDIRECT_URI, startProvider, tokenRequest } from './provider.ts'

type Client = Awaited<ReturnType<typeof makeClient>>

let provider: Provider
let tenant: string
let web: Client
let spa: Client
let machine: Client

beforeAll(async () => {
  provider = await startProvider()
  tenant = await newTenant()
  web = await makeClient(tenant)
  spa = await makeClient(tenant, { appType: 'single-page' })
  machine = await makeClient(tenant, { appType: 'machine', callbacks: [], scopes: ['users:read'] })
})
afterAll(() => provider.close())

const CODE_FORM = { grant_type: 'authorization_code', code: 'x', redirect_uri: REDIRECT_URI }

type Case = [
  error: string,
  when: string,
  status: number,
  client: () => Client | null,
  form: Record<string, string>,
]
describe('errors of the token endpoint (RFC 6749, section 5.2)', () => {
  test.each<Case>([
    ['invalid_request', 'grant_type is missing', 400, () => web, {}],
    ['invalid_request', 'code is missing', 400, () => web, { ...CODE_FORM, code: '' }],
    ['invalid_request', 'redirect_uri is missing', 400, () => web, { ...CODE_FORM, redirect_uri: '' }],
    ['invalid_request', 'a public client has no code_verifier', 400, () => spa, CODE_FORM],
    ['invalid_request', 'refresh_token is missing', 400, () => web, { grant_type: 'refresh_token' }],
    ['invalid_request', 'a value holds U+0000', 400, () => web, { ...CODE_FORM, code: '\u0000' }],
    ['invalid_client', 'the secret is wrong', 401, () => ({ ...web, secret: 'x' }), CODE_FORM],
    ['invalid_client', 'nobody says who asks', 401, () => null, CODE_FORM],
    ['invalid_grant', 'there is no such code', 400, () => web, CODE_FORM],
    [
      'invalid_grant',
      'there is no such token',
      400,
      () => web,
      { grant_type: 'refresh_token', refresh_token: 'x' },
    ],
    [
      'unauthorized_client',
      'it is not for this client',
      400,
      () => web,
      { grant_type: 'client_credentials' },
    ],
    ['unsupported_grant_type', 'there is no such thing', 400, () => web, { grant_type: 'password' }],
    [
      'invalid_scope',
      'it is more than the client has',
      400,
      () => machine,
      { grant_type: 'client_credentials', scope: 'users:write' },
    ],
  ])('%s when %s', async (error, _when, status, client, form) => {
    const who = client()
    const answer = await tokenRequest(provider, tenant, who, form)
    expect(answer.status).toBe(status)
    // No more and no less: error_uri is for those who have one.
    expect(answer.body).toEqual({
      error,
      error_description: expect.stringMatching(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/),
    })
    expect(answer.headers.get('content-type')).toBe('application/json')
    expect([answer.headers.get('cache-control'), answer.headers.get('pragma')]).toEqual([
      'no-store',
      'no-cache',
    ])
    // The scheme that the client used (section 5.2).
    const challenge =
      error === 'invalid_client' && who ? `Basic realm="http://localhost:3000/${tenant}"` : null
    expect(answer.headers.get('www-authenticate')).toBe(challenge)
  })

  test.each([
    'grant_type',
    'code',
    'redirect_uri',
    'code_verifier',
    'client_id',
    'client_secret',
    'something',
  ])('invalid_request when %s is repeated (section 3.2)', async (name) => {
    const body = new URLSearchParams({ ...CODE_FORM, client_id: spa.id, [name]: 'x' })
    body.append(name, 'x')
    const response = await fetch(`${provider.origin}/${tenant}/oidc/token`, { method: 'POST', body })
    expect([response.status, await response.json()]).toEqual([
      400,
      { error: 'invalid_request', error_description: `Repeated parameters: ${name}.` },
    ])
  })

  test.each(['application/json', 'multipart/form-data; boundary=x', 'text/plain', ''])(
    'invalid_request for a body of type "%s"',
    async (type) => {
      const response = await fetch(`${provider.origin}/${tenant}/oidc/token`, {
        method: 'POST',
        headers: { 'content-type': type },
        body: Buffer.from(new URLSearchParams({ ...CODE_FORM, client_id: spa.id }).toString()),
      })
      expect([response.status, ((await response.json()) as { error: string }).error]).toEqual([
        400,
        'invalid_request',
      ])
    },
  )

  test('parameters that are not known, or have no value, are ignored (section 3.2)', async () => {
    const form = { grant_type: 'client_credentials', unknown: 'x', scope: '', code: '' }
    expect(await tokenRequest(provider, tenant, machine, form)).toMatchObject({
      status: 200,
      body: { scope: 'users:read' },
    })
  })
})
