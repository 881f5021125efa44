import { describe, expect } from 'vitest'
import type { PlanTest } from './conformance-test.ts'

/** Modules of the Basic plan that check claims. */
export function describeClaims(test: PlanTest): void {
  describe('oidcc-userinfo', () => {
    test('oidcc-userinfo-get', async ({ user, succeed }) => {
      expect((await succeed()).person).toEqual({ sub: user.id })
    })

    test('oidcc-userinfo-post-header', async ({ succeed, expectPost }) => {
      const { tokens } = await succeed()
      await expectPost({ headers: { authorization: `Bearer ${tokens.body.access_token}` } })
    })

    test('oidcc-userinfo-post-body', async ({ succeed, expectPost }) => {
      const { tokens } = await succeed()
      await expectPost({ body: new URLSearchParams({ access_token: tokens.body.access_token ?? '' }) })
    })
  })

  const PROFILE = {
    name: 'Ada Lovelace',
    given_name: 'Ada',
    family_name: 'Lovelace',
    birthdate: '1815-12-10',
    zoneinfo: 'Europe/London',
    updated_at: expect.any(Number),
  }
  const MAIL = { email: expect.stringContaining('@'), email_verified: true }
  const ADDRESS = { address: { formatted: 'London\nGB', country: 'GB' } }
  const PHONE = { phone_number: '+41791234567', phone_number_verified: expect.any(Boolean) }
  test.for([
    ['oidcc-scope-profile', 'openid profile', PROFILE],
    ['oidcc-scope-email', 'openid email', MAIL],
    ['oidcc-scope-address', 'openid address', ADDRESS],
    ['oidcc-scope-phone', 'openid phone', PHONE],
    ['oidcc-scope-all', 'openid profile email address phone', { ...PROFILE, ...MAIL, ...ADDRESS, ...PHONE }],
    ['oidcc-ensure-other-scope-order-succeeds', 'email openid', MAIL],
  ] as const)('%s', async ([_module, scope, claims], { succeed }) => {
    const { person, tokens, idToken } = await succeed({ scope })
    expect(person).toEqual({ sub: idToken.sub, ...claims })
    expect(tokens.body.scope).toBe(scope)
    // Userinfo returns the claims of scopes, as there is an access token (section 5.4).
    for (const name of Object.keys(claims)) expect(idToken).not.toHaveProperty(name)
  })

  test('oidcc-claims-essential', async ({ user, succeed }) => {
    const claims = '{"userinfo":{"name":{"essential":true}}}'
    const { person, idToken } = await succeed({ claims })
    expect(person).toEqual({ sub: user.id, name: 'Ada Lovelace' })
    expect(idToken).not.toHaveProperty('name')
  })
}
