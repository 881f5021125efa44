import { randomUUID } from 'node:crypto'
import type { BrowserContext, Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import { ensureDemo } from '../../src/dev/demo.ts'
import { createUser } from '../../src/users/users.ts'
import { noBrowser, ORIGIN, PHONE } from '../support/browser.ts'
import { test as base, photograph, readHeading } from '../support/journey.ts'
import { makeClient } from '../support/protocol.ts'
import { startRelyingParty } from '../support/relying-party.ts'

const PLAIN = { javaScriptEnabled: false }

const test = base
  .extend('register', { scope: 'file' }, ({ app, acme }, { onCleanup }) => {
    const parties: Awaited<ReturnType<typeof startRelyingParty>>[] = []
    onCleanup(() => {
      for (const party of parties) party.close()
    })
    return async (name: string, themeColor: string, requireConsent: boolean) => {
      const party = await startRelyingParty('openid profile email', app)
      parties.push(party)
      const client = await makeClient(acme, { name, themeColor, requireConsent, callbacks: [party.callback] })
      await party.connect(`${ORIGIN}/${acme}`, client.id, client.secret)
      return party
    }
  })
  .extend('trusted', { scope: 'file' }, ({ register }) => register('Acme Mail', '#0f766e', false))
  .extend('asking', { scope: 'file' }, ({ register }) => register('Photo Shop', '#ffd400', true))
  .extend('newUser', { scope: 'file' }, ({ acme }) => async (name: string): Promise<string> => {
    const email = `${name.toLowerCase()}-${randomUUID()}@acme.example`
    await createUser(createPlatformCtx(acme), { email, name, emailVerified: true })
    return email
  })

/** Reads the newest code in the development inbox, in another tab. */
async function codeFor(context: BrowserContext, address: string): Promise<string> {
  const inbox = await context.newPage()
  await inbox.goto(`${ORIGIN}/dev/inbox?to=${encodeURIComponent(address)}`)
  await photograph(inbox, 'inbox')
  const code = await inbox.locator('.message-code').first().textContent()
  await inbox.close()
  return code ?? ''
}

const toWrongCode = (code: string): string => String((Number(code) + 1) % 1_000_000).padStart(6, '0')
const readFocus = (page: Page): Promise<string> => page.evaluate(() => document.activeElement?.id ?? '')

async function enterAddress(page: Page, address: string): Promise<void> {
  await page.getByLabel('Email address').fill(address)
  await page.getByRole('button', { name: 'Continue' }).click()
  expect(await readHeading(page)).toBe('Enter your code')
}

async function enterCode(page: Page, code: string): Promise<void> {
  await page.getByLabel('6-digit code').fill(code)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

async function signInWith(page: Page, address: string): Promise<void> {
  await enterAddress(page, address)
  await enterCode(page, await codeFor(page.context(), address))
}

describe.skipIf(noBrowser)('a user with a browser without JavaScript', () => {
  test('signs in by keyboard only, after a wrong code, on a phone', async ({ open, newUser, trusted }) => {
    const address = await newUser('Ada')
    const context = await open({ ...PLAIN, viewport: PHONE })
    const page = await context.newPage()
    await page.goto(trusted.url)
    expect(await readHeading(page)).toBe('Sign in')
    expect(await page.locator('.lead').textContent()).toBe('to continue to Acme Mail')
    await expect.poll(() => readFocus(page)).toBe('address')
    await photograph(page, 'phone-email')

    await page.keyboard.type(address)
    await page.keyboard.press('Enter')
    await page.waitForURL('**/code')
    expect(await page.locator('.lead').textContent()).toBe(`If ${address} can sign in, a code is on its way.`)
    await photograph(page, 'phone-code')

    const code = await codeFor(context, address)
    await expect.poll(() => readFocus(page)).toBe('code')
    await page.keyboard.type(toWrongCode(code))
    await page.keyboard.press('Enter')
    await page.getByRole('alert').waitFor()
    expect(await page.title()).toBe('Error: Enter your code · Acme Cloud')
    const description = await page.getByLabel('6-digit code').getAttribute('aria-describedby')
    expect(await page.locator(`#${description?.split(' ')[0]}`).textContent()).toMatch(/^That code is wrong/)
    await expect.poll(() => readFocus(page)).toBe('code')
    await photograph(page, 'phone-code-wrong')

    await page.keyboard.type(code)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Space')
    await page.waitForURL(`${trusted.callback}?**`)
    expect(trusted.outcome()).toEqual({
      claims: expect.objectContaining({ email: address, email_verified: true, name: 'Ada' }),
    })
  })

  test('allows a client that requires consent, and is asked once', async ({ open, newUser, asking }) => {
    const address = await newUser('Grace')
    const page = await (await open(PLAIN)).newPage()
    await page.goto(asking.url)
    await photograph(page, 'desktop-email')
    await enterAddress(page, address)
    await photograph(page, 'desktop-code')
    const code = await codeFor(page.context(), address)
    await enterCode(page, `${code.slice(0, 3)} ${code.slice(3)}`)
    expect(await readHeading(page)).toBe('Allow Photo Shop?')
    expect(await page.getByRole('listitem').allTextContents()).toEqual([
      'Know who you are when you sign in',
      'See your profile, such as your name, picture and language',
      'See your email address',
    ])
    expect(await page.locator('.person-text').textContent()).toBe(`Signed in asGrace${address}`)
    await photograph(page, 'desktop-consent')
    await page.getByRole('button', { name: 'Allow' }).click()
    await page.waitForURL(`${asking.callback}?**`)
    expect(asking.outcome()).toEqual({ claims: expect.objectContaining({ email: address }) })

    await page.goto(asking.url)
    await page.waitForURL(`${asking.callback}?**`)
  })

  test('denies consent, which the client receives as access_denied', async ({ open, newUser, asking }) => {
    const address = await newUser('Konrad')
    const page = await (await open({ ...PLAIN, viewport: PHONE })).newPage()
    await page.goto(asking.url)
    await signInWith(page, address)
    await photograph(page, 'phone-consent')
    await page.getByRole('button', { name: 'Deny' }).click()
    await page.waitForURL(`${asking.callback}?**`)
    expect(asking.outcome()).toEqual({ error: 'access_denied' })
  })

  test('signs in as another user from the consent page, and with another address', async ({
    open,
    newUser,
    asking,
  }) => {
    const [first, second] = [await newUser('Emmy'), await newUser('Sofja')]
    const page = await (await open(PLAIN)).newPage()
    await page.goto(asking.url)
    await signInWith(page, first)
    await page.getByRole('button', { name: 'Not you?' }).click()
    expect(await readHeading(page)).toBe('Sign in')
    await enterAddress(page, first)
    await page.getByRole('button', { name: 'Use another address' }).click()
    expect(await readHeading(page)).toBe('Sign in')
    await signInWith(page, second)
    expect(await page.locator('.person-text').textContent()).toBe(`Signed in asSofja${second}`)
  })

  test('sees the same page for an unknown address', async ({ open, trusted }) => {
    const page = await (await open(PLAIN)).newPage()
    await page.goto(trusted.url)
    await enterAddress(page, 'unknown@acme.example')
    expect(await page.locator('.lead').textContent()).toBe(
      'If unknown@acme.example can sign in, a code is on its way.',
    )
    await enterCode(page, '123456')
    expect(await page.getByRole('alert').textContent()).toMatch(/^That code is wrong/)
    await page.goto(`${ORIGIN}/dev/inbox?to=unknown@acme.example`)
    expect(await page.locator('main').textContent()).toContain('Nothing was sent there yet.')
  })

  test('goes back from the application to a page that says so', async ({ open, newUser, trusted }) => {
    const address = await newUser('Lise')
    const page = await (await open(PLAIN)).newPage()
    await page.goto(trusted.url)
    await page.getByLabel('Email address').fill('lise')
    await page.getByRole('button', { name: 'Continue' }).click()
    expect(await page.getByRole('alert').textContent()).toMatch(/^Enter an email address/)
    expect(await page.getByLabel('Email address').inputValue()).toBe('lise')
    await enterAddress(page, address)
    const code = await codeFor(page.context(), address)
    await enterCode(page, toWrongCode(code))
    expect(await page.getByRole('alert').textContent()).toMatch(/^That code is wrong/)
    await enterCode(page, code)
    await page.waitForURL(`${trusted.callback}?**`)
    for (let times = 0; times < 2; times++) {
      // Rejects with net::ERR_CACHE_MISS where the browser would ask to send a form again.
      await page.goBack()
      expect(new URL(page.url()).origin).toBe(ORIGIN)
      expect(await readHeading(page)).toBe('You are signed in')
    }
  })

  test('sees an explanation when the redirect_uri is not registered', async ({ open, trusted, acme }) => {
    const page = await (await open(PLAIN)).newPage()
    const authorize = new URL(`${ORIGIN}/${acme}/oidc/authorize`)
    authorize.search = new URLSearchParams({
      client_id: trusted.clientId(),
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

  test('signs in to the demo application and out of it', async ({ open }) => {
    await ensureDemo()
    const page = await (await open(PLAIN)).newPage()
    await page.goto(`${ORIGIN}/dev/client`)
    await photograph(page, 'desktop-demo')
    await page.getByRole('link', { name: 'Sign in' }).click()
    await signInWith(page, 'ada@demo.example')
    await page.getByRole('button', { name: 'Allow' }).click()
    expect(await readHeading(page)).toBe('You are signed in')
    expect(await page.locator('.claims').textContent()).toContain('ada@demo.example')
    await photograph(page, 'desktop-demo-signed-in')
    await page.getByRole('link', { name: 'Sign out' }).click()
    expect(page.url()).toBe(`${ORIGIN}/dev/client`)
    await page.getByRole('link', { name: 'Sign in' }).click()
    expect(await readHeading(page)).toBe('Sign in')
  })
})
