import { UnsecuredJWT } from 'jose'
import { describe, expect } from 'vitest'
import { type Plan, runAuthorize } from './conformance-plan.ts'
import { NO_PKCE, type PlanTest, SIGNS_IN } from './conformance-test.ts'
import { authorizePath, exchange, REDIRECT_URI } from './protocol.ts'

/** Modules of the Basic plan that check requests. */
export function describeRequests(test: PlanTest): void {
  test('oidcc-response-type-missing', async ({ plan, expectError }) => {
    expectError(await plan.authorize({ response_type: null }), 'invalid_request')
  })

  test('oidcc-ensure-request-without-nonce-succeeds-for-code-flow', async ({ succeed }) => {
    expect((await succeed({ nonce: null })).idToken).not.toHaveProperty('nonce')
  })

  test('oidcc-ensure-registered-redirect-uri', async ({ plan, expectErrorPage }) => {
    expectErrorPage(await plan.authorize({ redirect_uri: 'https://rp.example.com/unregistered' }))
  })

  test('oidcc-ensure-post-request-succeeds', async ({
    app,
    tenant,
    responseMode,
    plan,
    user,
    expectMode,
    checkIdToken,
  }) => {
    const browser = plan.newBrowser()
    const [path = '', query = ''] = authorizePath(tenant, plan.client, {
      code_challenge: null,
      code_challenge_method: null,
      scope: 'openid',
      nonce: 'posted',
      response_mode: responseMode,
    }).split('?')
    const sent = await browser.fetch(path, { method: 'POST', body: new URLSearchParams(query) })
    const arrival = await runAuthorize(browser, tenant, sent.headers.get('location') ?? '', user.email)
    const { answer, pages } = arrival
    expectMode(arrival)
    expect([pages, answer.state]).toEqual([SIGNS_IN, 'a-state'])
    const tokens = await exchange(app, tenant, plan.client, answer.code ?? '', NO_PKCE)
    await checkIdToken(tokens, { nonce: 'posted' })
  })

  describe('request objects', () => {
    const requestObject = (plan: Plan, more: Record<string, string> = {}) =>
      new UnsecuredJWT({
        response_type: 'code',
        client_id: plan.client.id,
        redirect_uri: REDIRECT_URI,
        scope: 'openid',
        state: 'inside',
        ...more,
      })
        .setIssuer(plan.client.id)
        .setAudience(plan.issuer)
        .encode()

    test('oidcc-request-uri-unsigned-supported-correctly-or-rejected-as-unsupported', async ({
      plan,
      expectError,
    }) => {
      const arrival = await plan.authorize({ request_uri: 'https://rp.example.com/request.jwt' })
      expectError(arrival, 'request_uri_not_supported')
    })

    test('oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported', async ({
      plan,
      responseMode,
      expectError,
    }) => {
      // The module sends response_mode and state inside the object only.
      const request = requestObject(plan, { response_mode: responseMode })
      const arrival = await plan.authorize({ response_mode: null, state: null, request })
      expectError(arrival, 'request_not_supported', 'inside')
    })

    test('oidcc-ensure-request-object-with-redirect-uri', async ({ plan, expectErrorPage }) => {
      // A request object that is not read verifies no redirect_uri.
      const redirectUri = 'https://rp.example.com/unregistered'
      expectErrorPage(await plan.authorize({ redirect_uri: redirectUri, request: requestObject(plan) }))
    })
  })
}
