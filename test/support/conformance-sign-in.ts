import { describe, expect } from 'vitest'
import { type PlanTest, SIGNS_IN } from './conformance-test.ts'

/** Modules of the Basic plan that check sign-ins. */
export function describeSignIns(test: PlanTest): void {
  test('oidcc-server', async ({ plan, succeed }) => {
    const { arrival } = await succeed({}, { browser: plan.newBrowser() })
    expect(arrival.pages).toEqual(SIGNS_IN)
  })

  test.for([
    ['oidcc-display-page', { display: 'page' }],
    ['oidcc-display-popup', { display: 'popup' }],
    ['oidcc-ensure-request-with-unknown-parameter-succeeds', { extra: 'foobar' }],
    ['oidcc-ui-locales', { ui_locales: 'se' }],
    ['oidcc-claims-locales', { claims_locales: 'se' }],
  ] as const)('%s', async ([_module, more], { plan, succeed }) => {
    const { arrival } = await succeed(more, { browser: plan.newBrowser() })
    expect(arrival.pages).toEqual(SIGNS_IN)
  })

  describe('a signed-in user', () => {
    test.for([
      ['oidcc-prompt-login', { prompt: 'login' }],
      ['oidcc-max-age-1', { max_age: '1' }],
    ] as const)('%s', async ([_module, more], { plan, succeed, ageSessions }) => {
      const browser = plan.newBrowser()
      const first = await succeed({}, { browser })
      await ageSessions(2)
      const second = await succeed(more, { browser })
      expect(second.arrival.pages).toEqual(SIGNS_IN)
      // The sign-in before is two seconds older than the first token says.
      expect(second.idToken.auth_time).toBeGreaterThanOrEqual(first.idToken.auth_time as number)
    })

    test('oidcc-prompt-none-not-logged-in', async ({ plan, expectError }) => {
      const state = 'abcdefgh'.repeat(16)
      const arrival = await plan.authorize({ prompt: 'none', state }, { browser: plan.newBrowser() })
      expectError(arrival, 'login_required', state)
      expect(arrival.pages).toEqual([])
    })

    const hinted = (idToken: string) => ({ prompt: 'none', id_token_hint: idToken })
    test.for([
      ['oidcc-prompt-none-logged-in', {}, () => ({ prompt: 'none' })],
      ['oidcc-max-age-10000', { max_age: '15000' }, () => ({ max_age: '10000' })],
      ['oidcc-id-token-hint', {}, hinted],
    ] as const)('%s', async ([_module, firstMore, secondMore], { plan, succeed, ageSessions }) => {
      const browser = plan.newBrowser()
      const first = await succeed(firstMore, { browser })
      await ageSessions(2)
      const second = await succeed(secondMore(first.tokens.body.id_token ?? ''), { browser })
      expect(second.arrival.pages).toEqual([])
      expect(second.idToken).toMatchObject({
        sub: first.idToken.sub,
        auth_time: (first.idToken.auth_time as number) - 2,
      })
    })
  })

  test('oidcc-login-hint', async ({ plan, user, succeed }) => {
    const browser = plan.newBrowser()
    const shown = await plan.authorize({ login_hint: user.email }, { browser, stopAt: 'email' })
    expect(shown.html).toMatch(new RegExp(`<input id="address"[^>]* value="${user.email}"`))
    await succeed({ login_hint: user.email }, { browser })
  })

  test('oidcc-ensure-request-with-acr-values-succeeds', async ({ app, tenant, succeed }) => {
    const response = await fetch(`${app.origin}/${tenant}/.well-known/openid-configuration`)
    const { acr_values_supported: values } = (await response.json()) as { acr_values_supported: string[] }
    expect(values).toContain((await succeed({ acr_values: values.join(' ') })).idToken.acr)
  })
}
