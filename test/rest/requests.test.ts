import { describe, expect } from 'vitest'
import { addResourceMetadata } from '../../src/access/protected-resources.ts'
import { tokenFor } from '../support/actors.ts'
import { test as base } from '../support/fixtures.ts'
import { expectError } from '../support/rest-errors.ts'

const json = { 'content-type': 'application/json' }

/** Posts a body to /users as it is. */
const test = base.extend(
  'post',
  { scope: 'file' },
  ({ app, tenant, token }) =>
    (body: string | ReadableStream | undefined, headers: Record<string, string> = json) =>
      app.fetch(`/${tenant}/api/v1/users`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, ...headers },
        body,
        duplex: 'half',
      } as RequestInit),
)

describe('the access token of a REST request', () => {
  test.for<[name: string, authorization: string | undefined, challenge: string]>([
    ['no header', undefined, 'Bearer, DPoP algs="ES256 ES384 ES512 RS256 PS256 EdDSA Ed25519"'],
    ['another scheme', 'Basic dXNlcjpwYXNz', 'Bearer error="invalid_token"'],
    ['a malformed token', 'Bearer nonsense', 'Bearer error="invalid_token"'],
    ['three parts that are not a JWT', 'Bearer a.b.c', 'Bearer error="invalid_token"'],
    ['a very long token', `Bearer ${'x'.repeat(9000)}`, 'Bearer error="invalid_token"'],
  ])(
    'is rejected with 401 and WWW-Authenticate for %s',
    async ([_, authorization, challenge], { app, tenant }) => {
      const headers: Record<string, string> = authorization === undefined ? {} : { authorization }
      const response = await expectError(
        await app.fetch(`/${tenant}/api/v1/users`, { headers }),
        401,
        'UNAUTHENTICATED',
      )
      expect(response.headers.get('www-authenticate')).toBe(addResourceMetadata(challenge, tenant, 'api/v1'))
    },
  )

  test('is verified before the query and the body', async ({ app, tenant }) => {
    await expectError(await app.fetch(`/${tenant}/api/v1/users?nonsense=1`), 401, 'UNAUTHENTICATED')
    const reader = await tokenFor(tenant, ['users:read'])
    const response = await app.fetch(`/${tenant}/api/v1/users?x=1`, {
      method: 'POST',
      body: '{',
      headers: { ...json, authorization: `Bearer ${reader}` },
    })
    await expectError(response, 403, 'FORBIDDEN', expect.stringContaining('users:write'))
    expect(response.headers.get('www-authenticate')).toBe(
      addResourceMetadata('Bearer error="insufficient_scope", scope="users:write"', tenant, 'api/v1'),
    )
  })
})

describe('the body of a REST request', () => {
  test.for(['{', '', '{"name":}', "{'name':'x'}", '{"name":"x"} x', '\ufeff{}', 'undefined'])(
    'is rejected with 400 for invalid JSON: %j',
    async (body, { post }) => {
      await expectError(await post(body), 400, 'BAD_USER_INPUT', expect.any(String), [
        { field: '', description: 'the body is not valid JSON' },
      ])
    },
  )

  test.for([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonp',
    '',
  ])('is rejected with 415 for the media type %j', async (type, { post }) => {
    await expectError(
      await post('{}', { 'content-type': type }),
      415,
      'UNSUPPORTED_MEDIA_TYPE',
      'The body must be application/json.',
    )
  })

  test('may be application/json with a charset, in any letter case', async ({ post }) => {
    expect((await post('{}', { 'content-type': 'Application/JSON; charset=utf-8' })).status).toBe(201)
  })

  test('is rejected with 413 for more than 100 KB, with and without Content-Length', async ({ post }) => {
    const big = JSON.stringify({ name: 'x'.repeat(100_001) })
    await expectError(await post(big), 413, 'PAYLOAD_TOO_LARGE')
    const chunked = new ReadableStream({
      pull(controller) {
        controller.enqueue(new TextEncoder().encode('x'.repeat(65_536)))
      },
    })
    await expectError(await post(chunked), 413, 'PAYLOAD_TOO_LARGE')
  })

  test('is rejected for members that would reach a prototype', async ({ post }) => {
    const response = await post('{"__proto__":{"name":"x"},"constructor":{},"toString":1}')
    await expectError(
      response,
      400,
      'BAD_USER_INPUT',
      'The request has invalid fields.',
      ['__proto__', 'constructor', 'toString'].map((field) => ({
        field,
        description: 'is not a field of this request',
      })),
    )
    expect(({} as { name?: string }).name).toBeUndefined()
  })
})

describe('the Accept header of a REST request', () => {
  test.for<[accept: string, list: number, exported: number]>([
    ['*/*', 200, 200],
    ['', 200, 200],
    ['application/*;q=0.1', 200, 200],
    ['text/html, Application/JSON;charset=utf-8', 200, 200],
    ['text/html,application/xhtml+xml,*/*;q=0.8', 200, 200],
    ['application/x-ndjson', 406, 200],
    ['text/csv', 406, 406],
    ['text/*, application/json;q=0', 406, 406],
    ['application/json;q=0.0, application/x-ndjson;q=0, */*', 406, 406],
  ])(
    '%j leads to %d at a list and %d at an export',
    async ([accept, ...statuses], { app, tenant, token }) => {
      const headers = { authorization: `Bearer ${token}`, accept }
      const [list, exported] = await Promise.all(
        ['users', 'users/export'].map((path) => app.fetch(`/${tenant}/api/v1/${path}`, { headers })),
      )
      expect([list?.status, exported?.status]).toEqual(statuses)
      await exported?.body?.cancel()
      if (list?.status === 406)
        await expectError(
          list,
          406,
          'NOT_ACCEPTABLE',
          'The answer is application/json, which the Accept header excludes.',
        )
    },
  )

  test('does not keep a change from being made', async ({ post }) => {
    expect((await post('{}', { ...json, accept: 'text/csv' })).status).toBe(201)
  })
})

describe('the id of a REST request', () => {
  test('is a UUID, whatever X-Request-Id the caller sends', async ({ app, tenant }) => {
    const idFor = async (sent?: string) => {
      const response = await app.fetch(`/${tenant}/api/v1/nothing`, {
        headers: sent === undefined ? {} : { 'x-request-id': sent },
      })
      return (await expectError(response, 404, 'NOT_FOUND')).headers.get('x-request-id')
    }
    for (const sent of [undefined, 'trace-0123456789', 'short', '<script>alert(1)</script>'])
      expect(await idFor(sent)).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('is sent with successful answers', async ({ app, tenant, token }) => {
    const response = await app.fetch(`/${tenant}/api/v1/users`, {
      headers: { authorization: `Bearer ${token}` },
    })
    expect([
      response.status,
      response.headers.get('x-request-id'),
      response.headers.get('cache-control'),
    ]).toEqual([200, expect.stringMatching(/^[0-9a-f-]{36}$/), 'no-store'])
  })
})
