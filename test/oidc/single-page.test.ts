import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { launchBrowser, noBrowser } from '../support/browser.ts'
import { freePort } from '../support/process.ts'
import { type SinglePage, startSinglePage } from '../support/single-page.ts'

// The issuer must be where the browser finds the provider: the environment is read with the first import of src.
const port = await freePort()
process.env.PORT = String(port)
process.env.HOST = '127.0.0.1'
process.env.BASE_URL = `http://127.0.0.1:${port}`
const { newTenant } = await import('../support/actors.ts')
const { startApp } = await import('../support/app.ts')
const { codeFor, makeClient, makeUser } = await import('./provider.ts')

if (noBrowser) process.stderr.write(`skipped: ${noBrowser}\n`)

type Tokens = { access_token: string; refresh_token?: string; profile: Record<string, unknown> }
type Manager = {
  signinRedirect: () => Promise<void>
  signinSilent: () => Promise<Tokens | null>
  signinPopup: () => Promise<Tokens>
  signoutRedirect: () => Promise<void>
  getUser: () => Promise<Tokens | null>
}
declare const manager: Manager

describe.skipIf(noBrowser)('oidc-client-ts in a browser', () => {
  let app: Awaited<ReturnType<typeof startApp>>
  let browser: Browser
  let tenant: string
  const apps: SinglePage[] = []
  beforeAll(async () => {
    app = await startApp()
    browser = await launchBrowser()
    tenant = await newTenant()
  })
  afterAll(async () => {
    for (const { close } of apps) close()
    await browser?.close()
    await app?.close()
  })

  /** A registered application; its scope decides whether renewal goes through a frame or by a refresh token. */
  async function register(scope: string): Promise<SinglePage> {
    const spa = await startSinglePage()
    apps.push(spa)
    const client = await makeClient(tenant, {
      appType: 'single-page',
      callbacks: spa.callbacks,
      allowedOrigins: [spa.origin],
      allowedLogoutUrls: [spa.signedOut],
    })
    spa.connect(`${process.env.BASE_URL}/${tenant}`, client.id, scope)
    return spa
  }

  async function open(spa: SinglePage): Promise<Page> {
    const context = await browser.newContext()
    context.setDefaultTimeout(10_000)
    onTestFinished(() => context.close())
    const page = await context.newPage()
    await page.goto(`${spa.origin}/`)
    return page
  }

  async function signInOn(page: Page, email: string): Promise<void> {
    await page.getByLabel('Email address').fill(email)
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByLabel('6-digit code').fill(await codeFor(email))
    await page.getByRole('button', { name: 'Sign in' }).click()
  }

  async function signIn(page: Page, spa: SinglePage, email: string): Promise<Tokens> {
    await page.evaluate(() => void manager.signinRedirect())
    await page.waitForURL('**/signin/**')
    await signInOn(page, email)
    await page.waitForFunction(() => document.title === 'Signed in')
    await page.goto(`${spa.origin}/`)
    return (await page.evaluate(() => manager.getUser())) as Tokens
  }

  test('signs in by redirect, reads userinfo, renews silently in a frame (prompt=none), and signs out', async () => {
    const user = await makeUser(tenant, 'frame@example.com', { name: 'Ada Lovelace' })
    const spa = await register('openid profile email')
    const page = await open(spa)
    const first = await signIn(page, spa, 'frame@example.com')
    expect(first.profile).toMatchObject({ sub: user.id, name: 'Ada Lovelace', email: 'frame@example.com' })
    expect(first.refresh_token).toBeUndefined()

    const renewed = await page.evaluate(() => manager.signinSilent())
    expect(renewed?.profile.sub).toBe(user.id)
    expect(renewed?.access_token).not.toBe(first.access_token)
    expect(renewed?.profile.auth_time).toBe(first.profile.auth_time)

    await page.evaluate(() => void manager.signoutRedirect())
    await page.waitForFunction(() => document.title === 'Signed out')
    await page.goto(`${spa.origin}/`)
    const refused = await page.evaluate(() => manager.signinSilent().catch((error) => error.error))
    expect(refused).toBe('login_required')
  })

  test('renews by refresh token with offline_access', async () => {
    const user = await makeUser(tenant, 'refresh@example.com')
    const spa = await register('openid offline_access')
    const page = await open(spa)
    const first = await signIn(page, spa, 'refresh@example.com')
    const renewed = await page.evaluate(() => manager.signinSilent())
    expect(renewed?.profile.sub).toBe(user.id)
    expect(renewed?.refresh_token).not.toBe(first.refresh_token)
  })

  test('signs in with a popup', async () => {
    const user = await makeUser(tenant, 'popup@example.com')
    const spa = await register('openid email')
    const page = await open(spa)
    const [popup] = await Promise.all([
      page.waitForEvent('popup'),
      page.evaluate(() => {
        Object.assign(window, { signedIn: manager.signinPopup() })
      }),
    ])
    await signInOn(popup, 'popup@example.com')
    const tokens = await page.evaluate(() => (window as unknown as { signedIn: Promise<Tokens> }).signedIn)
    expect(tokens.profile).toMatchObject({ sub: user.id, email: 'popup@example.com' })
    await expect.poll(() => popup.isClosed()).toBe(true)
  })

  test('of an origin that is not registered reads no answer (CORS)', async () => {
    await makeUser(tenant, 'cors@example.com')
    const spa = await startSinglePage()
    apps.push(spa)
    const client = await makeClient(tenant, {
      appType: 'single-page',
      callbacks: spa.callbacks,
      allowedOrigins: ['http://127.0.0.1:1'],
    })
    spa.connect(`${process.env.BASE_URL}/${tenant}`, client.id, 'openid')
    const page = await open(spa)
    await page.evaluate(() => void manager.signinRedirect())
    await page.waitForURL('**/signin/**')
    await signInOn(page, 'cors@example.com')
    await page.waitForFunction(() => /failed to fetch/i.test(document.title))
  })
})
