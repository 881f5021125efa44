import * as openid from 'openid-client'
import { describe, expect } from 'vitest'
import { newRequest, startRequest, test } from '../support/openid-client.ts'
import { makeKey } from '../support/proofs.ts'
import { signInAt } from '../support/protocol.ts'
import { countWarmStatements } from '../support/statements.ts'

describe.each(['ES256', 'PS256', 'EdDSA'])(
  'a relying party with the profile fapi2 and a key of %s',
  (alg) => {
    test('signs a user in, reads userinfo and refreshes with the same refresh token', async ({
      newClient,
      newPerson,
      browser,
      discover,
    }) => {
      const user = await newPerson()
      const key = await makeKey(alg)
      const client = await newClient({ profile: 'fapi2', jwks: { keys: [{ ...key.jwk, kid: 'k1', alg }] } })
      const config = await discover(client, openid.PrivateKeyJwt({ key: key.privateKey, kid: 'k1' }))
      const by = { DPoP: openid.getDPoPHandle(config, await openid.randomDPoPKeyPair(alg)) }
      const { checks, parameters } = await newRequest({ scope: 'openid email offline_access' })
      const url = await openid.buildAuthorizationUrlWithPAR(config, parameters, by)
      expect([...url.searchParams.keys()].sort()).toEqual(['client_id', 'request_uri'])
      const { location } = await signInAt(browser, url.pathname + url.search, user.email)
      const tokens = await openid.authorizationCodeGrant(
        config,
        new URL(location ?? ''),
        checks,
        undefined,
        by,
      )
      expect(tokens.token_type).toBe('dpop')
      const info = await openid.fetchUserInfo(config, tokens.access_token, user.id, by)
      expect(info.email).toBe(user.email)
      const token = tokens.refresh_token ?? ''
      for (const attempt of [1, 2]) {
        const refreshed = await openid.refreshTokenGrant(config, token, undefined, by)
        expect([attempt, refreshed.refresh_token]).toEqual([attempt, token])
      }
      await expect(openid.refreshTokenGrant(config, token)).rejects.toMatchObject({
        error: 'invalid_request',
      })
    })
  },
)

describe('a relying party with the profile fapi2', () => {
  test('cannot authorize without a pushed request, and obtains machine tokens that are bound', async ({
    newClient,
    visitor,
    discover,
    issuer,
  }) => {
    const key = await makeKey()
    const jwks = { keys: [key.jwk] }
    const web = await newClient({ profile: 'fapi2', jwks })
    const { path } = await startRequest(await discover(web, openid.PrivateKeyJwt(key.privateKey)))
    const { headers } = await visitor.browser.fetch(path)
    expect(headers.get('location')).toContain('error=invalid_request')
    const machine = await newClient({
      profile: 'fapi2',
      jwks,
      appType: 'machine',
      callbacks: [],
      scopes: ['users:read'],
    })
    const config = await discover(machine, openid.PrivateKeyJwt(key.privateKey))
    const by = { DPoP: openid.getDPoPHandle(config, await openid.randomDPoPKeyPair()) }
    const tokens = await openid.clientCredentialsGrant(config, undefined, by)
    expect(tokens.token_type).toBe('dpop')
    await expect(openid.clientCredentialsGrant(config)).rejects.toMatchObject({ error: 'invalid_request' })
    const users = `${issuer}/api/v1/users?pageSize=1`
    const call = (options: object) =>
      openid.fetchProtectedResource(
        config,
        tokens.access_token,
        new URL(users),
        'GET',
        null,
        undefined,
        options,
      )
    expect((await call(by)).status).toBe(200)
    await expect(call({})).rejects.toMatchObject({ status: 401 })
  })

  test('refreshes with the statements of any client that has a key', async ({
    newClient,
    newPerson,
    browser,
    discover,
  }) => {
    const { email } = await newPerson()
    const key = await makeKey()
    const counts: number[] = []
    for (const profile of [null, 'fapi2']) {
      const client = await newClient({ profile, jwks: { keys: [key.jwk] } })
      const config = await discover(client, openid.PrivateKeyJwt(key.privateKey))
      const by = { DPoP: openid.getDPoPHandle(config, await openid.randomDPoPKeyPair()) }
      const { checks, parameters } = await newRequest({ scope: 'openid offline_access' })
      const url = await openid.buildAuthorizationUrlWithPAR(config, parameters, by)
      browser.forgetSessions()
      const { location } = await signInAt(browser, url.pathname + url.search, email)
      const answer = new URL(location ?? '')
      let { refresh_token: token = '' } = await openid.authorizationCodeGrant(
        config,
        answer,
        checks,
        undefined,
        by,
      )
      const refresh = async () => {
        token = (await openid.refreshTokenGrant(config, token, undefined, by)).refresh_token ?? ''
      }
      counts.push(await countWarmStatements(refresh, refresh))
    }
    expect(counts[1]).toBe(counts[0])
  })
})
