import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newTenant } from '../support/actors.ts'
import { makeClient, type Provider, startProvider } from './provider.ts'

let provider: Provider
let tenant: string
let spa: Awaited<ReturnType<typeof makeClient>>
const ORIGIN = 'https://spa.example.com'

beforeAll(async () => {
  provider = await startProvider()
  tenant = await newTenant()
  spa = await makeClient(tenant, { appType: 'single-page', allowedOrigins: [ORIGIN] })
  await makeClient(tenant, { appType: 'single-page', allowedOrigins: ['https://other.example.com'] })
})
afterAll(() => provider.close())

const call = (path: string, method: string, origin: string, form?: Record<string, string>) =>
  fetch(`${provider.origin}/${tenant}/oidc/${path}`, {
    method,
    headers: { origin, ...(method === 'OPTIONS' && { 'access-control-request-method': 'POST' }) },
    ...(form && { body: new URLSearchParams(form) }),
  })
const allowed = (response: Response) => response.headers.get('access-control-allow-origin')

describe('cross-origin calls (security row 60)', () => {
  test.each(['token', 'userinfo', 'revoke'])(
    'of %s pass the preflight from an origin that a client lists',
    async (path) => {
      const response = await call(path, 'OPTIONS', ORIGIN)
      expect([response.status, allowed(response), response.headers.get('vary')]).toEqual([
        204,
        ORIGIN,
        'origin',
      ])
      expect(response.headers.get('access-control-allow-headers')).toBe('authorization, content-type, dpop')
      expect(response.headers.get('access-control-allow-credentials')).toBeNull()
    },
  )

  test.each([
    'null',
    'https://evil.example',
    `${ORIGIN}.evil.example`,
    'https://spa.example.co',
    'http://spa.example.com',
    `${ORIGIN}:8443`,
    '',
  ])('do not pass it from %s', async (origin) => {
    expect(allowed(await call('token', 'OPTIONS', origin))).toBeNull()
  })

  test("may be read from the client's own origin only, errors included", async () => {
    const form = { grant_type: 'authorization_code', client_id: spa.id }
    expect(allowed(await call('token', 'POST', ORIGIN, form))).toBe(ORIGIN)
    expect(allowed(await call('token', 'POST', 'https://other.example.com', form))).toBeNull()
    expect(allowed(await call('token', 'POST', ORIGIN, { grant_type: 'authorization_code' }))).toBeNull()
  })
})
