import { decodeJwt } from 'jose'
import * as oidc from 'openid-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../support/process.ts'

// The issuer must be where the provider listens: the environment is read with the first import of src.
const port = await freePort()
process.env.BASE_URL = `http://localhost:${port}`
process.env.PORT = String(port)
const { newTenant } = await import('../support/actors.ts')
const { startApp } = await import('../support/app.ts')
const { Browser, makeClient, makeUser, REDIRECT_URI, signInAt } = await import('./provider.ts')

let app: Awaited<ReturnType<typeof startApp>>
let tenant: string
let issuer: URL
const insecure = { execute: [oidc.allowInsecureRequests] }

beforeAll(async () => {
  app = await startApp()
  tenant = await newTenant()
  issuer = new URL(`http://localhost:${port}/${tenant}`)
})
afterAll(() => app.close())

const handleFor = async (config: oidc.Configuration, alg: string) =>
  oidc.getDPoPHandle(config, await oidc.randomDPoPKeyPair(alg))
const boundKeyOf = (token: string) => (decodeJwt(token).cnf as { jkt: string }).jkt

describe.each([
  ['web', 'ES256'],
  ['web', 'PS256'],
  ['single-page', 'ES256'],
  ['native', 'Ed25519'],
])('openid-client with DPoP (RFC 9449): a %s client with a key of %s', (appType, alg) => {
  test('signs a person in with a code bound to its key, reads userinfo and refreshes', async () => {
    const email = `${appType}-${alg.toLowerCase()}@example.com`
    const user = await makeUser(tenant, email)
    const client = await makeClient(tenant, { appType })
    const authentication = client.secret ? oidc.ClientSecretBasic(client.secret) : oidc.None()
    const config = await oidc.discovery(issuer, client.id, undefined, authentication, insecure)
    const handle = await handleFor(config, alg)
    const options = { DPoP: handle }
    const pkceCodeVerifier = oidc.randomPKCECodeVerifier()
    const { pathname, search } = oidc.buildAuthorizationUrl(config, {
      redirect_uri: REDIRECT_URI,
      scope: 'openid offline_access',
      code_challenge: await oidc.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
      dpop_jkt: await handle.calculateThumbprint(),
    })
    const { location } = await signInAt(new Browser(app), pathname + search, email)
    const answered = new URL(location ?? '')

    const another = { DPoP: await handleFor(config, 'ES256') }
    const grantBy = (by: object) =>
      oidc.authorizationCodeGrant(config, answered, { pkceCodeVerifier }, undefined, by)
    await expect(grantBy(another)).rejects.toMatchObject({ error: 'invalid_grant' })
    await expect(grantBy({})).rejects.toMatchObject({ error: 'invalid_grant' })

    const tokens = await grantBy(options)
    expect(tokens.token_type).toBe('dpop')
    expect(boundKeyOf(tokens.access_token)).toBe(await handle.calculateThumbprint())
    const info = await oidc.fetchUserInfo(config, tokens.access_token, user.id, options)
    expect(info.sub).toBe(user.id)
    await expect(oidc.fetchUserInfo(config, tokens.access_token, user.id)).rejects.toMatchObject({
      status: 401,
    })
    const refreshed = await oidc.refreshTokenGrant(config, tokens.refresh_token ?? '', undefined, options)
    expect(boundKeyOf(refreshed.access_token)).toBe(await handle.calculateThumbprint())
    expect((await oidc.fetchUserInfo(config, refreshed.access_token, user.id, options)).sub).toBe(user.id)
  })
})

test('openid-client gets a bound token for a machine, which reads users by it', async () => {
  const machine = await makeClient(tenant, { appType: 'machine', callbacks: [], scopes: ['users:read'] })
  const config = await oidc.discovery(issuer, machine.id, machine.secret, undefined, insecure)
  const DPoP = await handleFor(config, 'ES256')
  const tokens = await oidc.clientCredentialsGrant(config, undefined, { DPoP })
  const url = new URL(`${issuer.href}/api/v1/users?pageSize=1`)
  for (let call = 0; call < 2; call++) {
    const response = await oidc.fetchProtectedResource(
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

test('openid-client with a key for everything: private_key_jwt and DPoP in one request', async () => {
  const { privateKey, publicKey } = await oidc.randomDPoPKeyPair('ES256', { extractable: true })
  const { kty, crv, x, y } = await crypto.subtle.exportKey('jwk', publicKey)
  const fields = { appType: 'machine', callbacks: [], scopes: ['users:read'] }
  const { id } = await makeClient(tenant, { ...fields, jwks: { keys: [{ kty, crv, x, y }] } })
  const config = await oidc.discovery(issuer, id, undefined, oidc.PrivateKeyJwt(privateKey), insecure)
  const DPoP = oidc.getDPoPHandle(config, { privateKey, publicKey })
  const tokens = await oidc.clientCredentialsGrant(config, undefined, { DPoP })
  expect(boundKeyOf(tokens.access_token)).toBe(await DPoP.calculateThumbprint())
})
