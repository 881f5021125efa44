import { decodeJwt } from 'jose'
import * as openid from 'openid-client'
import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../../src/context/context.ts'
import { issuerOf } from '../../../src/core/issuer.ts'
import { updateSettings } from '../../../src/tenants/settings.ts'
import { decide, enterCode, pollWith, startDevice } from '../../support/device-flow.ts'
import { test as base, startRequest } from '../../support/openid-client.ts'
import { answerIn, basic, signInAt } from '../../support/protocol.ts'

const PLAIN = { scope: null }
const ORDERS = 'https://api.example.com/orders'
const test = base
  .extend('shop', { scope: 'file' }, ({ newClient }) => newClient({ resources: [ORDERS] }))
  .extend('strict', { scope: 'file' }, ({ newClient }) => newClient({ requireConsent: true }))
  /** Runs `work` while requests without `scope` have these. */
  .extend(
    'withDefaults',
    { scope: 'file' },
    ({ tenant }) =>
      async (defaultScopes: string[], work: () => Promise<void>) => {
        const ctx = createPlatformCtx(tenant)
        await updateSettings(ctx, { defaultScopes })
        try {
          await work()
        } finally {
          await updateSettings(ctx, { defaultScopes: null })
        }
      },
  )

describe('an OAuth request without openid (RFC 6749)', () => {
  test('gets an access token for its resource and a refresh token, and no ID token', async ({
    ownVisitor,
    oidc,
    shop,
  }) => {
    const tokens = await ownVisitor.newTokens({ scope: 'offline_access', resource: ORDERS }, shop)
    expect(tokens).not.toHaveProperty('id_token')
    expect(tokens.scope).toBe('offline_access')
    expect(decodeJwt(tokens.access_token)).toMatchObject({ aud: ORDERS, sub: ownVisitor.user.id })
    const refreshed = await oidc.refresh(tokens.refresh_token, {}, shop)
    expect(refreshed).toMatchObject({ status: 200, body: { scope: 'offline_access' } })
    expect(refreshed.body).not.toHaveProperty('id_token')
  })

  test('works with openid-client, which expects no ID token', async ({
    shop,
    discover,
    newBrowser,
    newPerson,
  }) => {
    const config = await discover(shop)
    const user = await newPerson()
    const { path, checks } = await startRequest(config, { scope: 'email', resource: ORDERS })
    const { location } = await signInAt(newBrowser(), path, user.email)
    const { expectedNonce: _, ...plain } = { ...checks, idTokenExpected: false }
    const tokens = await openid.authorizationCodeGrant(config, new URL(location ?? ''), plain)
    expect([tokens.claims(), tokens.scope]).toEqual([undefined, 'email'])
  })

  test('gets a token that userinfo rejects, and says which scope is missing (OIDC Core, section 5.3)', async ({
    tenant,
    ownVisitor,
    oidc,
    shop,
  }) => {
    const { access_token: token } = await ownVisitor.newTokens({ scope: 'email' }, shop)
    // Its audience is the issuer, which accepts no token.
    expect(decodeJwt(token).aud).toBe(issuerOf(tenant))
    const response = await oidc.userinfo(token)
    expect(response.status).toBe(401)
    expect(response.headers.get('www-authenticate')).toContain('error="invalid_token"')
  })

  test('without a scope gets none, and its response no empty one', async ({
    app,
    tenant,
    ownVisitor,
    shop,
  }) => {
    const tokens = await ownVisitor.newTokens({ ...PLAIN, resource: ORDERS }, shop)
    expect(tokens).not.toHaveProperty('scope')
    expect(decodeJwt(tokens.access_token)).not.toHaveProperty('scope')
    const response = await app.fetch(`/${tenant}/oidc/introspect`, {
      method: 'POST',
      headers: { authorization: basic(shop) },
      body: new URLSearchParams({ token: tokens.access_token }),
    })
    const body = await response.json()
    expect(body).toMatchObject({ active: true, aud: ORDERS })
    expect(body).not.toHaveProperty('scope')
  })

  test('without a scope gets the default scopes of the tenant, also for a device', async ({
    app,
    tenant,
    ownVisitor,
    newClient,
    shop,
    withDefaults,
  }) => {
    const tv = await newClient({ appType: 'native', callbacks: [] })
    await withDefaults(['openid', 'email'], async () => {
      await expect.poll(async () => (await ownVisitor.newTokens(PLAIN, shop)).scope).toBe('openid email')
      expect((await ownVisitor.newTokens({ scope: 'phone' }, shop)).scope).toBe('phone')
      const { body } = await startDevice(app, tenant, tv, {})
      await decide(ownVisitor.browser, tenant, body.user_code as string, 'allow')
      expect((await pollWith(app, tenant, tv, body.device_code as string)).body).toMatchObject({
        scope: 'openid email',
        id_token: expect.any(String),
      })
    })
  })

  test('of a device needs no scope', async ({ app, tenant, ownVisitor, newClient }) => {
    const tv = await newClient({ appType: 'native', callbacks: [] })
    const { status, body } = await startDevice(app, tenant, tv, {})
    expect(status).toBe(200)
    const page = await enterCode(ownVisitor.browser, tenant, body.user_code as string)
    expect(page.html).toContain('It does not ask for anything from your account.')
    await decide(ownVisitor.browser, tenant, body.user_code as string, 'allow')
    const polled = await pollWith(app, tenant, tv, body.device_code as string)
    expect(polled.status).toBe(200)
    expect(polled.body).not.toHaveProperty('id_token')
  })

  test('is rejected when the client may request none of the scopes', async ({ ownVisitor, shop }) => {
    expect(await ownVisitor.authorize({ scope: 'nonsense users:write' }, shop)).toMatchObject({
      error: 'invalid_scope',
      error_description: 'The client may request none of these scopes.',
    })
  })

  test('needs the consent of the user where the client requires it, also without a scope', async ({
    ownVisitor,
    oidc,
    strict,
  }) => {
    const { browser, authorize } = ownVisitor
    expect(await authorize(PLAIN, strict)).toMatchObject({ error: 'consent_required' })
    const { response, path } = await browser.open(oidc.authorizePath(PLAIN, strict))
    const html = await response.text()
    expect(html).toContain('It does not ask for any of your data.')
    expect(answerIn((await browser.submit({ html, path }, { step: 'allow' })).location)).toHaveProperty(
      'code',
    )
    expect(await authorize(PLAIN, strict)).toHaveProperty('code')
    expect(await authorize({ scope: 'openid' }, strict)).toMatchObject({ error: 'consent_required' })
  })
})
