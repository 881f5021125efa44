import * as openid from 'openid-client'
import { describe, expect } from 'vitest'
import { sha256 } from '../../../src/core/crypto.ts'
import { dbFor } from '../../support/database.ts'
import { decide } from '../../support/device-flow.ts'
import { test as base } from '../../support/openid-client.ts'

const SCOPE = 'openid profile email offline_access'

const test = base
  .extend('tv', { scope: 'file' }, ({ newClient }) =>
    newClient({ name: 'Living room TV', appType: 'native', callbacks: [] }),
  )
  .extend('config', { scope: 'file' }, ({ discover, tv }) => discover(tv))
  /** Starts a device authorization that may be polled ten times a second. */
  .extend('begin', { scope: 'file' }, ({ tenant, config }) => async (scope: string) => {
    const begun = await openid.initiateDeviceAuthorization(config, { scope })
    expect(begun).toMatchObject({ expires_in: 600, interval: 5 })
    const where = { tenantId: tenant, codeHash: sha256(begun.device_code) }
    await dbFor(tenant).deviceCode.updateMany({ where, data: { intervalSeconds: 0 } })
    return { ...begun, interval: 0.1 }
  })
  .extend('signInUser', { scope: 'file' }, ({ newPerson, newBrowser, oidc }) => async () => {
    const browser = newBrowser()
    const user = await newPerson({ name: 'Ada Lovelace' })
    await oidc.signIn(browser, user.email)
    return { browser, user }
  })

describe('openid-client on a device (RFC 8628)', () => {
  test('polls with a DPoP key until the user approves (RFC 9449) and refreshes', async ({
    tenant,
    tv,
    config,
    begin,
    signInUser,
  }) => {
    const { browser, user } = await signInUser()
    const DPoP = openid.getDPoPHandle(config, await openid.randomDPoPKeyPair())
    const begun = await begin(SCOPE)
    const polling = openid.pollDeviceAuthorizationGrant(config, begun, undefined, { DPoP })
    expect((await decide(browser, tenant, begun.user_code, 'allow')).status).toBe(200)
    const tokens = await polling
    expect(tokens).toMatchObject({ token_type: 'dpop', scope: SCOPE })
    expect(tokens.claims()).toMatchObject({ sub: user.id, aud: tv.id })
    const info = await openid.fetchUserInfo(config, tokens.access_token, user.id, { DPoP })
    expect(info).toMatchObject({ name: 'Ada Lovelace', email: user.email })
    const refreshed = await openid.refreshTokenGrant(config, tokens.refresh_token as string, undefined, {
      DPoP,
    })
    expect(refreshed.access_token).not.toBe(tokens.access_token)
    // The refresh token of a public client is bound to the key.
    await expect(openid.refreshTokenGrant(config, refreshed.refresh_token as string)).rejects.toMatchObject({
      error: 'invalid_grant',
    })
  })

  test('receives access_denied after a denial', async ({ tenant, config, begin, signInUser }) => {
    const { browser } = await signInUser()
    const begun = await begin('openid')
    const rejection = expect(openid.pollDeviceAuthorizationGrant(config, begun)).rejects.toMatchObject({
      error: 'access_denied',
    })
    await decide(browser, tenant, begun.user_code, 'deny')
    await rejection
  })
})
