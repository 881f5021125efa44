import { request as httpRequest } from 'node:http'
import { describe, expect } from 'vitest'
import { test as base } from '../support/fixtures.ts'
import { expectError } from '../support/rest-errors.ts'

const test = base
  .extend('authorization', { scope: 'file' }, ({ token }) => ({ authorization: `Bearer ${token}` }))
  /** Sends a request target unchanged, which fetch would normalize. */
  .extend(
    'rawStatus',
    { scope: 'file' },
    ({ app, authorization }) =>
      (target: string) =>
        new Promise<number>((resolve, reject) => {
          const { port } = new URL(app.origin)
          httpRequest({ host: '127.0.0.1', port, path: target, headers: authorization }, (response) => {
            response.resume()
            resolve(response.statusCode ?? 0)
          })
            .once('error', reject)
            .end()
        }),
  )

describe('a path', () => {
  test('that does not exist is answered with 404 and the error body, with and without a token', async ({
    app,
    tenant,
    authorization,
  }) => {
    for (const path of ['/nothing', '', '/', '/users/x/y', '/users/user_x/nothing'])
      for (const headers of [authorization, {}] as Record<string, string>[])
        await expectError(
          await app.fetch(`/${tenant}/api/v1${path}`, { headers }),
          404,
          'NOT_FOUND',
          'No such resource.',
        )
    await expectError(
      await app.fetch(`/${tenant}/api/v2/users`, { headers: authorization }),
      404,
      'NOT_FOUND',
    )
    await expectError(await app.fetch(`/${tenant}/api`, { headers: authorization }), 404, 'NOT_FOUND')
  })

  test('outside every surface is answered with 404: the error body for programs, a page for browsers', async ({
    app,
    tenant,
  }) => {
    for (const path of [
      '/robots.txt',
      '/no-such-tenant',
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

  test('of an unknown tenant is answered as an unknown path', async ({ app, authorization }) => {
    for (const slug of ['no-such-tenant', 'UPPER', '-', 'x'.repeat(64), 'constructor', '__proto__']) {
      await expectError(
        await app.fetch(`/${slug}/api/v1/users`, { headers: authorization }),
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

  test('has one spelling; others are answered with 404', async ({ tenant, rawStatus }) => {
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

  test('without parameters takes precedence over one with parameters', async ({
    app,
    tenant,

    authorization,
  }) => {
    await expectError(
      await app.fetch(`/${tenant}/api/v1/users/by-email`, { headers: authorization }),
      400,
      'BAD_USER_INPUT',
      expect.any(String),
      [{ field: 'email', description: 'is required' }],
    )
    const rejected = await app.fetch(`/${tenant}/api/v1/users/by-email`, {
      method: 'DELETE',
      headers: authorization,
    })
    await expectError(rejected, 405, 'METHOD_NOT_ALLOWED')
  })
})

describe('a method', () => {
  test.for([
    ['/users', 'PUT', 'POST, GET, HEAD'],
    ['/users', 'DELETE', 'POST, GET, HEAD'],
    ['/users/user_x', 'POST', 'GET, HEAD, PATCH, DELETE'],
    ['/users/by-email', 'PATCH', 'GET, HEAD'],
    ['/users', 'OPTIONS', 'POST, GET, HEAD'],
  ])(
    'that the path does not have is answered with 405 and Allow: %s %s',
    async ([path, method, allow], { app, tenant, authorization }) => {
      const response = await app.fetch(`/${tenant}/api/v1${path}`, { method, headers: authorization })
      await expectError(response, 405, 'METHOD_NOT_ALLOWED', `Allowed methods: ${allow}.`)
      expect(response.headers.get('allow')).toBe(allow)
    },
  )

  test('HEAD is answered as GET without the body', async ({ app, tenant, authorization }) => {
    const response = await app.fetch(`/${tenant}/api/v1/users`, { method: 'HEAD', headers: authorization })
    expect(response.status).toBe(200)
    expect(await response.text()).toBe('')
    expect((await app.fetch(`/${tenant}/api/v1/users`, { method: 'HEAD' })).status).toBe(401)
  })
})
