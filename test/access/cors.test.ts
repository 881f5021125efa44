import { describe, expect } from 'vitest'
import { createClient } from '../../src/clients/clients.ts'
import { apiAudienceOf } from '../../src/core/issuer.ts'
import { issueAccessToken } from '../../src/oidc/token/access-tokens.ts'
import type { TestApp } from '../support/app.ts'
import { ORIGIN, toCorsHeaders } from '../support/cors.ts'
import { test as base } from '../support/fixtures.ts'

const OTHER_ORIGIN = 'https://other.example.com'

/** The token of a client that lists ORIGIN, in a tenant with another client that lists OTHER_ORIGIN. */
const test = base.extend('authorization', { scope: 'file' }, async ({ tenant, ctx }) => {
  const newSpa = (allowedOrigins: string[]) =>
    createClient(ctx, {
      name: 'App',
      appType: 'single-page',
      type: 'login',
      allowedOrigins,
      scopes: ['users:read'],
    })
  const { client } = await newSpa([ORIGIN])
  await newSpa([OTHER_ORIGIN])
  const token = await issueAccessToken(tenant, {
    subject: client.id,
    clientId: client.id,
    scopes: ['users:read'],
    audience: [apiAudienceOf(tenant)],
    lifetimeSeconds: 600,
  })
  return `Bearer ${token}`
})

describe.each(['/graphql', '/api/v1/users'])('CORS of %s', (path) => {
  const preflight = (app: TestApp, tenant: string, origin: string) =>
    app.fetch(`/${tenant}${path}`, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST' },
    })
  const read = (app: TestApp, tenant: string, headers: Record<string, string>) =>
    path === '/graphql'
      ? app.fetch(`/${tenant}${path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body: '{"query":"{ users { totalSize } }"}',
        })
      : app.fetch(`/${tenant}${path}`, { headers })

  test('permits the preflight of an origin that a client of the tenant lists', async ({
    authorization: _,
    app,
    tenant,
  }) => {
    for (const origin of [ORIGIN, OTHER_ORIGIN]) {
      const response = await preflight(app, tenant, origin)
      expect(response.status).toBe(204)
      expect(toCorsHeaders(response)).toEqual({
        'access-control-allow-origin': origin,
        'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
        'access-control-allow-headers':
          'authorization, content-type, dpop, idempotency-key, last-event-id, x-request-id',
        'access-control-expose-headers':
          'dpop-nonce, idempotency-replayed, link, location, ratelimit-limit, ratelimit-remaining, ratelimit-reset, retry-after, updated-at, www-authenticate, x-request-id',
        'access-control-max-age': '600',
        vary: 'origin',
      })
    }
  })

  test('does not permit the preflight of another origin', async ({ authorization: _, app, tenant }) => {
    for (const origin of ['https://evil.example', 'null', `${ORIGIN}.evil.example`])
      expect(toCorsHeaders(await preflight(app, tenant, origin))).toEqual({ vary: 'origin' })
  })

  test('permits the origin of the client of the token to read answers and errors', async ({
    app,
    tenant,
    authorization,
  }) => {
    const answered = await read(app, tenant, { origin: ORIGIN, authorization })
    expect(answered.status).toBe(200)
    expect(answered.headers.get('access-control-allow-origin')).toBe(ORIGIN)
    expect(answered.headers.get('access-control-allow-credentials')).toBeNull()
    const rejected = await read(app, tenant, {
      origin: ORIGIN,
      authorization: `${authorization.slice(0, -4)}AAAA`,
    })
    expect(rejected.status).toBe(401)
    expect(rejected.headers.get('access-control-allow-origin')).toBe(ORIGIN)
  })

  test('does not permit another origin, or a request without a token', async ({
    app,
    tenant,
    authorization,
  }) => {
    for (const headers of [{ origin: OTHER_ORIGIN, authorization }, { origin: ORIGIN }])
      expect(
        (await read(app, tenant, headers as Record<string, string>)).headers.get(
          'access-control-allow-origin',
        ),
      ).toBe(null)
    expect(toCorsHeaders(await read(app, tenant, { authorization }))).toEqual({})
  })
})
