import * as oidc from 'openid-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../support/process.ts'

// The issuer must be where the provider listens: the environment is read with the first import of src.
const port = await freePort()
process.env.BASE_URL = `http://localhost:${port}`
process.env.PORT = String(port)
const { newTenant } = await import('../support/actors.ts')
const { startApp } = await import('../support/app.ts')
const { Browser, csrfIn, makeClient, makeUser, REDIRECT_URI, signInAt } = await import('./provider.ts')

let app: Awaited<ReturnType<typeof startApp>>
let tenant: string
let issuer: URL
const SIGNED_OUT = 'https://rp.example.com/signed-out'
const insecure = { execute: [oidc.allowInsecureRequests] }

beforeAll(async () => {
  app = await startApp()
  tenant = await newTenant()
  issuer = new URL(`http://localhost:${port}/${tenant}`)
})
afterAll(() => app.close())

/** What a relying party keeps while its person is away. */
async function startSignIn(config: oidc.Configuration, more: Record<string, string> = {}) {
  const checks = {
    pkceCodeVerifier: oidc.randomPKCECodeVerifier(),
    expectedState: oidc.randomState(),
    expectedNonce: oidc.randomNonce(),
  }
  const url = oidc.buildAuthorizationUrl(config, {
    redirect_uri: REDIRECT_URI,
    scope: 'openid profile email offline_access',
    state: checks.expectedState,
    nonce: checks.expectedNonce,
    code_challenge: await oidc.calculatePKCECodeChallenge(checks.pkceCodeVerifier),
    code_challenge_method: 'S256',
    ...more,
  })
  return { checks, path: url.pathname + url.search }
}

describe.each([
  ['web, client_secret_basic', { appType: 'web' }, (secret: string) => oidc.ClientSecretBasic(secret)],
  ['web, client_secret_post', { appType: 'web' }, (secret: string) => oidc.ClientSecretPost(secret)],
  ['single-page, without a secret', { appType: 'single-page' }, () => oidc.None()],
])('openid-client as a relying party: %s', (name, fields, authentication) => {
  test('signs a person in, reads userinfo, refreshes and signs out', async () => {
    const email = `${name.replace(/\W/g, '')}@example.com`
    const user = await makeUser(tenant, email, { name: 'Ada Lovelace' })
    const client = await makeClient(tenant, { ...fields, allowedLogoutUrls: [SIGNED_OUT] })
    const config = await oidc.discovery(issuer, client.id, undefined, authentication(client.secret), insecure)
    expect(config.serverMetadata().issuer).toBe(issuer.href)

    const browser = new Browser(app)
    const { checks, path } = await startSignIn(config)
    const { location } = await signInAt(browser, path, email)
    const tokens = await oidc.authorizationCodeGrant(config, new URL(location as string), {
      ...checks,
      idTokenExpected: true,
    })
    expect(tokens.claims()).toMatchObject({ sub: user.id, aud: client.id, nonce: checks.expectedNonce })

    const info = await oidc.fetchUserInfo(config, tokens.access_token, user.id)
    expect(info).toMatchObject({ sub: user.id, name: 'Ada Lovelace', email, email_verified: true })

    const refreshed = await oidc.refreshTokenGrant(config, tokens.refresh_token as string)
    expect(refreshed.claims()).toMatchObject({ sub: user.id, auth_time: tokens.claims()?.auth_time })
    expect(refreshed.refresh_token).not.toBe(tokens.refresh_token)

    const silent = await startSignIn(config, { prompt: 'none', max_age: '60' })
    const again = await browser.fetch(silent.path)
    const answered = new URL(again.headers.get('location') as string)
    await oidc.authorizationCodeGrant(config, answered, {
      ...silent.checks,
      maxAge: 60,
      idTokenExpected: true,
    })

    const end = oidc.buildEndSessionUrl(config, {
      id_token_hint: tokens.id_token as string,
      post_logout_redirect_uri: SIGNED_OUT,
      state: 'bye',
    })
    const left = await browser.fetch(end.pathname + end.search)
    expect(left.headers.get('location')).toBe(`${SIGNED_OUT}?state=bye`)

    const late = await startSignIn(config, { prompt: 'none' })
    const refused = new URL((await browser.fetch(late.path)).headers.get('location') as string)
    await expect(oidc.authorizationCodeGrant(config, refused, late.checks)).rejects.toMatchObject({
      error: 'login_required',
    })
  })
})

test('openid-client gets a management token for a machine, which reads users', async () => {
  const machine = await makeClient(tenant, { appType: 'machine', callbacks: [], scopes: ['users:read'] })
  const config = await oidc.discovery(issuer, machine.id, machine.secret, undefined, insecure)
  const tokens = await oidc.clientCredentialsGrant(config, { scope: 'users:read' })
  const answer = await app.rest(tenant, tokens.access_token, 'GET', '/users?pageSize=1')
  expect(answer).toMatchObject({
    status: 200,
    body: { page: 0, pageSize: 1, users: [{ id: expect.any(String) }] },
  })
})

test('a person who declines is reported as access_denied', async () => {
  await makeUser(tenant, 'eve@example.com')
  const client = await makeClient(tenant, { requireConsent: true })
  const config = await oidc.discovery(issuer, client.id, client.secret, undefined, insecure)
  const browser = new Browser(app)
  const { checks, path } = await startSignIn(config)
  const consent = await signInAt(browser, path, 'eve@example.com')
  const html = await consent.response.text()
  expect(csrfIn(html)).not.toBe('')
  const { location } = await browser.submit({ html, path: consent.path }, { step: 'deny' })
  await expect(
    oidc.authorizationCodeGrant(config, new URL(location as string), checks),
  ).rejects.toMatchObject({ error: 'access_denied' })
})
