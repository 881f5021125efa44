import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClient } from '../src/clients/clients.ts'
import { platformCtx } from '../src/ctx.ts'
import { apiAudienceOf } from '../src/oidc/keys/keys.ts'
import { issueAccessToken } from '../src/oidc/token/access-tokens.ts'
import { newTenant } from './support/actors.ts'
import { startApp, type TestApp } from './support/app.ts'

const ORIGIN = 'https://admin.example.com'
const OTHER = 'https://other.example.com'

let app: TestApp
let tenant: string
let token: string

beforeAll(async () => {
  app = await startApp()
  tenant = await newTenant()
  const spa = (allowedOrigins: string[]) =>
    createClient(platformCtx(tenant), {
      name: 'App',
      appType: 'single-page',
      type: 'login',
      allowedOrigins,
      scopes: ['users:read'],
    })
  const { client } = await spa([ORIGIN])
  await spa([OTHER])
  token = await issueAccessToken(tenant, {
    subject: client.id,
    clientId: client.id,
    scopes: ['users:read'],
    audience: [apiAudienceOf(tenant)],
    lifetimeSeconds: 600,
  })
})
afterAll(() => app.close())

const corsOf = ({ headers }: Response) =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control') || name === 'vary'))

describe.each(['/graphql', '/api/v1/users'])('%s', (path) => {
  const preflight = (origin: string) =>
    app.fetch(`/${tenant}${path}`, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST' },
    })
  const read = (headers: Record<string, string>) =>
    path === '/graphql'
      ? app.fetch(`/${tenant}${path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body: '{"query":"{ users { totalSize } }"}',
        })
      : app.fetch(`/${tenant}${path}`, { headers })
  const authorization = () => `Bearer ${token}`

  it('passes the preflight of an origin that a client of the tenant lists', async () => {
    for (const origin of [ORIGIN, OTHER]) {
      const response = await preflight(origin)
      expect(response.status).toBe(204)
      expect(corsOf(response)).toEqual({
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

  it('passes no other preflight', async () => {
    for (const origin of ['https://evil.example', 'null', `${ORIGIN}.evil.example`])
      expect(corsOf(await preflight(origin))).toEqual({ vary: 'origin' })
  })

  it("is readable from the token's own client's origin, with its failures", async () => {
    const answered = await read({ origin: ORIGIN, authorization: authorization() })
    expect(answered.status).toBe(200)
    expect(answered.headers.get('access-control-allow-origin')).toBe(ORIGIN)
    expect(answered.headers.get('access-control-allow-credentials')).toBeNull()
    const refused = await read({ origin: ORIGIN, authorization: `${authorization().slice(0, -4)}AAAA` })
    expect(refused.status).toBe(401)
    expect(refused.headers.get('access-control-allow-origin')).toBe(ORIGIN)
  })

  it('is not readable from another origin, or without a token', async () => {
    for (const headers of [{ origin: OTHER, authorization: authorization() }, { origin: ORIGIN }])
      expect((await read(headers as Record<string, string>)).headers.get('access-control-allow-origin')).toBe(
        null,
      )
    expect(corsOf(await read({ authorization: authorization() }))).toEqual({})
  })
})
