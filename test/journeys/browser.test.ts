import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { DESKTOP, launchBrowser, noBrowser, PHONE } from '../support/browser.ts'
import { freePort } from '../support/process.ts'
import { type RelyingParty, startRelyingParty } from '../support/relying-party.ts'

// Pages and issuer must name the port that a browser comes to, and src/env.ts reads it once, on import.
process.env.PORT = String(await freePort())
process.env.HOST = '127.0.0.1'
process.env.BASE_URL = `http://127.0.0.1:${process.env.PORT}`
const ORIGIN = process.env.BASE_URL
const { newTenant } = await import('../support/actors.ts')
const { startApp } = await import('../support/app.ts')
const { createClient } = await import('../../src/clients/clients.ts')
const { platformCtx } = await import('../../src/ctx.ts')
const { ensureDemo } = await import('../../src/dev/demo.ts')
const { updateSettings } = await import('../../src/tenants/settings.ts')
const { createUser } = await import('../../src/users/users.ts')

/** Directory that the pages' screenshots are written to, to be looked at. */
const SCREENSHOTS = process.env.SCREENSHOTS

if (noBrowser) process.stderr.write(`skipped: ${noBrowser}\n`)

describe.skipIf(noBrowser)('a person with a browser, without JavaScript', () => {
  let app: Awaited<ReturnType<typeof startApp>>
  let browser: Browser
  let tenant: string
  const partyOf = {} as Record<'trusted' | 'asking', RelyingParty>

  async function register(requireConsent: boolean): Promise<RelyingParty> {
    const party = await startRelyingParty('openid profile email')
    const { client, secret } = await createClient(platformCtx(tenant), {
      name: requireConsent ? 'Photo Shop' : 'Acme Mail',
      appType: 'web',
      type: 'login',
      themeColor: requireConsent ? '#ffd400' : '#0f766e',
      callbacks: [party.callback],
      requireConsent,
    })
    await party.connect(`${ORIGIN}/${tenant}`, client.id, secret)
    return party
  }

  beforeAll(async () => {
    app = await startApp()
    browser = await launchBrowser()
    tenant = await newTenant()
    await updateSettings(platformCtx(tenant), {
      friendlyName: 'Acme Cloud',
      supportUrl: 'https://acme.example/help',
    })
    partyOf.trusted = await register(false)
    partyOf.asking = await register(true)
  })
  afterAll(async () => {
    for (const party of Object.values(partyOf)) party.close()
    await browser?.close()
    await app?.close()
  })

  const newPerson = async (name: string): Promise<string> => {
    const email = `${name.toLowerCase()}@acme.example`
    await createUser(platformCtx(tenant), { email, name, emailVerified: true })
    return email
  }

  async function open(viewport = DESKTOP): Promise<BrowserContext> {
    const context = await browser.newContext({ viewport, javaScriptEnabled: false })
    context.setDefaultTimeout(10_000)
    onTestFinished(() => context.close())
    return context
  }

  const photograph = async (page: Page, name: string): Promise<void> => {
    if (SCREENSHOTS) await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true })
  }

  /** Reads the newest code as a person would: in the development inbox, in another tab. */
  async function codeFor(context: BrowserContext, address: string): Promise<string> {
    const inbox = await context.newPage()
    await inbox.goto(`${ORIGIN}/dev/inbox?to=${encodeURIComponent(address)}`)
    await photograph(inbox, 'inbox')
    const code = await inbox.locator('.message-code').first().textContent()
    await inbox.close()
    return code ?? ''
  }

  const heading = (page: Page): Promise<string | null> => page.locator('h1').textContent()
  const another = (code: string): string => String((Number(code) + 1) % 1_000_000).padStart(6, '0')
  const focused = (page: Page): Promise<string> => page.evaluate(() => document.activeElement?.id ?? '')

  async function enterAddress(page: Page, address: string): Promise<void> {
    await page.getByLabel('Email address').fill(address)
    await page.getByRole('button', { name: 'Continue' }).click()
    expect(await heading(page)).toBe('Enter your code')
  }

  async function enterCode(page: Page, code: string): Promise<void> {
    await page.getByLabel('6-digit code').fill(code)
    await page.getByRole('button', { name: 'Sign in' }).click()
  }

  async function signIn(page: Page, address: string): Promise<void> {
    await enterAddress(page, address)
    await enterCode(page, await codeFor(page.context(), address))
  }

  it('signs in by keyboard alone, after a wrong code, on a phone', async () => {
    const address = await newPerson('Ada')
    const context = await open(PHONE)
    const page = await context.newPage()
    await page.goto(partyOf.trusted.url)
    expect(await heading(page)).toBe('Sign in')
    expect(await page.locator('.lead').textContent()).toBe('to continue to Acme Mail')
    expect(await focused(page)).toBe('address')
    await photograph(page, 'phone-email')

    await page.keyboard.type(address)
    await page.keyboard.press('Enter')
    await page.waitForURL('**/code')
    expect(await page.locator('.lead').textContent()).toBe(`If ${address} can sign in, a code is on its way.`)
    await photograph(page, 'phone-code')

    const code = await codeFor(context, address)
    expect(await focused(page)).toBe('code')
    await page.keyboard.type(another(code))
    await page.keyboard.press('Enter')
    await page.getByRole('alert').waitFor()
    expect(await page.title()).toBe('Error: Enter your code · Acme Cloud')
    const description = await page.getByLabel('6-digit code').getAttribute('aria-describedby')
    expect(await page.locator(`#${description?.split(' ')[0]}`).textContent()).toMatch(/^That code is wrong/)
    expect(await focused(page)).toBe('code')
    await photograph(page, 'phone-code-wrong')

    await page.keyboard.type(code)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Space')
    await page.waitForURL(`${partyOf.trusted.callback}?**`)
    expect(partyOf.trusted.outcome()).toEqual({
      claims: expect.objectContaining({ email: address, email_verified: true, name: 'Ada' }),
    })
  })

  it('is asked for consent by a client that requires it, once, and allows it', async () => {
    const address = await newPerson('Grace')
    const page = await (await open()).newPage()
    await page.goto(partyOf.asking.url)
    await photograph(page, 'desktop-email')
    await enterAddress(page, address)
    await photograph(page, 'desktop-code')
    const code = await codeFor(page.context(), address)
    await enterCode(page, `${code.slice(0, 3)} ${code.slice(3)}`)
    expect(await heading(page)).toBe('Allow Photo Shop?')
    expect(await page.getByRole('listitem').allTextContents()).toEqual([
      'Know who you are when you sign in',
      'See your profile, such as your name, picture and language',
      'See your email address',
    ])
    expect(await page.locator('.person-text').textContent()).toBe(`Signed in asGrace${address}`)
    await photograph(page, 'desktop-consent')
    await page.getByRole('button', { name: 'Allow' }).click()
    await page.waitForURL(`${partyOf.asking.callback}?**`)
    expect(partyOf.asking.outcome()).toEqual({ claims: expect.objectContaining({ email: address }) })

    await page.goto(partyOf.asking.url)
    await page.waitForURL(`${partyOf.asking.callback}?**`)
  })

  it('denies, and the client learns just that', async () => {
    const address = await newPerson('Konrad')
    const page = await (await open(PHONE)).newPage()
    await page.goto(partyOf.asking.url)
    await signIn(page, address)
    await photograph(page, 'phone-consent')
    await page.getByRole('button', { name: 'Deny' }).click()
    await page.waitForURL(`${partyOf.asking.callback}?**`)
    expect(partyOf.asking.outcome()).toEqual({ error: 'access_denied' })
  })

  it('is somebody else than who is signed in, and uses another address', async () => {
    const [first, second] = [await newPerson('Emmy'), await newPerson('Sofja')]
    const page = await (await open()).newPage()
    await page.goto(partyOf.asking.url)
    await signIn(page, first)
    await page.getByRole('button', { name: 'Not you?' }).click()
    expect(await heading(page)).toBe('Sign in')
    await enterAddress(page, first)
    await page.getByRole('button', { name: 'Use another address' }).click()
    expect(await heading(page)).toBe('Sign in')
    await signIn(page, second)
    expect(await page.locator('.person-text').textContent()).toBe(`Signed in asSofja${second}`)
  })

  it('sees the same page for an address that nobody has', async () => {
    const page = await (await open()).newPage()
    await page.goto(partyOf.trusted.url)
    await enterAddress(page, 'nobody@acme.example')
    expect(await page.locator('.lead').textContent()).toBe(
      'If nobody@acme.example can sign in, a code is on its way.',
    )
    await enterCode(page, '123456')
    expect(await page.getByRole('alert').textContent()).toMatch(/^That code is wrong/)
    await page.goto(`${ORIGIN}/dev/inbox?to=nobody@acme.example`)
    expect(await page.locator('main').textContent()).toContain('Nothing was sent there yet.')
  })

  it('goes back from the application after a wrong code and sees no page of the browser', async () => {
    const address = await newPerson('Lise')
    const page = await (await open()).newPage()
    await page.goto(partyOf.trusted.url)
    await page.getByLabel('Email address').fill('lise')
    await page.getByRole('button', { name: 'Continue' }).click()
    expect(await page.getByRole('alert').textContent()).toMatch(/^Enter an email address/)
    expect(await page.getByLabel('Email address').inputValue()).toBe('lise')
    await enterAddress(page, address)
    const code = await codeFor(page.context(), address)
    await enterCode(page, another(code))
    expect(await page.getByRole('alert').textContent()).toMatch(/^That code is wrong/)
    await enterCode(page, code)
    await page.waitForURL(`${partyOf.trusted.callback}?**`)
    for (const _ of ['once', 'twice']) {
      // Rejects with net::ERR_CACHE_MISS where the browser would ask to send a form again.
      await page.goBack()
      expect(new URL(page.url()).origin).toBe(ORIGIN)
      expect(await heading(page)).toBe('This page has expired')
    }
  })

  it('stays here with an explanation when the redirect_uri is not the client’s', async () => {
    const page = await (await open()).newPage()
    const authorize = new URL(`${ORIGIN}/${tenant}/oidc/authorize`)
    authorize.search = new URLSearchParams({
      client_id: partyOf.trusted.clientId(),
      redirect_uri: 'https://evil.example/callback',
      response_type: 'code',
      scope: 'openid',
    }).toString()
    const response = await page.goto(authorize.href)
    expect(response?.status()).toBe(400)
    expect(page.url()).toBe(authorize.href)
    expect(await page.title()).toMatch(/^Error: .* · Acme Cloud$/)
    expect(await page.locator('.lead').textContent()).toMatch(/^The application that sent you here /)
    expect(await page.locator('.reference').textContent()).toContain('redirect_uri is not registered')
    expect(await page.locator('.reference code').textContent()).toBe(response?.headers()['x-request-id'])
    await photograph(page, 'desktop-error')
  })

  it('signs in to the demo application, and out again', async () => {
    await ensureDemo()
    const page = await (await open()).newPage()
    await page.goto(`${ORIGIN}/dev/client`)
    await photograph(page, 'desktop-demo')
    await page.getByRole('link', { name: 'Sign in' }).click()
    await signIn(page, 'ada@demo.example')
    await page.getByRole('button', { name: 'Allow' }).click()
    expect(await heading(page)).toBe('You are signed in')
    expect(await page.locator('.claims').textContent()).toContain('ada@demo.example')
    await photograph(page, 'desktop-demo-signed-in')
    await page.getByRole('link', { name: 'Sign out' }).click()
    expect(page.url()).toBe(`${ORIGIN}/dev/client`)
    await page.getByRole('link', { name: 'Sign in' }).click()
    expect(await heading(page)).toBe('Sign in')
  })
})
