import { join } from 'node:path'
import type { Browser, BrowserContext, CDPSession, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { DESKTOP, launchBrowser, noBrowser, PHONE } from '../support/browser.ts'
import { freePort } from '../support/process.ts'

// Pages must name the port that a browser comes to, and src/env.ts reads it once, on import. An IP address could be no
// RP ID; http is a secure context on localhost alone.
process.env.PORT = String(await freePort())
process.env.HOST = '127.0.0.1'
process.env.BASE_URL = `http://localhost:${process.env.PORT}`
const ORIGIN = process.env.BASE_URL
const { ctxFor, newTenant, tokenFor } = await import('../support/actors.ts')
const { startApp } = await import('../support/app.ts')
const { platformCtx } = await import('../../src/ctx.ts')
const { dbFor } = await import('../../src/db.ts')
const { createCredentialEnrollmentToken } = await import('../../src/credentials/enrolment-tokens.ts')
const { listInbox } = await import('../../src/delivery/inbox.ts')
const { updateSettings } = await import('../../src/tenants/settings.ts')
const { createUser } = await import('../../src/users/users.ts')

/** Directory that the pages' screenshots are written to, to be looked at. */
const SCREENSHOTS = process.env.SCREENSHOTS

if (noBrowser) process.stderr.write(`skipped: ${noBrowser}\n`)

describe.skipIf(noBrowser)('a person who got an enrolment link', () => {
  let app: Awaited<ReturnType<typeof startApp>>
  let browser: Browser
  let tenant: string
  let management: string

  beforeAll(async () => {
    app = await startApp()
    browser = await launchBrowser()
    tenant = await newTenant()
    management = await tokenFor(tenant)
    await updateSettings(platformCtx(tenant), {
      friendlyName: 'Acme Cloud',
      supportUrl: 'https://acme.example/help',
    })
  })
  afterAll(async () => {
    await browser?.close()
    await app?.close()
  })

  const rest = (method: string, path: string, body?: unknown) =>
    app.rest(tenant, management, method, path, body)
  const photograph = async (page: Page, name: string): Promise<void> => {
    if (SCREENSHOTS) await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true })
  }
  const heading = (page: Page): Promise<string | null> => page.locator('h1').textContent()

  async function open({ viewport = DESKTOP, javaScriptEnabled = true } = {}): Promise<BrowserContext> {
    const context = await browser.newContext({ viewport, javaScriptEnabled })
    context.setDefaultTimeout(10_000)
    onTestFinished(() => context.close())
    return context
  }

  /** A page with a device that has a screen lock, which its owner opens, or not. */
  async function openWithDevice(context: BrowserContext, isUserVerified = true) {
    const page = await context.newPage()
    const faults: string[] = []
    page.on('pageerror', (error) => faults.push(String(error)))
    page.on('console', (message) => {
      // A refusal that the page explains is an error to the console, too.
      if (message.type() === 'error' && !/status of 4/.test(message.text())) faults.push(message.text())
    })
    const device: CDPSession = await context.newCDPSession(page)
    await device.send('WebAuthn.enable')
    const { authenticatorId } = await device.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified,
        automaticPresenceSimulation: true,
      },
    })
    return { page, device, authenticatorId, faults }
  }

  async function newPerson(name: string): Promise<{ userId: string; email: string }> {
    const email = `${name.toLowerCase()}@acme.example`
    const { id } = await createUser(platformCtx(tenant), { email, name, emailVerified: true })
    return { userId: id, email }
  }

  /** The link out of the newest message to an address. */
  const linkFor = (address: string): string =>
    /http:\S+/.exec(listInbox(address)[0]?.body ?? '')?.[0] ?? 'none'

  it('creates a passkey by keyboard alone; it is listed with its device, and revoked', async () => {
    const { userId, email } = await newPerson('Ada')
    const { body: made } = await rest('POST', `/users/${userId}/credentials/enrollment-tokens`, {})
    const link = linkFor(email)
    expect(link).toBe(made.uri)

    const { page, device, authenticatorId, faults } = await openWithDevice(await open({ viewport: PHONE }))
    const requests: { url: string; referer?: string }[] = []
    page.on('request', (request) => requests.push({ url: request.url(), referer: request.headers().referer }))
    await page.goto(link)
    expect(await heading(page)).toBe('Create your passkey')
    expect(await page.title()).toBe('Create your passkey · Acme Cloud')
    expect(await page.locator('.lead').textContent()).toBe(`for ${email}`)
    const button = page.getByRole('button', { name: 'Create a passkey' })
    await button.waitFor()
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('enrol-button')
    const box = await button.boundingBox()
    expect([Number(box?.height) >= 44, Number(box?.width) >= 44]).toEqual([true, true])
    expect(await button.evaluate((element) => getComputedStyle(element).outlineStyle)).toBe('solid')
    await photograph(page, 'phone-enrol')

    await page.keyboard.press('Enter')
    await page.waitForURL('**/enroll/done')
    expect(await heading(page)).toBe('Your passkey is ready')
    expect(faults).toEqual([])
    await photograph(page, 'phone-enrolled')

    const { credentials: kept } = await device.send('WebAuthn.getCredentials', { authenticatorId })
    expect(kept).toEqual([expect.objectContaining({ isResidentCredential: true, rpId: 'localhost' })])
    expect(kept[0]).toMatchObject({ userName: `${email} (Acme Cloud)`, userDisplayName: 'Ada (Acme Cloud)' })

    const { body } = await rest('GET', `/users/${userId}/credentials`)
    expect(body.credentials).toEqual([
      expect.objectContaining({
        type: 'public-key',
        lastUsedAt: null,
        device: expect.objectContaining({
          platform: expect.any(String),
          architecture: expect.any(String),
          uaVersion: expect.any(String),
          lastSeenIp: '127.0.0.1',
        }),
      }),
    ])

    // Nobody else was called, and nobody was told where from.
    expect(requests.filter(({ url }) => !url.startsWith(ORIGIN) && !url.startsWith('data:'))).toEqual([])
    const token = String(made.token)
    expect(requests.filter(({ referer }) => referer?.includes(token))).toEqual([])
    // The link is not where the back button leads to.
    expect(await page.evaluate(() => history.length)).toBeLessThanOrEqual(2)

    const [credential] = body.credentials as { id: string }[]
    expect((await rest('DELETE', `/credentials/${credential?.id}`)).status).toBe(200)
    expect((await rest('GET', `/users/${userId}/credentials`)).body.totalSize).toBe(0)
  })

  it('finds the link used afterwards, and is told whom to ask', async () => {
    const { email, userId } = await newPerson('Grace')
    await rest('POST', `/users/${userId}/credentials/enrollment-tokens`, {})
    const { page } = await openWithDevice(await open())
    await page.goto(linkFor(email))
    await page.getByRole('button', { name: 'Create a passkey' }).click()
    await page.waitForURL('**/enroll/done')
    const again = await page.goto(linkFor(email))
    expect(again?.status()).toBe(410)
    expect(await heading(page)).toBe('This link does not work any more')
    expect(await page.getByRole('link', { name: 'Get help' }).getAttribute('href')).toBe(
      'https://acme.example/help',
    )
    await photograph(page, 'desktop-enrol-gone')
  })

  it('sees the same when the link is replaced while the page is open', async () => {
    const { email, userId } = await newPerson('Lise')
    const ctx = await ctxFor(tenant)
    const { uri } = await createCredentialEnrollmentToken(ctx, userId, { send: false })
    const { page } = await openWithDevice(await open())
    await page.goto(uri)
    await page.getByRole('button', { name: 'Create a passkey' }).waitFor()
    await createCredentialEnrollmentToken(ctx, userId, { send: false })
    await page.getByRole('button', { name: 'Create a passkey' }).click()
    await page.getByRole('heading', { name: 'This link does not work any more' }).waitFor()
    expect(listInbox(email)).toEqual([])
  })

  it('who fails to unlock the device is told so, and tries again', async () => {
    const { userId, email } = await newPerson('Emmy')
    await rest('POST', `/users/${userId}/credentials/enrollment-tokens`, {})
    const { page, device, authenticatorId, faults } = await openWithDevice(await open(), false)
    await page.goto(linkFor(email))
    await page.getByRole('button', { name: 'Create a passkey' }).click()
    await page.locator('#enrol-fault .fault').waitFor()
    expect(await page.getByRole('alert').textContent()).toMatch(/^Nothing was created/)
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('enrol-button')
    expect(await page.getByRole('status').textContent()).toMatch(/^You can do this once/)
    await photograph(page, 'desktop-enrol-fault')
    await device.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true })
    await page.keyboard.press('Space')
    await page.waitForURL('**/enroll/done')
    expect(faults).toEqual([])
  })

  it('who has a passkey on this device already is told so', async () => {
    const { userId } = await newPerson('Konrad')
    const ctx = await ctxFor(tenant)
    const { page } = await openWithDevice(await open())
    for (const expected of ['**/enroll/done', null]) {
      const { uri } = await createCredentialEnrollmentToken(ctx, userId, { send: false })
      await page.goto(uri)
      await page.getByRole('button', { name: 'Create a passkey' }).click()
      if (expected) await page.waitForURL(expected)
    }
    await page.locator('#enrol-fault .fault').waitFor()
    expect(await page.getByRole('alert').textContent()).toMatch(/^This device already has a passkey/)
    expect(await dbFor(tenant).credential.count({ where: { tenantId: tenant, userId } })).toBe(1)
  })

  it('without a connection, or in a browser that knows no passkeys, is told so', async () => {
    const { userId } = await newPerson('Sofja')
    const { uri } = await createCredentialEnrollmentToken(await ctxFor(tenant), userId, { send: false })
    const context = await open()
    const { page } = await openWithDevice(context)
    await page.goto(uri)
    await page.getByRole('button', { name: 'Create a passkey' }).waitFor()
    await context.setOffline(true)
    await page.getByRole('button', { name: 'Create a passkey' }).click()
    await page.locator('#enrol-fault .fault').waitFor()
    expect(await page.getByRole('alert').textContent()).toMatch(/^The connection failed/)
    await context.setOffline(false)
    const old = await context.newPage()
    await old.addInitScript(() => Reflect.deleteProperty(globalThis, 'PublicKeyCredential'))
    await old.goto(uri)
    await old.locator('#enrol-fault .fault').waitFor()
    expect(await old.getByRole('alert').textContent()).toMatch(/^This browser cannot create passkeys/)
    expect(await old.getByRole('button').count()).toBe(0)
  })

  it('without JavaScript is told what the page needs, and that the link still works', async () => {
    const { userId } = await newPerson('Hedy')
    const { uri } = await createCredentialEnrollmentToken(await ctxFor(tenant), userId, { send: false })
    const page = await (await open({ javaScriptEnabled: false })).newPage()
    await page.goto(uri)
    expect(await page.locator('.fault').textContent()).toMatch(/needs JavaScript.*The link still works\.$/)
    expect(await page.getByRole('button').count()).toBe(0)
    await photograph(page, 'desktop-enrol-noscript')
  })
})
