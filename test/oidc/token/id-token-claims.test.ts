import { decodeJwt } from 'jose'
import * as openid from 'openid-client'
import { describe, expect } from 'vitest'
import { decide, pollWith, startDevice } from '../../support/device-flow.ts'
import { test as base, startRequest } from '../../support/openid-client.ts'
import { signInAt } from '../../support/protocol.ts'
import { leastStatements } from '../../support/statements.ts'

const ADA = { name: 'Ada Lovelace', givenName: 'Ada' }

const test = base
  .extend('shop', { scope: 'file' }, ({ newClient }) => newClient({ idTokenClaims: true }))
  .extend('ada', ({ newVisitor }) => newVisitor(ADA))

describe('the ID token of a client with idTokenClaims', () => {
  test('contains the claims of the granted scopes, as userinfo does', async ({
    ada: { user, newTokens },
    oidc,
    shop,
  }) => {
    const tokens = await newTokens({ scope: 'openid profile email' }, shop)
    const userinfo = await (await oidc.userinfo(tokens.access_token)).json()
    expect(userinfo).toMatchObject({ name: 'Ada Lovelace', given_name: 'Ada', email: user.email })
    const claims = decodeJwt(tokens.id_token)
    expect(claims).toMatchObject({ ...userinfo, aud: shop.id, auth_time: expect.any(Number) })
    const narrow = decodeJwt((await newTokens({ scope: 'openid profile' }, shop)).id_token)
    expect(narrow).toHaveProperty('name')
    expect(narrow).not.toHaveProperty('email')
  })

  test('is read by openid-client, and has what the request asks for besides', async ({
    shop,
    discover,
    newBrowser,
    newPerson,
  }) => {
    const user = await newPerson({ ...ADA, birthdate: '1815-12-10' })
    const config = await discover(shop)
    const { path, checks } = await startRequest(config, {
      scope: 'openid email',
      claims: JSON.stringify({ id_token: { birthdate: null } }),
    })
    const { location } = await signInAt(newBrowser(), path, user.email)
    const tokens = await openid.authorizationCodeGrant(config, new URL(location ?? ''), checks)
    expect(tokens.claims()).toMatchObject({
      email: user.email,
      email_verified: true,
      birthdate: '1815-12-10',
    })
    expect(tokens.claims()).not.toHaveProperty('name')
  })

  test('has the claims of the narrowed scope after a refresh, and their present values', async ({
    ada,
    oidc,
    shop,
    rest,
  }) => {
    const tokens = await ada.newTokens({ scope: 'openid profile email offline_access' }, shop)
    await rest('PATCH', `/users/${ada.user.id}`, { name: 'Ada King' })
    const refreshed = await oidc.refresh(tokens.refresh_token, {}, shop)
    expect(decodeJwt(refreshed.body.id_token as string)).toMatchObject({
      name: 'Ada King',
      email: ada.user.email,
    })
    const { body } = await oidc.refresh(
      refreshed.body.refresh_token as string,
      { scope: 'openid email' },
      shop,
    )
    expect(decodeJwt(body.id_token as string)).toMatchObject({ email: ada.user.email })
    expect(decodeJwt(body.id_token as string)).not.toHaveProperty('name')
  })

  test('has them after the device grant', async ({ app, tenant, ada, newClient }) => {
    const tv = await newClient({ appType: 'native', callbacks: [], idTokenClaims: true })
    const { body } = await startDevice(app, tenant, tv, { scope: 'openid email' })
    await decide(ada.browser, tenant, body.user_code as string, 'allow')
    const polled = await pollWith(app, tenant, tv, body.device_code as string)
    expect(decodeJwt(polled.body.id_token as string)).toMatchObject({ email: ada.user.email })
  })

  test('takes no statement more: one for a code, and one for a refresh', async ({ ada, oidc, shop }) => {
    const scope = 'openid profile email offline_access'
    const claims = JSON.stringify({ id_token: { birthdate: null } })
    for (const more of [
      { scope, claims: null },
      { scope, claims },
    ]) {
      const codes = await Promise.all(Array.from({ length: 6 }, () => ada.newCode(more, shop)))
      expect(await leastStatements(() => oidc.exchange(codes.pop() as string, {}, shop))).toBe(1)
      let token = (await ada.newTokens(more, shop)).refresh_token
      const refresh = async () => {
        token = (await oidc.refresh(token, {}, shop)).body.refresh_token as string
      }
      expect(await leastStatements(refresh)).toBe(1)
    }
  })
})

describe('the ID token of another client', () => {
  test('leaves the claims of scopes to userinfo (OIDC Core, section 5.4)', async ({ ada }) => {
    const claims = decodeJwt((await ada.newTokens({ scope: 'openid profile email' })).id_token)
    for (const name of ['name', 'email']) expect(claims).not.toHaveProperty(name)
  })
})
