import { describe, expect } from 'vitest'
import { issuerOf } from '../../../src/core/issuer.ts'
import { test as base } from '../../support/fixtures.ts'
import { REDIRECT_URI } from '../../support/protocol.ts'

const test = base.extend('machine', { scope: 'file' }, ({ newClient }) =>
  newClient({ appType: 'machine', callbacks: [], scopes: ['users:read'] }),
)

const CODE_FORM = { grant_type: 'authorization_code', code: 'x', redirect_uri: REDIRECT_URI }

type Case = [
  error: string,
  when: string,
  status: number,
  client: 'web' | 'spa' | 'machine' | 'wrong secret' | null,
  form: Record<string, string>,
]
describe('the token endpoint (RFC 6749, section 5.2)', () => {
  test.for<Case>([
    ['invalid_request', 'grant_type is missing', 400, 'web', {}],
    ['invalid_request', 'code is missing', 400, 'web', { ...CODE_FORM, code: '' }],
    ['invalid_request', 'redirect_uri is missing', 400, 'web', { ...CODE_FORM, redirect_uri: '' }],
    ['invalid_request', 'a public client has no code_verifier', 400, 'spa', CODE_FORM],
    ['invalid_request', 'refresh_token is missing', 400, 'web', { grant_type: 'refresh_token' }],
    ['invalid_request', 'a value contains U+0000', 400, 'web', { ...CODE_FORM, code: '\u0000' }],
    ['invalid_client', 'the secret is wrong', 401, 'wrong secret', CODE_FORM],
    ['invalid_client', 'the request names no client', 401, null, CODE_FORM],
    ['invalid_grant', 'the code is unknown', 400, 'web', CODE_FORM],
    [
      'invalid_grant',
      'the refresh token is unknown',
      400,
      'web',
      { grant_type: 'refresh_token', refresh_token: 'x' },
    ],
    [
      'unauthorized_client',
      'the client may not use the grant type',
      400,
      'web',
      { grant_type: 'client_credentials' },
    ],
    ['unsupported_grant_type', 'the grant type is unknown', 400, 'web', { grant_type: 'password' }],
    [
      'invalid_scope',
      'the scope exceeds the scopes of the client',
      400,
      'machine',
      { grant_type: 'client_credentials', scope: 'users:write' },
    ],
  ])(
    'answers %s when %s',
    async ([error, _when, status, name, form], { tenant, client, spa, machine, oidc }) => {
      const who = name && { web: client, spa, machine, 'wrong secret': { ...client, secret: 'x' } }[name]
      const answer = await oidc.token(form, who)
      expect(answer.status).toBe(status)
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
      const challenge = error === 'invalid_client' && who ? `Basic realm="${issuerOf(tenant)}"` : null
      expect(answer.headers.get('www-authenticate')).toBe(challenge)
    },
  )

  test.for([
    'grant_type',
    'code',
    'redirect_uri',
    'code_verifier',
    'client_id',
    'client_secret',
    'something',
  ])('answers invalid_request when %s is repeated (section 3.2)', async (name, { app, tenant, spa }) => {
    const body = new URLSearchParams({ ...CODE_FORM, client_id: spa.id, [name]: 'x' })
    body.append(name, 'x')
    const response = await app.fetch(`/${tenant}/oidc/token`, { method: 'POST', body })
    expect([response.status, await response.json()]).toEqual([
      400,
      {
        error: 'invalid_request',
        error_description:
          name === 'something' ? 'A parameter is repeated.' : `Repeated parameters: ${name}.`,
      },
    ])
  })

  test.for(['application/json', 'multipart/form-data; boundary=x', 'text/plain', ''])(
    'answers invalid_request to a body of type "%s"',
    async (type, { app, tenant, spa }) => {
      const response = await app.fetch(`/${tenant}/oidc/token`, {
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

  test('ignores parameters that are unknown or empty (section 3.2)', async ({ oidc, machine }) => {
    const form = { grant_type: 'client_credentials', unknown: 'x', scope: '', code: '' }
    expect(await oidc.token(form, machine)).toMatchObject({
      status: 200,
      body: { scope: 'users:read' },
    })
  })
})
