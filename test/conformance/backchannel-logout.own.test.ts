import { describe, expect } from 'vitest'
import { startLogoutDeliveries } from '../../src/oidc/logout/logout-deliveries.ts'
import { startPlan } from '../support/conformance-plan.ts'
import { test as base } from '../support/fixtures.ts'
import { startLogoutReceiver, validateLogoutToken } from '../support/logout-receiver.ts'

const POST_LOGOUT = 'https://rp.example.com/post_logout_redirect'

// Own process: it delivers the logout tokens of all tenants. Each test has the name of the module whose
// conditions it checks.

const test = base
  .extend('receiver', { scope: 'file' }, async ({ app }, { onCleanup }) => {
    if (!app) throw new Error('no app')
    const receiver = await startLogoutReceiver()
    const stopDeliveries = startLogoutDeliveries()
    onCleanup(async () => {
      await stopDeliveries()
      await receiver.close()
    })
    return receiver
  })
  .extend('plan', { scope: 'file' }, async ({ app, tenant, newPerson, receiver }) => {
    const { email } = await newPerson()
    return startPlan(app, tenant, email, 'query', {
      allowedLogoutUrls: [POST_LOGOUT],
      backchannelLogoutUrl: receiver.urlOf('/backchannel_logout'),
    })
  })

describe('oidcc-backchannel-rp-initiated-logout-certification-test-plan', () => {
  test('oidcc-backchannel-logout-discovery-endpoint-verification', async ({ app, tenant, plan }) => {
    const response = await app.fetch(`/${tenant}/.well-known/openid-configuration`)
    expect(await response.json()).toMatchObject({
      end_session_endpoint: `${plan.issuer}/oidc/logout`,
      backchannel_logout_supported: true,
      backchannel_logout_session_supported: true,
    })
  })

  test('oidcc-backchannel-rp-initiated-logout', async ({ app, tenant, receiver, plan }) => {
    const { tokens, idToken } = await plan.signIn()
    const state = crypto.randomUUID()
    const params = { id_token_hint: tokens.body.id_token ?? '', post_logout_redirect_uri: POST_LOGOUT, state }
    const response = await plan.browser.fetch(`/${tenant}/oidc/logout?${new URLSearchParams(params)}`)
    expect([response.status, response.headers.get('location')]).toEqual([
      303,
      `${POST_LOGOUT}?state=${state}`,
    ])

    const [request] = await receiver.waitFor('/backchannel_logout')
    if (!request) throw new Error('nothing came')
    expect([request.contentType, Object.keys(request.form)]).toEqual([
      'application/x-www-form-urlencoded',
      ['logout_token'],
    ])
    const { claims } = await validateLogoutToken(app.origin, tenant, plan.client.id, request)
    expect(claims).toMatchObject({
      sub: idToken.sub,
      sid: idToken.sid,
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
    })
    expect(idToken.sid).toEqual(expect.any(String))
    expect(claims).not.toHaveProperty('nonce')

    const { answer } = await plan.authorize({ prompt: 'none' })
    expect(answer).toMatchObject({ error: 'login_required' })
    expect(receiver.heardAt('/backchannel_logout')).toHaveLength(1)
  })
})
