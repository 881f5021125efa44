import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as oidc from 'openid-client'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished, test } from 'vitest'
import { DESKTOP, launchBrowser, noBrowser, PHONE } from '../support/browser.ts'
import { freePort, startServer } from '../support/process.ts'

// The issuer must be where the provider listens: the environment is read with the first import of src.
process.env.PORT = String(await freePort())
process.env.HOST = '127.0.0.1'
process.env.BASE_URL = `http://127.0.0.1:${process.env.PORT}`
const ORIGIN = process.env.BASE_URL
const { newTenant } = await import('../support/actors.ts')
const { startApp } = await import('../support/app.ts')
const { updateSettings } = await import('../../src/tenants/settings.ts')
const { sha256 } = await import('../../src/crypto.ts')
const { platformCtx } = await import('../../src/ctx.ts')
const { dbFor } = await import('../../src/db.ts')
const { authorizePath, Browser: PageBrowser, makeClient, makeUser, signInAt } = await import('./provider.ts')
const { decide, pollWith, startDevice } = await import('./device-flow.ts')

/** Directory that the pages' screenshots are written to, to be looked at. */
const SCREENSHOTS = process.env.SCREENSHOTS
const insecure = { execute: [oidc.allowInsecureRequests] }
const SCOPE = 'openid profile email offline_access'

let app: Awaited<ReturnType<typeof startApp>>
let tenant: string
let tv: Awaited<ReturnType<typeof makeClient>>
let config: oidc.Configuration
beforeAll(async () => {
  app = await startApp()
  tenant = await newTenant()
  await updateSettings(platformCtx(tenant), {
    friendlyName: 'Acme Cloud',
    supportUrl: 'https://acme.example/help',
  })
  const more = { name: 'Living room TV', appType: 'native', callbacks: [], themeColor: '#0f766e' }
  tv = await makeClient(tenant, more)
  config = await oidc.discovery(new URL(`${ORIGIN}/${tenant}`), tv.id, undefined, oidc.None(), insecure)
})
afterAll(() => app.close())

describe('openid-client on a device (RFC 8628)', () => {
  /** Begins, and is let poll ten times a second rather than every five. */
  const begin = async (scope: string) => {
    const begun = await oidc.initiateDeviceAuthorization(config, { scope })
    expect(begun).toMatchObject({ expires_in: 600, interval: 5 })
    const where = { tenantId: tenant, codeHash: sha256(begun.device_code) }
    await dbFor(tenant).deviceCode.updateMany({ where, data: { intervalSeconds: 0 } })
    return { ...begun, interval: 0.1 }
  }
  const signedIn = async (email: string) => {
    const browser = new PageBrowser(app)
    const user = await makeUser(tenant, email, { name: 'Ada Lovelace' })
    await signInAt(browser, authorizePath(tenant, await makeClient(tenant)), email)
    return { browser, user }
  }

  test('polls until the person has allowed it, with a key of its own (RFC 9449), and refreshes', async () => {
    const { browser, user } = await signedIn('ada@example.com')
    const DPoP = oidc.getDPoPHandle(config, await oidc.randomDPoPKeyPair())
    const begun = await begin(SCOPE)
    const polling = oidc.pollDeviceAuthorizationGrant(config, begun, undefined, { DPoP })
    expect((await decide(browser, tenant, begun.user_code, 'allow')).status).toBe(200)
    const tokens = await polling
    expect(tokens).toMatchObject({ token_type: 'dpop', scope: SCOPE })
    expect(tokens.claims()).toMatchObject({ sub: user.id, aud: tv.id })
    const info = await oidc.fetchUserInfo(config, tokens.access_token, user.id, { DPoP })
    expect(info).toMatchObject({ name: 'Ada Lovelace', email: 'ada@example.com' })
    const refreshed = await oidc.refreshTokenGrant(config, tokens.refresh_token as string, undefined, {
      DPoP,
    })
    expect(refreshed.access_token).not.toBe(tokens.access_token)
    // The refresh token of a client without a secret is worth nothing without the key.
    await expect(oidc.refreshTokenGrant(config, refreshed.refresh_token as string)).rejects.toMatchObject({
      error: 'invalid_grant',
    })
  }, 30_000)

  test('is told of a refusal', async () => {
    const { browser } = await signedIn('grace@example.com')
    const begun = await begin('openid')
    const refused = expect(oidc.pollDeviceAuthorizationGrant(config, begun)).rejects.toMatchObject({
      error: 'access_denied',
    })
    await decide(browser, tenant, begun.user_code, 'deny')
    await refused
  }, 30_000)

  test.runIf(inject('database').kind === 'postgres')(
    'polls one process, while the person is at another',
    async () => {
      const directory = await mkdtemp(join(tmpdir(), 'vestibule-device-'))
      const { BASE_URL, DATABASE_URL, REDIS_URL, ENCRYPTION_KEY } = process.env
      const second = await startServer({
        DATA_DIR: directory,
        BASE_URL,
        DATABASE_URL,
        REDIS_URL,
        ENCRYPTION_KEY,
      })
      onTestFinished(async () => {
        await second.kill()
        await rm(directory, { recursive: true, force: true })
      })
      const { browser, user } = await signedIn('mary@example.com')
      const { body } = await startDevice(second as never, tenant, tv)
      const code = body.device_code as string
      expect((await pollWith(second, tenant, tv, code)).body.error).toBe('authorization_pending')
      // How often it polls counts for both.
      expect((await pollWith(app, tenant, tv, code)).body.error).toBe('slow_down')
      await decide(browser, tenant, body.user_code as string, 'allow')
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, n) => pollWith(n % 2 ? second : app, tenant, tv, code)),
      )
      const given = answers.filter(({ status }) => status === 200)
      expect(given).toHaveLength(1)
      const info = await fetch(`${second.origin}/${tenant}/oidc/userinfo`, {
        headers: { authorization: `Bearer ${given[0]?.body.access_token}` },
      })
      expect(await info.json()).toMatchObject({ sub: user.id })
    },
    90_000,
  )
})

if (noBrowser) process.stderr.write(`skipped: ${noBrowser}\n`)

describe.skipIf(noBrowser)('a person with a browser, without JavaScript, by keyboard alone', () => {
  let chromium: Browser
  beforeAll(async () => {
    chromium = await launchBrowser()
  })
  afterAll(() => chromium?.close())

  const photograph = async (page: Page, name: string): Promise<void> => {
    if (SCREENSHOTS) await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true })
  }
  const heading = (page: Page): Promise<string | null> => page.locator('h1').textContent()
  const focused = (page: Page): Promise<string> =>
    page.evaluate(() => document.activeElement?.id || (document.activeElement?.textContent ?? ''))

  async function codeFor(context: BrowserContext, address: string): Promise<string> {
    const inbox = await context.newPage()
    await inbox.goto(`${ORIGIN}/dev/inbox?to=${encodeURIComponent(address)}`)
    const code = await inbox.locator('.message-code').first().textContent()
    await inbox.close()
    return code ?? ''
  }

  /** Sends the form that has the focus. */
  async function press(page: Page): Promise<void> {
    const loaded = page.waitForEvent('load')
    await page.keyboard.press('Enter')
    await loaded
  }

  /** Types what a person would, and sends it. */
  async function answer(page: Page, text: string): Promise<void> {
    await page.keyboard.type(text)
    await press(page)
  }

  /** Goes on by Tab to what is called so. */
  async function tabTo(page: Page, name: string): Promise<void> {
    for (let steps = 0; steps < 20; steps++) {
      if ((await focused(page)).trim() === name) return
      await page.keyboard.press('Tab')
    }
    throw new Error(`${name} cannot be reached`)
  }

  it.each([
    ['a phone, dark', PHONE, 'dark'],
    ['a desk, light', DESKTOP, 'light'],
  ] as const)('enters the code, signs in and allows it, on %s', async (where, viewport, colorScheme) => {
    const name = where.replace(/\W+/g, '-')
    const email = `${name}@example.com`
    await makeUser(tenant, email, { name: 'Ada Lovelace' })
    const context = await chromium.newContext({ viewport, colorScheme, javaScriptEnabled: false })
    onTestFinished(() => context.close())
    const page = await context.newPage()
    const begun = await oidc.initiateDeviceAuthorization(config, { scope: SCOPE })
    const narrow = async () =>
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(viewport.width)

    await page.goto(begun.verification_uri)
    expect(await heading(page)).toBe('Connect a device')
    expect(await focused(page)).toBe('user_code')
    await photograph(page, `device-${name}-1-code`)
    await answer(page, 'bbbbbbbb')
    expect(await page.getByRole('alert').textContent()).toContain('That code is wrong')
    expect(await page.title()).toMatch(/^Error: /)
    expect(await focused(page)).toBe('user_code')
    await photograph(page, `device-${name}-2-wrong`)
    await narrow()

    await page.keyboard.press('Control+A')
    await answer(page, begun.user_code.toLowerCase().replace('-', ' '))
    expect(await heading(page)).toBe('Sign in')
    await answer(page, email)
    await answer(page, await codeFor(context, email))
    expect(await heading(page)).toBe('Connect Living room TV?')
    expect(await page.locator('.user-code').textContent()).toBe(begun.user_code)
    await narrow()
    await photograph(page, `device-${name}-3-question`)

    await tabTo(page, 'Allow')
    await press(page)
    expect(await heading(page)).toBe('Your device is connected')
    await narrow()
    await photograph(page, `device-${name}-4-approved`)
    const { body } = await pollWith(app, tenant, tv, begun.device_code)
    expect(body).toHaveProperty('access_token')
  })

  it('comes by the link of the device, finds the code filled in, is asked, and denies it', async () => {
    const email = 'linked@example.com'
    await makeUser(tenant, email, { name: 'Grace Hopper' })
    const context = await chromium.newContext({ viewport: PHONE, javaScriptEnabled: false })
    onTestFinished(() => context.close())
    const page = await context.newPage()
    const begun = await oidc.initiateDeviceAuthorization(config, { scope: 'openid' })
    await page.goto(begun.verification_uri_complete as string)
    expect(await page.locator('#user_code').inputValue()).toBe(begun.user_code)
    await answer(page, '')
    await answer(page, email)
    await answer(page, await codeFor(context, email))
    await tabTo(page, 'Deny')
    await press(page)
    expect(await heading(page)).toBe('Your device is not connected')
    await photograph(page, 'device-denied')
    expect((await pollWith(app, tenant, tv, begun.device_code)).body.error).toBe('access_denied')
  })
})
