import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startLogoutDeliveries } from '../../src/oidc/logout/logout-deliveries.ts'
import { newTenant } from '../support/actors.ts'
import { type LogoutReceiver, startLogoutReceiver, validateLogoutToken } from './logout-receiver.ts'
import { type Plan, startPlan } from './plan.ts'
import { makeUser, type Provider, startProvider } from './provider.ts'

// The plan oidcc-backchannel-rp-initiated-logout-certification-test-plan of the OpenID Foundation: each test is named after
// the module whose conditions it checks.

const EMAIL = 'ada@example.com'
const POST_LOGOUT = 'https://rp.example.com/post_logout_redirect'

let provider: Provider
let receiver: LogoutReceiver
let stopDeliveries: () => Promise<void>
let tenant: string
let plan: Plan

beforeAll(async () => {
  provider = await startProvider()
  receiver = await startLogoutReceiver()
  stopDeliveries = startLogoutDeliveries()
  tenant = await newTenant()
  await makeUser(tenant, EMAIL)
  plan = await startPlan(provider, tenant, EMAIL, 'query', {
    allowedLogoutUrls: [POST_LOGOUT],
    backchannelLogoutUrl: receiver.urlOf('/backchannel_logout'),
  })
})
afterAll(async () => {
  await stopDeliveries()
  await receiver.close()
  await provider.close()
})

describe('oidcc-backchannel-rp-initiated-logout-certification-test-plan', () => {
  test('oidcc-backchannel-logout-discovery-endpoint-verification', async () => {
    const response = await fetch(`${provider.origin}/${tenant}/.well-known/openid-configuration`)
    expect(await response.json()).toMatchObject({
      end_session_endpoint: `${plan.issuer}/oidc/logout`,
      backchannel_logout_supported: true,
      backchannel_logout_session_supported: true,
    })
  })

  test('oidcc-backchannel-rp-initiated-logout', async () => {
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
    const { claims } = await validateLogoutToken(provider.origin, tenant, plan.client.id, request)
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
