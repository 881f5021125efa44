import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { newTenant } from '../support/actors.ts'
import { toCorsHeaders } from '../support/cors.ts'
import { test as base, newOpenTenant } from '../support/registration.ts'

const PAGE = 'http://localhost:6274'
const METADATA = { redirect_uris: [`${PAGE}/callback`], token_endpoint_auth_method: 'none' }
const isReadable = (response: Response, origin = PAGE) =>
  response.headers.get('access-control-allow-origin') === origin

const test = base
  .extend('openTenant', { scope: 'file' }, async ({ app: _app }) => {
    const slug = await newTenant()
    await updateSettings(createPlatformCtx(slug), { openRegistration: true })
    return slug
  })
  /** Calls an endpoint of a tenant as a page of an origin does. */
  .extend(
    'call',
    { scope: 'file' },
    ({ app }) =>
      (url: string, method: string, { origin = PAGE, token, body }: PageRequest = {}) =>
        fetch(new URL(url, app.origin), {
          method,
          headers: {
            origin,
            ...(token && { authorization: `Bearer ${token}` }),
            ...(body && { 'content-type': 'application/json' }),
            ...(method === 'OPTIONS' && { 'access-control-request-method': 'POST' }),
          },
          ...(body && { body: JSON.stringify(body) }),
        }),
  )
type PageRequest = { origin?: string; token?: string; body?: object }

describe('open registration from a page', () => {
  test('answers the preflight and the request of any origin, errors included', async ({
    openTenant,
    call,
  }) => {
    const url = `/${openTenant}/oidc/register`
    expect(toCorsHeaders(await call(url, 'OPTIONS'))).toEqual({
      'access-control-allow-origin': PAGE,
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': 'authorization, content-type, dpop',
      'access-control-expose-headers': 'dpop-nonce, www-authenticate, x-request-id',
      'access-control-max-age': '600',
      vary: 'origin',
    })
    const registered = await call(url, 'POST', { body: METADATA })
    expect([registered.status, isReadable(registered)]).toEqual([201, true])
    expect(registered.headers.get('access-control-allow-credentials')).toBeNull()
    const rejected = await call(url, 'POST', { body: { redirect_uris: [] } })
    expect([rejected.status, isReadable(rejected)]).toEqual([400, true])
  })

  test('does not answer the origin that sandboxed pages share', async ({ openTenant, call }) => {
    const url = `/${openTenant}/oidc/register`
    for (const method of ['OPTIONS', 'POST'])
      expect(isReadable(await call(url, method, { origin: 'null' }), 'null')).toBe(false)
  })

  test('leads to a client whose pages manage it and redeem its codes', async ({ openTenant, call }) => {
    const registered = await call(`/${openTenant}/oidc/register`, 'POST', { body: METADATA })
    const client = (await registered.json()) as Record<string, string>
    const [url = '', token] = [client.registration_client_uri, client.registration_access_token]
    const { pathname } = new URL(url)
    expect(isReadable(await call(pathname, 'OPTIONS'))).toBe(true)
    const read = await call(pathname, 'GET', { token })
    expect([read.status, isReadable(read)]).toEqual([200, true])
    const elsewhere = await call(pathname, 'GET', { token, origin: 'https://evil.example' })
    expect(isReadable(elsewhere, 'https://evil.example')).toBe(false)
    expect(isReadable(await call(`/${openTenant}/oidc/token`, 'OPTIONS'))).toBe(true)
    const removed = await call(pathname, 'DELETE', { token })
    expect([removed.status, isReadable(removed)]).toEqual([204, true])
  })
})

describe('registration with a token from a page', () => {
  test('is for origins that a client of the tenant lists', async ({
    call,
    register,
    newRegistrationToken,
  }) => {
    const tenant = await newOpenTenant()
    const url = `/${tenant}/oidc/register`
    const post = async () =>
      call(url, 'POST', { token: await newRegistrationToken({ uses: 1 }, tenant), body: METADATA })
    expect(isReadable(await call(url, 'OPTIONS'))).toBe(false)
    expect(isReadable(await post())).toBe(false)
    await register(METADATA, tenant)
    expect(isReadable(await call(url, 'OPTIONS'))).toBe(true)
    expect(isReadable(await post())).toBe(true)
  })
})
