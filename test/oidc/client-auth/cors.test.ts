import { describe, expect } from 'vitest'
import { test as base } from '../../support/fixtures.ts'

const ORIGIN = 'https://spa.example.com'
const allowed = (response: Response) => response.headers.get('access-control-allow-origin')

const test = base
  /** A client that lists ORIGIN. */
  .extend('listing', { scope: 'file' }, ({ newClient }) =>
    newClient({ appType: 'single-page', allowedOrigins: [ORIGIN] }),
  )
  .extend(
    'call',
    { scope: 'file' },
    ({ app, tenant }) =>
      (path: string, method: string, origin: string, form?: Record<string, string>) =>
        fetch(`${app.origin}/${tenant}/oidc/${path}`, {
          method,
          headers: { origin, ...(method === 'OPTIONS' && { 'access-control-request-method': 'POST' }) },
          ...(form && { body: new URLSearchParams(form) }),
        }),
  )

describe('cross-origin requests', () => {
  test.for(['token', 'userinfo', 'revoke'])(
    'to %s pass the preflight from an origin that a client lists',
    async (path, { listing, call }) => {
      expect(listing.allowedOrigins).toEqual([ORIGIN])
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

  test.for([
    'null',
    'https://evil.example',
    `${ORIGIN}.evil.example`,
    'https://spa.example.co',
    'http://spa.example.com',
    `${ORIGIN}:8443`,
    '',
  ])('do not pass the preflight from %s', async (origin, { call }) => {
    expect(allowed(await call('token', 'OPTIONS', origin))).toBeNull()
  })

  test('are readable from the origins of the client only, errors included', async ({
    newClient,
    listing,
    call,
  }) => {
    await newClient({ appType: 'single-page', allowedOrigins: ['https://other.example.com'] })
    const form = { grant_type: 'authorization_code', client_id: listing.id }
    expect(allowed(await call('token', 'POST', ORIGIN, form))).toBe(ORIGIN)
    expect(allowed(await call('token', 'POST', 'https://other.example.com', form))).toBeNull()
    expect(allowed(await call('token', 'POST', ORIGIN, { grant_type: 'authorization_code' }))).toBeNull()
  })
})
