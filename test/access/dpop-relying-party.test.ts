import { decodeJwt } from 'jose'
import * as openid from 'openid-client'
import { describe, expect } from 'vitest'
import { test } from '../support/openid-client.ts'
import { REDIRECT_URI, signInAt } from '../support/protocol.ts'

const handleFor = async (config: openid.Configuration, alg: string) =>
  openid.getDPoPHandle(config, await openid.randomDPoPKeyPair(alg))
const boundKeyOf = (token: string) => (decodeJwt(token).cnf as { jkt: string }).jkt

describe('openid-client with DPoP (RFC 9449)', () => {
  test.for<[appType: string, alg: string]>([
    ['web', 'ES256'],
    ['web', 'PS256'],
    ['single-page', 'ES256'],
    ['native', 'Ed25519'],
  ])(
    'signs a user in at a %s client with a key of %s, reads userinfo and refreshes',
    async ([appType, alg], { newClient, newPerson, newBrowser, discover }) => {
      const user = await newPerson()
      const client = await newClient({ appType })
      const authentication = client.secret ? openid.ClientSecretBasic(client.secret) : openid.None()
      const config = await discover(client, authentication)
      const handle = await handleFor(config, alg)
      const options = { DPoP: handle }
      const pkceCodeVerifier = openid.randomPKCECodeVerifier()
      const { pathname, search } = openid.buildAuthorizationUrl(config, {
        redirect_uri: REDIRECT_URI,
        scope: 'openid offline_access',
        code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
        code_challenge_method: 'S256',
        dpop_jkt: await handle.calculateThumbprint(),
      })
      const { location } = await signInAt(newBrowser(), pathname + search, user.email)
      const answered = new URL(location ?? '')

      const another = { DPoP: await handleFor(config, 'ES256') }
      const grantBy = (by: object) =>
        openid.authorizationCodeGrant(config, answered, { pkceCodeVerifier }, undefined, by)
      await expect(grantBy(another)).rejects.toMatchObject({ error: 'invalid_grant' })
      await expect(grantBy({})).rejects.toMatchObject({ error: 'invalid_grant' })

      const tokens = await grantBy(options)
      expect(tokens.token_type).toBe('dpop')
      expect(boundKeyOf(tokens.access_token)).toBe(await handle.calculateThumbprint())
      const info = await openid.fetchUserInfo(config, tokens.access_token, user.id, options)
      expect(info.sub).toBe(user.id)
      await expect(openid.fetchUserInfo(config, tokens.access_token, user.id)).rejects.toMatchObject({
        status: 401,
      })
      const refreshed = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '', undefined, options)
      expect(boundKeyOf(refreshed.access_token)).toBe(await handle.calculateThumbprint())
      expect((await openid.fetchUserInfo(config, refreshed.access_token, user.id, options)).sub).toBe(user.id)
    },
  )

  test('obtains a bound token for a machine client and reads users with it', async ({
    newClient,
    issuer,
    discover,
  }) => {
    const machine = await newClient({ appType: 'machine', callbacks: [], scopes: ['users:read'] })
    const config = await discover(machine)
    const DPoP = await handleFor(config, 'ES256')
    const tokens = await openid.clientCredentialsGrant(config, undefined, { DPoP })
    const url = new URL(`${issuer}/api/v1/users?pageSize=1`)
    for (let call = 0; call < 2; call++) {
      const response = await openid.fetchProtectedResource(
        config,
        tokens.access_token,
        url,
        'GET',
        undefined,
        undefined,
        { DPoP },
      )
      expect([response.status, await response.json()]).toEqual([200, expect.objectContaining({ page: 0 })])
    }
  })

  test('authenticates by private_key_jwt and binds a token with the same key', async ({
    newClient,
    discover,
  }) => {
    const { privateKey, publicKey } = await openid.randomDPoPKeyPair('ES256', { extractable: true })
    const { kty, crv, x, y } = await crypto.subtle.exportKey('jwk', publicKey)
    const fields = { appType: 'machine', callbacks: [], scopes: ['users:read'] }
    const client = await newClient({ ...fields, jwks: { keys: [{ kty, crv, x, y }] } })
    const config = await discover(client, openid.PrivateKeyJwt(privateKey))
    const DPoP = openid.getDPoPHandle(config, { privateKey, publicKey })
    const tokens = await openid.clientCredentialsGrant(config, undefined, { DPoP })
    expect(boundKeyOf(tokens.access_token)).toBe(await DPoP.calculateThumbprint())
  })
})
