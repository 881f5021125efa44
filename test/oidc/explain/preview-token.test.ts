import { decodeJwt } from 'jose'
import { describe, expect } from 'vitest'
import type { Scope } from '../../../src/core/scopes.ts'
import { previewToken } from '../../../src/oidc/explain/preview-token.ts'
import { ctxFor } from '../../support/actors.ts'
import { hashTables } from '../../support/isolation.ts'
import { test as base } from '../../support/visitor.ts'

const EVERYWHERE = ['id_token', 'access_token', 'userinfo']
const test = base
  .extend('shop', { scope: 'file' }, ({ newClient }) =>
    newClient({
      idTokenClaims: true,
      requireConsent: true,
      claimMappings: [
        { claim: 'plan', source: 'appMetadata', path: '/plan', scope: 'billing', targets: EVERYWHERE },
        { claim: 'bio', source: 'userMetadata', path: '/bio', targets: ['access_token'] },
      ],
    }),
  )
  .extend('ada', { scope: 'file' }, ({ newVisitor }) =>
    newVisitor({ name: 'Ada', appMetadata: { plan: 'gold' }, userMetadata: { bio: 'x'.repeat(5000) } }),
  )

/** The claims of a token without those that differ in each one. */
const toStable = (token: string): object => {
  const { iat, exp, jti, sid, gid, auth_time, at_hash, ...claims } = decodeJwt(token)
  return claims
}

describe('previewToken', () => {
  test('shows what tokens and userinfo have, and writes nothing', async ({
    tenant,
    ctx,
    ada,
    shop,
    oidc,
  }) => {
    const before = await hashTables(tenant)
    const preview = await previewToken(ctx, {
      userId: ada.user.id,
      clientId: shop.id,
      scope: 'openid profile billing users:read',
    })
    expect(await hashTables(tenant)).toEqual(before)
    expect(preview.scopes).toEqual(['openid', 'profile', 'billing'])
    expect(preview.omitted).toEqual([{ target: 'access_token', claims: ['bio'] }])
    const page = await ada.browser.open(oidc.authorizePath({ scope: 'openid profile billing' }, shop))
    await ada.browser.submit({ ...page, html: await page.response.text() }, { step: 'allow' })
    const tokens = await ada.newTokens({ scope: 'openid profile billing' }, shop)
    const { amr: _, acr: __, nonce: ___, ...idToken } = toStable(tokens.id_token) as Record<string, unknown>
    expect(preview.idToken).toMatchObject(idToken)
    expect(idToken).toMatchObject({ plan: 'gold', name: 'Ada' })
    const { amr, acr, ...accessToken } = toStable(tokens.access_token) as Record<string, unknown>
    expect(preview.accessToken).toMatchObject(accessToken)
    expect(preview.userinfo).toEqual(await (await oidc.userinfo(tokens.access_token)).json())
  })

  test('needs the scopes that its parts are read with', async ({ tenant, ada, shop }) => {
    const preview = async (scopes: Scope[], scope: string) =>
      previewToken(await ctxFor(tenant, scopes), { userId: ada.user.id, clientId: shop.id, scope })
    for (const scopes of [['users:read'], ['clients:read']] as Scope[][])
      await expect(preview(scopes, 'openid')).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await expect(preview(['users:read', 'clients:read'], 'openid billing')).rejects.toMatchObject({
      code: 'FORBIDDEN',
    })
    const { idToken, userinfo } = await preview(['users:read', 'clients:read'], 'email')
    expect({ idToken, userinfo }).toEqual({ idToken: null, userinfo: null })
  })
})
