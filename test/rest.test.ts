import { request as httpRequest } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { RateLimited, Unavailable } from '../src/errors.ts'
import { createRestApp } from '../src/rest/rest.ts'
import { Done, restRoute, toDone } from '../src/rest/route.ts'
import { newTenant, tokenFor } from './support/actors.ts'
import { startApp, type TestApp } from './support/app.ts'

let app: TestApp
let tenant: string
let token: string

beforeAll(async () => {
  app = await startApp()
  tenant = await newTenant()
  token = await tokenFor(tenant)
})
afterAll(() => app.close())

const authorized = (headers: Record<string, string> = {}) => ({
  authorization: `Bearer ${token}`,
  ...headers,
})
const json = { 'content-type': 'application/json' }

/** Asserts the error body of the specification, whole, and the headers that every answer has. */
async function expectError(
  response: Response,
  status: number,
  code: string,
  message: unknown = expect.any(String),
  fields: unknown = [],
) {
  const body = (await response.json()) as { requestId: string }
  expect({ status: response.status, body }).toEqual({
    status,
    body: { message, requestId: expect.any(String), fields, code },
  })
  expect(response.headers.get('x-request-id')).toBe(body.requestId)
  expect(response.headers.get('content-type')).toMatch(/^application\/json/)
  expect(response.headers.get('cache-control')).toBe('no-store')
  expect(response.headers.get('x-content-type-options')).toBe('nosniff')
  return response
}

/** A request whose target is sent as it stands; fetch would tidy it up. */
const rawStatus = (target: string, headers = authorized()) =>
  new Promise<number>((resolve, reject) => {
    const { port } = new URL(app.origin)
    httpRequest({ host: '127.0.0.1', port, path: target, headers }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
      .once('error', reject)
      .end()
  })

describe('paths', () => {
  it('answers 404 with the error body for what is not there, whoever asks', async () => {
    for (const path of ['/nothing', '', '/', '/users/x/y', '/users/user_x/nothing'])
      for (const headers of [authorized(), {}] as Record<string, string>[])
        await expectError(
          await app.fetch(`/${tenant}/api/v1${path}`, { headers }),
          404,
          'NOT_FOUND',
          'No such resource.',
        )
    await expectError(await app.fetch(`/${tenant}/api/v2/users`, { headers: authorized() }), 404, 'NOT_FOUND')
    await expectError(await app.fetch(`/${tenant}/api`, { headers: authorized() }), 404, 'NOT_FOUND')
  })

  it('answers 404 outside every surface too: the error body to programs, a page to browsers', async () => {
    for (const path of [
      '/',
      '/robots.txt',
      `/${tenant}`,
      `/${tenant}/oidc/nothing`,
      '/dev/nothing',
      '/%zz',
    ]) {
      await expectError(await app.fetch(path, { method: 'POST' }), 404, 'NOT_FOUND', 'No such resource.')
      const page = await app.fetch(path, { headers: { accept: 'text/html,*/*;q=0.8' } })
      expect([path, page.status, page.headers.get('content-type')]).toEqual([
        path,
        404,
        'text/html; charset=utf-8',
      ])
      expect(await page.text()).toContain(page.headers.get('x-request-id'))
    }
  })

  it('answers 404 for an unknown tenant as for an unknown path', async () => {
    for (const slug of ['no-such-tenant', 'UPPER', '-', 'x'.repeat(64), 'constructor', '__proto__']) {
      await expectError(
        await app.fetch(`/${slug}/api/v1/users`, { headers: authorized() }),
        404,
        'NOT_FOUND',
        'No such resource.',
      )
      await expectError(
        await app.fetch(`/${slug}/api/v1/users`, { method: 'PUT' }),
        404,
        'NOT_FOUND',
        'No such resource.',
      )
    }
  })

  it('knows one spelling of each path (security, rows 43 and 49)', async () => {
    const t = tenant
    expect(await rawStatus(`/${t}/api/v1/users`)).toBe(200)
    const spellings = [
      `//${t}/api/v1/users`,
      `/${t}//api/v1/users`,
      `/${t}/api//v1/users`,
      `/${t}/api/v1//users`,
      `/${t}/api/v1/users/`,
      `/${t}/api/v1/users//`,
      `/${t}/api/v1/%75sers`,
      `/${t}/api/v1/users%2f`,
      `/${t}/api%2fv1/users`,
      `/${t}%2fapi/v1/users`,
      `/%74${t.slice(1)}/api/v1/users`,
      `/%2574${t.slice(1)}/api/v1/users`,
      `/${t.toUpperCase()}/api/v1/users`,
      `/${t}/API/v1/users`,
      `/${t}/api/v1/Users`,
      `/${t};a=b/api/v1/users`,
      `/${t}/api/v1/users;a=b`,
      `/${t}/api/v1/users.`,
      `/${t}./api/v1/users`,
      `/${t}/api/v1/users%00`,
      `/${t}/api/v1/%zz`,
      `/${t}/api/v1/%`,
      `/${t}\\api/v1/users`,
      `/${t}/api/v1/users\\`,
      `/${t}/api/v1/./users`,
      `/${t}/api/v1/x/../users`,
      `/${t}/api/v1/%2e%2e/v1/users`,
      `/x/../${t}/api/v1/users`,
    ]
    const answers = await Promise.all(spellings.map(async (path) => [path, await rawStatus(path)]))
    expect(answers).toEqual(spellings.map((path) => [path, 404]))
  })

  it('has static paths win over parameters', async () => {
    await expectError(
      await app.fetch(`/${tenant}/api/v1/users/by-email`, { headers: authorized() }),
      400,
      'BAD_USER_INPUT',
      expect.any(String),
      [{ field: 'email', description: 'is required' }],
    )
    const refused = await app.fetch(`/${tenant}/api/v1/users/by-email`, {
      method: 'DELETE',
      headers: authorized(),
    })
    await expectError(refused, 405, 'METHOD_NOT_ALLOWED')
  })
})

describe('methods', () => {
  it.each([
    ['/users', 'PUT', 'POST, GET, HEAD'],
    ['/users', 'DELETE', 'POST, GET, HEAD'],
    ['/users/user_x', 'POST', 'GET, HEAD, PATCH, DELETE'],
    ['/users/by-email', 'PATCH', 'GET, HEAD'],
    ['/users', 'OPTIONS', 'POST, GET, HEAD'],
  ])('answers 405 with Allow for %s %s', async (path, method, allow) => {
    const response = await app.fetch(`/${tenant}/api/v1${path}`, { method, headers: authorized() })
    await expectError(response, 405, 'METHOD_NOT_ALLOWED', `Allowed here: ${allow}.`)
    expect(response.headers.get('allow')).toBe(allow)
  })

  it('answers HEAD as GET without the body', async () => {
    const response = await app.fetch(`/${tenant}/api/v1/users`, { method: 'HEAD', headers: authorized() })
    expect(response.status).toBe(200)
    expect(await response.text()).toBe('')
    expect((await app.fetch(`/${tenant}/api/v1/users`, { method: 'HEAD' })).status).toBe(401)
  })
})

describe('authentication', () => {
  it.each([
    ['no header', undefined, 'Bearer, DPoP algs="ES256 ES384 ES512 RS256 PS256 EdDSA Ed25519"'],
    ['another scheme', 'Basic dXNlcjpwYXNz', 'Bearer error="invalid_token"'],
    ['a token that is none', 'Bearer nonsense', 'Bearer error="invalid_token"'],
    ['what only looks like a JWT', 'Bearer a.b.c', 'Bearer error="invalid_token"'],
    ['a very long token', `Bearer ${'x'.repeat(9000)}`, 'Bearer error="invalid_token"'],
  ])('answers 401 with WWW-Authenticate for %s', async (_, authorization, challenge) => {
    const headers: Record<string, string> = authorization === undefined ? {} : { authorization }
    const response = await expectError(
      await app.fetch(`/${tenant}/api/v1/users`, { headers }),
      401,
      'UNAUTHENTICATED',
    )
    expect(response.headers.get('www-authenticate')).toBe(challenge)
  })

  it('comes before the query and the body: who may not call learns nothing of them', async () => {
    await expectError(await app.fetch(`/${tenant}/api/v1/users?nonsense=1`), 401, 'UNAUTHENTICATED')
    const reader = await tokenFor(tenant, ['users:read'])
    const response = await app.fetch(`/${tenant}/api/v1/users?x=1`, {
      method: 'POST',
      body: '{',
      headers: { ...json, authorization: `Bearer ${reader}` },
    })
    await expectError(response, 403, 'FORBIDDEN', expect.stringContaining('users:write'))
    expect(response.headers.get('www-authenticate')).toBe(
      'Bearer error="insufficient_scope", scope="users:write"',
    )
  })
})

describe('bodies', () => {
  const post = (body: string | ReadableStream | undefined, headers: Record<string, string> = json) =>
    app.fetch(`/${tenant}/api/v1/users`, {
      method: 'POST',
      headers: authorized(headers),
      body,
      duplex: 'half',
    } as RequestInit)

  it.each(['{', '', '{"name":}', "{'name':'x'}", '{"name":"x"} x', '\ufeff{}', 'undefined'])(
    'answers 400 for JSON that is none: %j',
    async (body) => {
      await expectError(await post(body), 400, 'BAD_USER_INPUT', expect.any(String), [
        { field: '', description: 'the body is not valid JSON' },
      ])
    },
  )

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonp',
    '',
  ])('answers 415 for %j', async (type) => {
    await expectError(
      await post('{}', { 'content-type': type }),
      415,
      'UNSUPPORTED_MEDIA_TYPE',
      'The body must be application/json.',
    )
  })

  it('takes application/json with a charset, in any letter case', async () => {
    expect((await post('{}', { 'content-type': 'Application/JSON; charset=utf-8' })).status).toBe(201)
  })

  it('answers 413 for more than 100 KB, announced or not', async () => {
    const big = JSON.stringify({ name: 'x'.repeat(100_001) })
    await expectError(await post(big), 413, 'PAYLOAD_TOO_LARGE')
    const chunked = new ReadableStream({
      pull(controller) {
        controller.enqueue(new TextEncoder().encode('x'.repeat(65_536)))
      },
    })
    await expectError(await post(chunked), 413, 'PAYLOAD_TOO_LARGE')
  })

  it('refuses members that would reach a prototype', async () => {
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

describe('request ids', () => {
  it('takes over a harmless X-Request-Id and makes one otherwise', async () => {
    const idFor = async (sent?: string) => {
      const response = await app.fetch(`/${tenant}/api/v1/nothing`, {
        headers: sent === undefined ? {} : { 'x-request-id': sent },
      })
      return (await expectError(response, 404, 'NOT_FOUND')).headers.get('x-request-id')
    }
    expect(await idFor('trace-0123456789')).toBe('trace-0123456789')
    for (const sent of [undefined, 'short', 'x'.repeat(65), 'a b c d e f g', '<script>alert(1)</script>'])
      expect(await idFor(sent)).toMatch(/^[0-9a-f-]{36}$/)
  })

  it('is in successful answers too', async () => {
    const response = await app.fetch(`/${tenant}/api/v1/users`, {
      headers: authorized({ 'x-request-id': 'trace-0123456789' }),
    })
    expect([
      response.status,
      response.headers.get('x-request-id'),
      response.headers.get('cache-control'),
    ]).toEqual([200, 'trace-0123456789', 'no-store'])
  })
})

describe('routes as data', () => {
  const failing = (error: unknown) =>
    createRestApp([
      restRoute({
        method: 'GET',
        path: '/things/:thingId',
        operationId: 'getThing',
        summary: 'Fails.',
        scope: 'users:read',
        response: Done,
        handle: async () => {
          throw error
        },
      }),
    ]).request(`http://localhost:3000/${tenant}/api/v1/things/1`, { headers: authorized() })

  it('hides what was not meant for the caller', async () => {
    await expectError(
      await failing(new Error('password=hunter2')),
      500,
      'INTERNAL_SERVER_ERROR',
      'Something went wrong on our side.',
    )
    await expectError(
      await failing('text'),
      500,
      'INTERNAL_SERVER_ERROR',
      'Something went wrong on our side.',
    )
    await expectError(
      await failing(Object.assign(new Error('host:5432'), { code: 'ECONNREFUSED' })),
      503,
      'UNAVAILABLE',
      'The service is busy; try again.',
    )
  })

  it('sends the headers of the error', async () => {
    const limited = await expectError(await failing(new RateLimited(30)), 429, 'RATE_LIMITED')
    expect(limited.headers.get('retry-after')).toBe('30')
    const away = await expectError(
      await failing(new Unavailable('Mail cannot be sent now.')),
      503,
      'UNAVAILABLE',
      'Mail cannot be sent now.',
    )
    expect(away.headers.get('retry-after')).toBe('5')
  })

  it('hands over parameters, declared queries and the body, and nothing of what was not declared', async () => {
    const seen: unknown[] = []
    const table = createRestApp([
      restRoute({
        method: 'PUT',
        path: '/users/:userId/things/:thingId',
        operationId: 'putThing',
        summary: 'Tells what it got.',
        scope: 'users:write',
        query: z.object({ why: z.string() }),
        body: z.object({ a: z.number() }),
        response: Done,
        handle: async (ctx, { params: { userId, thingId }, query, paging, body }) => {
          seen.push({ tenant: ctx.tenant, userId, thingId, why: query.why, paging, body })
          return toDone(ctx, 'Done.')
        },
      }),
    ])
    const put = (query: string) =>
      table.request(`http://localhost:3000/${tenant}/api/v1/users/u1/things/t-2${query}`, {
        method: 'PUT',
        headers: authorized(json),
        body: '{"a":1}',
      })
    const done = await put('?why=a%20b')
    expect([done.status, await done.json()]).toEqual([
      200,
      { message: 'Done.', requestId: expect.any(String), fields: [] },
    ])
    expect(seen).toEqual([{ tenant, userId: 'u1', thingId: 't-2', why: 'a b', paging: {}, body: { a: 1 } }])
    await expectError(await put('?why=a&page=1'), 400, 'BAD_USER_INPUT', expect.any(String), [
      { field: 'page', description: 'is not a parameter of this request' },
    ])
  })
})
