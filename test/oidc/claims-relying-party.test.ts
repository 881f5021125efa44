import * as oidc from 'openid-client'
import { afterAll, beforeAll, expect, test } from 'vitest'
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
beforeAll(async () => {
  app = await startApp()
  tenant = await newTenant()
})
afterAll(() => app.close())

test('openid-client asks for claims, and checks the signatures of the ID token and of userinfo', async () => {
  const user = await makeUser(tenant, 'ada@example.com', { name: 'Ada Lovelace', birthdate: '1815-12-10' })
  const client = await makeClient(tenant, { idTokenSigningAlg: 'RS256', userInfoSigningAlg: 'ES384' })
  const config = await oidc.discovery(
    new URL(`http://localhost:${port}/${tenant}`),
    client.id,
    { id_token_signed_response_alg: 'RS256', userinfo_signed_response_alg: 'ES384' },
    oidc.ClientSecretBasic(client.secret),
    { execute: [oidc.allowInsecureRequests, oidc.enableNonRepudiationChecks] },
  )
  expect(config.serverMetadata()).toMatchObject({ claims_parameter_supported: true })
  const checks = {
    expectedState: oidc.randomState(),
    expectedNonce: oidc.randomNonce(),
    idTokenExpected: true,
  }
  const url = oidc.buildAuthorizationUrl(config, {
    redirect_uri: REDIRECT_URI,
    scope: 'openid email',
    state: checks.expectedState,
    nonce: checks.expectedNonce,
    claims: JSON.stringify({ id_token: { birthdate: null }, userinfo: { name: { essential: true } } }),
  })
  const { location } = await signInAt(new Browser(app), url.pathname + url.search, 'ada@example.com')
  const tokens = await oidc.authorizationCodeGrant(config, new URL(location ?? ''), checks)
  expect(tokens.claims()).toMatchObject({ sub: user.id, birthdate: '1815-12-10' })
  expect(await oidc.fetchUserInfo(config, tokens.access_token, user.id)).toEqual({
    iss: config.serverMetadata().issuer,
    aud: client.id,
    sub: user.id,
    email: 'ada@example.com',
    email_verified: true,
    name: 'Ada Lovelace',
  })
})
