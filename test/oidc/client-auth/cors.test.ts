import { describe, expect } from 'vitest'
import { env } from '../../../src/core/env.ts'
import { issuerOf } from '../../../src/core/issuer.ts'
import { issueAccessToken } from '../../../src/oidc/token/access-tokens.ts'
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

  test.for(['token', 'userinfo', '../graphql', '../api/v1/users'])(
    'to %s from another origin are recorded once an hour, with what to set',
    async (path, { tenant, listing, call, app, events }) => {
      const origin = `https://${path.replace(/\W/g, '')}.example`
      const token = await issueAccessToken(tenant, {
        subject: listing.id,
        clientId: listing.id,
        scopes: [],
        audience: [issuerOf(tenant)],
        lifetimeSeconds: 60,
      })
      const send = (from: string) =>
        path === 'token'
          ? call(path, 'POST', from, { grant_type: 'authorization_code', client_id: listing.id })
          : fetch(new URL(path, `${app.origin}/${tenant}/oidc/`), {
              headers: { origin: from, authorization: `Bearer ${token}` },
            })
      for (const from of [origin, origin, ORIGIN, env.baseUrl]) await send(from)
      for (const _ of [1, 2]) await call(path, 'OPTIONS', origin)
      const recorded = (await events({ type: 'token.refused' })).filter(
        ({ detail }) => detail?.origin !== undefined && JSON.stringify(detail).includes(origin),
      )
      const text = (whose: string) => expect.stringContaining(`is not in allowedOrigins of ${whose}`)
      expect(recorded).toMatchObject([
        { subjectIds: [listing.id], detail: { origin, expected: ORIGIN, description: text('the client') } },
        { subjectIds: [], detail: { origin, description: text('any client') } },
      ])
    },
  )
})
