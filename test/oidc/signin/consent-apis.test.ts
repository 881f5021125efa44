import { decodeJwt } from 'jose'
import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../../src/context/context.ts'
import { updateSettings } from '../../../src/tenants/settings.ts'
import { decide, enterCode, startDevice } from '../../support/device-flow.ts'
import { answerIn } from '../../support/protocol.ts'
import { test as base } from '../../support/visitor.ts'

const ORDERS = 'https://api.example.com/orders'
const STOCK = 'https://api.example.com/stock'

const test = base
  .extend('apis', { scope: 'file' }, async ({ newClient }) => [
    await newClient({
      name: 'Orders API',
      resources: [ORDERS],
      translations: [{ locale: 'de', name: 'Bestellungen' }],
    }),
    await newClient({ name: 'Stock <API>', resources: [STOCK] }),
  ])
  .extend('shop', { scope: 'file' }, ({ newClient, apis: _ }) => newClient({ requireConsent: true }))
  .extend('ask', ({ oidc, ownVisitor, shop }) => async (resource?: string, more: object = {}) => {
    const asked = { scope: 'openid', ...(resource && { resource }), ...more }
    const { response, ...page } = await ownVisitor.browser.open(oidc.authorizePath(asked, shop))
    return { ...page, html: await response.text() }
  })
  .extend(
    'askSilently',
    ({ ownVisitor, shop }) =>
      (resource?: string, by = shop) =>
        ownVisitor.authorize({ scope: 'openid', ...(resource && { resource }) }, by),
  )

describe('consent to an API (RFC 8707)', () => {
  test('names the client that serves the resource, in the language of the page', async ({ ask }) => {
    expect((await ask(ORDERS)).html).toContain('Use <strong><bdi class="given">Orders API</bdi></strong>')
    const german = await ask(ORDERS, { ui_locales: 'de' })
    expect(german.html).toContain('<strong><bdi class="given">Bestellungen</bdi></strong> verwenden')
    expect((await ask(STOCK)).html).toContain('Use <strong><bdi class="given">Stock &lt;API></bdi></strong>')
    expect((await ask()).html).not.toContain('Orders API')
  })

  test('is asked for each API once, recorded, and shown to administrators and the user', async ({
    oidc,
    ownVisitor: { user, browser },
    shop,
    ask,
    askSilently,
    rest,
    gql,
    events,
  }) => {
    const answer = answerIn((await browser.submit(await ask(ORDERS), { step: 'allow' })).location)
    expect((await oidc.exchange(answer.code ?? '', {}, shop)).status).toBe(200)
    expect(await askSilently(ORDERS)).toHaveProperty('code')
    expect(await askSilently()).toHaveProperty('code')
    expect(await askSilently(STOCK)).toMatchObject({ error: 'consent_required' })
    await browser.submit(await ask(STOCK), { step: 'allow' })
    expect(await askSilently(STOCK)).toHaveProperty('code')

    const { body } = await rest('GET', `/users/${user.id}/consents`)
    expect(body.consents).toMatchObject([{ clientId: shop.id, resources: [ORDERS, STOCK] }])
    const { body: queried } = await gql(
      'query ($id: ID!) { user(id: $id) { consents(first: 1) { nodes { resources } } } }',
      { id: user.id },
    )
    expect(queried.data.user.consents.nodes).toEqual([{ resources: [ORDERS, STOCK] }])
    const granted = await events({ userId: user.id, type: 'consent.granted' })
    expect(granted.map(({ detail }) => detail?.resources)).toEqual([ORDERS, STOCK])
  })

  test('of a device names the API too', async ({ app, tenant, newClient, ownVisitor, apis: _ }) => {
    const tv = await newClient({ appType: 'native', callbacks: [] })
    const { body } = await startDevice(app, tenant, tv, { scope: 'openid', resource: ORDERS })
    const page = await enterCode(ownVisitor.browser, tenant, body.user_code as string)
    expect(page.html).toContain('Use <strong><bdi class="given">Orders API</bdi></strong>')
    expect((await decide(ownVisitor.browser, tenant, body.user_code as string, 'allow')).status).toBe(200)
  })

  test('is not asked of a client that needs no consent, nor for the API that it serves itself', async ({
    oidc,
    ownVisitor,
    newClient,
    apis: _,
    askSilently,
  }) => {
    expect(await ownVisitor.authorize({ resource: ORDERS })).toHaveProperty('code')
    const own = 'https://own.example.com'
    const server = await newClient({ requireConsent: true, resources: [own] })
    const { response, path } = await ownVisitor.browser.open(oidc.authorizePath({ scope: 'openid' }, server))
    await ownVisitor.browser.submit({ html: await response.text(), path }, { step: 'allow' })
    expect(await askSilently(own, server)).toHaveProperty('code')
    expect(await askSilently(ORDERS, server)).toMatchObject({ error: 'consent_required' })
  })
})

describe('consent at a tenant with a default audience', () => {
  test('names it for a request of management scopes, whose tokens may be narrowed to it', async ({
    oidc,
    ownVisitor: { browser },
    tenant,
    newClient,
    apis: _,
  }) => {
    const ctx = createPlatformCtx(tenant)
    await updateSettings(ctx, { defaultAudience: ORDERS })
    const app = await newClient({ requireConsent: true, scopes: ['account'] })
    const asked = { scope: 'openid account offline_access', prompt: 'consent' }
    const { response, path } = await browser.open(oidc.authorizePath(asked, app))
    const html = await response.text()
    expect(html).toContain('Use <strong><bdi class="given">Orders API</bdi></strong>')
    const { code } = answerIn((await browser.submit({ html, path }, { step: 'allow' })).location)
    const { body } = await oidc.exchange(code ?? '', {}, app)
    expect(decodeJwt(body.access_token ?? '').aud).not.toContain(ORDERS)
    const narrowed = await oidc.token(
      { grant_type: 'refresh_token', refresh_token: body.refresh_token ?? '', scope: 'openid' },
      app,
    )
    expect(decodeJwt(narrowed.body.access_token ?? '').aud).toContain(ORDERS)
    await updateSettings(ctx, { defaultAudience: null })
  })
})

test('a consent page from before the default audience was set gives none', async ({
  tenant,
  ownVisitor: { browser },
  ask,
  askSilently,
}) => {
  const ctx = createPlatformCtx(tenant)
  const page = await ask()
  await updateSettings(ctx, { defaultAudience: STOCK })
  expect((await browser.submit(page, { step: 'allow' })).response.status).toBe(403)
  expect(await askSilently()).toMatchObject({ error: 'consent_required' })
  await updateSettings(ctx, { defaultAudience: null })
})

test('a consent from before the default audience was set does not cover it', async ({
  tenant,
  oidc,
  ownVisitor: { browser },
  shop,
  ask,
  askSilently,
}) => {
  const ctx = createPlatformCtx(tenant)
  await browser.submit(await ask(), { step: 'allow' })
  expect(await askSilently()).toHaveProperty('code')
  await updateSettings(ctx, { defaultAudience: ORDERS })
  expect(await askSilently()).toMatchObject({ error: 'consent_required' })
  const answer = answerIn((await browser.submit(await ask(), { step: 'allow' })).location)
  const { body } = await oidc.exchange(answer.code ?? '', {}, shop)
  expect(decodeJwt(body.access_token ?? '').aud).toContain(ORDERS)
  expect(await askSilently()).toHaveProperty('code')
  await updateSettings(ctx, { defaultAudience: null })
})

test('the page of apps names the APIs', async ({ tenant, ownVisitor: { browser }, ask }) => {
  await browser.submit(await ask(ORDERS), { step: 'allow' })
  const { response } = await browser.open(`/${tenant}/account/apps`)
  expect(await response.text()).toContain('Use <strong><bdi class="given">Orders API</bdi></strong>')
})
