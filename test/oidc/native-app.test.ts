import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as oidc from 'openid-client'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { launchBrowser, noBrowser } from '../support/browser.ts'
import { freePort } from '../support/process.ts'

// The issuer must be where the browser finds the provider: the environment is read with the first import of src.
const port = await freePort()
process.env.PORT = String(port)
process.env.HOST = '127.0.0.1'
process.env.BASE_URL = `http://127.0.0.1:${port}`
const { newTenant } = await import('../support/actors.ts')
const { startApp } = await import('../support/app.ts')
const { Browser: PageBrowser, codeFor, makeClient, makeUser, signInAt } = await import('./provider.ts')

const insecure = { execute: [oidc.allowInsecureRequests] }
let app: Awaited<ReturnType<typeof startApp>>
let tenant: string
let issuer: URL
beforeAll(async () => {
  app = await startApp()
  tenant = await newTenant()
  issuer = new URL(`${process.env.BASE_URL}/${tenant}`)
})
afterAll(() => app.close())

async function startRequest(config: oidc.Configuration, redirectUri: string) {
  const checks = {
    pkceCodeVerifier: oidc.randomPKCECodeVerifier(),
    expectedState: oidc.randomState(),
    expectedNonce: oidc.randomNonce(),
    idTokenExpected: true,
  }
  const url = oidc.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    scope: 'openid email offline_access',
    state: checks.expectedState,
    nonce: checks.expectedNonce,
    code_challenge: await oidc.calculatePKCECodeChallenge(checks.pkceCodeVerifier),
    code_challenge_method: 'S256',
  })
  return { url, checks }
}

/** What an app does: listens on whatever port the system gives it, for the one answer that it waits for. */
async function listenOnce(host: string): Promise<{ redirectUri: string; answer: Promise<URL> }> {
  const server = createServer()
  server.listen(0, host)
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const name = host.includes(':') ? `[${host}]` : host
  const origin = `http://${name}:${(server.address() as AddressInfo).port}`
  const answer = once(server, 'request').then(([request, response]) => {
    response.end('You can go back to the app.')
    return new URL(request.url, origin)
  })
  return { redirectUri: `${origin}/callback`, answer }
}

const newApp = (callbacks: string[]) => makeClient(tenant, { appType: 'native', callbacks })

describe.skipIf(noBrowser)(
  'a native app with the browser of the system (RFC 8252, the AppAuth pattern)',
  () => {
    let browser: Browser
    beforeAll(async () => {
      browser = await launchBrowser()
    })
    afterAll(() => browser?.close())

    test('signs in through its loopback listener, whatever port that got (section 7.3), and refreshes', async () => {
      const user = await makeUser(tenant, 'native@example.com')
      const client = await newApp(['http://127.0.0.1/callback'])
      const config = await oidc.discovery(issuer, client.id, undefined, oidc.None(), insecure)
      const { redirectUri, answer } = await listenOnce('127.0.0.1')
      const { url, checks } = await startRequest(config, redirectUri)

      const page = await browser.newPage()
      onTestFinished(() => page.context().close())
      await page.goto(url.href)
      await page.getByLabel('Email address').fill('native@example.com')
      await page.getByRole('button', { name: 'Continue' }).click()
      await page.getByLabel('6-digit code').fill(await codeFor('native@example.com'))
      await page.getByRole('button', { name: 'Sign in' }).click()

      const tokens = await oidc.authorizationCodeGrant(config, await answer, checks)
      expect(await page.locator('body').textContent()).toBe('You can go back to the app.')
      expect(tokens.claims()).toMatchObject({ sub: user.id, aud: client.id })
      const refreshed = await oidc.refreshTokenGrant(config, tokens.refresh_token as string)
      expect(refreshed.refresh_token).not.toBe(tokens.refresh_token)
      expect(await oidc.fetchUserInfo(config, refreshed.access_token, user.id)).toMatchObject({
        email: 'native@example.com',
      })
    })
  },
)

test('a loopback address of IPv6 is as good, and a scheme of the app’s own (sections 7.1 and 7.3)', async () => {
  await makeUser(tenant, 'schemes@example.com')
  const client = await newApp(['http://[::1]/callback', 'com.example.app:/callback'])
  const config = await oidc.discovery(issuer, client.id, undefined, oidc.None(), insecure)
  const at = new PageBrowser(app)
  for (const redirectUri of ['http://[::1]:49152/callback', 'com.example.app:/callback']) {
    const { url, checks } = await startRequest(config, redirectUri)
    const path = url.pathname + url.search
    const location = (await at.fetch(path)).headers.get('location') ?? ''
    const answered = location.startsWith(redirectUri)
      ? location
      : ((await signInAt(at, path, 'schemes@example.com')).location ?? '')
    expect(answered.startsWith(`${redirectUri}?`)).toBe(true)
    const tokens = await oidc.authorizationCodeGrant(config, new URL(answered), checks)
    expect(tokens.refresh_token).toBeTruthy()
  }
})

test.each([
  'http://127.0.0.2:49152/callback',
  'http://localhost:49152/callback',
  'http://127.0.0.1:49152/callback/',
  'http://127.0.0.1:49152/callback?x=1',
  'https://127.0.0.1:49152/callback',
  'http://127.0.0.1:49152@evil.example/callback',
  'com.example.other:/callback',
])('nothing but the port may differ: %s (RFC 8252, section 8.4; security 1)', async (redirectUri) => {
  const client = await newApp(['http://127.0.0.1/callback', 'com.example.app:/callback'])
  const config = await oidc.discovery(issuer, client.id, undefined, oidc.None(), insecure)
  const { url } = await startRequest(config, redirectUri)
  const answer = await app.fetch(url.pathname + url.search)
  expect([answer.status, answer.headers.get('location')]).toEqual([400, null])
})
