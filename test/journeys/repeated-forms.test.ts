import type { BrowserContextOptions, Page, Route } from 'playwright-core'
import { describe, expect, vi } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import { CODE_SCRIPT_PATH } from '../../src/pages/assets/code-script.ts'
import { noBrowser, ORIGIN } from '../support/browser.ts'
import { dbFor } from '../support/database.ts'
import { fillCode } from '../support/fill-code.ts'
import { test as base, readHeading } from '../support/journey.ts'
import { withoutOffer } from '../support/passkey-journey.ts'
import { codeFor, makeClient } from '../support/protocol.ts'
import { type RelyingParty, startRelyingParty } from '../support/relying-party.ts'
import { computeTotp, enrollTotp } from '../support/totp.ts'

const LATENCY_MS = 100
const PLAIN = { javaScriptEnabled: false }

const test = base
  .extend('party', { scope: 'file' }, async ({ app, acme }, { onCleanup }) => {
    const party = await startRelyingParty('openid email', app)
    onCleanup(() => party.close())
    const client = await makeClient(acme, {
      name: 'Acme Mail',
      callbacks: [party.callback],
      requireConsent: true,
    })
    await party.connect(`${ORIGIN}/${acme}`, client.id, client.secret)
    return party
  })
  /** A page whose requests take 100 ms longer. */
  .extend('openSlow', ({ open }) => async (options: BrowserContextOptions = {}): Promise<Page> => {
    const page = await (await open(options)).newPage()
    const session = await page.context().newCDPSession(page)
    await session.send('Network.enable')
    await session.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: LATENCY_MS,
      downloadThroughput: -1,
      uploadThroughput: -1,
    })
    await withoutOffer(page)
    return page
  })
  .extend('enterAddress', ({ party }) => async (page: Page, address: string) => {
    await page.goto(party.url)
    await page.getByLabel('Email address').fill(address)
    // Also where the button is pressed twice.
    await page.getByRole('button', { name: 'Continue', exact: true }).dblclick()
    await page.waitForURL(/\/code(\?again=1)?$/)
  })
  /** The types of the newest events of a user, the newest last. */
  .extend(
    'countEvents',
    ({ events }) =>
      async (userId: string, type: string) =>
        (await events({ userId, type })).length,
  )

/**
 * Waits until the application has signed the user in. A second click that comes late, once the application has redeemed the
 * code, leads to the page that says that the sign-in is finished.
 */
const expectSignedIn = (party: RelyingParty, sub: string): Promise<void> =>
  vi.waitFor(() => expect(party.outcome()).toMatchObject({ claims: { sub } }), { timeout: 15_000 })

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

/** What a person does once the last digit is entered, which submits the form by itself. */
const SECOND_SUBMISSIONS: [string, (page: Page) => Promise<unknown>][] = [
  ['Enter at once', (page) => page.keyboard.press('Enter')],
  ['Enter after 60 ms', (page) => page.keyboard.press('Enter', { delay: 60 })],
  [
    'a click after 250 ms',
    async (page) => {
      await page.waitForTimeout(250)
      await button(page, 'Sign in')
        .click({ timeout: 500, noWaitAfter: true })
        .catch(() => {})
    },
  ],
]

describe.skipIf(noBrowser)('a form that a person sends twice over a slow network', () => {
  test.for(SECOND_SUBMISSIONS)(
    'signs in by a code: the sixth digit, then %s',
    async ([, submit], { party, newPerson, openSlow, enterAddress, countEvents }) => {
      const person = await newPerson()
      const page = await openSlow()
      await enterAddress(page, person.email)
      const code = await codeFor(person.email)
      await page.waitForLoadState()
      await page.getByLabel('6-digit code').pressSequentially(code, { delay: 10 })
      await submit(page)
      await button(page, 'Allow').dblclick()
      await expectSignedIn(party, person.id)
      expect(await countEvents(person.id, 'session.started')).toBeGreaterThan(0)
      expect(await countEvents(person.id, 'signin.failed')).toBe(0)
      expect(await countEvents(person.id, 'consent.granted')).toBe(1)
    },
  )

  test('signs in by a code without script, with two clicks', async ({
    party,
    newPerson,
    openSlow,
    enterAddress,
    countEvents,
  }) => {
    const person = await newPerson()
    const page = await openSlow(PLAIN)
    await enterAddress(page, person.email)
    await page.getByLabel('6-digit code').fill(await codeFor(person.email))
    await button(page, 'Sign in').dblclick()
    await button(page, 'Allow').dblclick()
    await expectSignedIn(party, person.id)
    expect(await countEvents(person.id, 'signin.failed')).toBe(0)
  })

  test.for([
    ['with script', {}],
    ['without script', PLAIN],
  ] as const)(
    'signs in by a code of an app, %s',
    async ([, options], { ctx, party, newPerson, openSlow, enterAddress }) => {
      const person = await newPerson()
      const totp = await enrollTotp(ctx, person.id)
      const page = await openSlow(options)
      await enterAddress(page, person.email)
      await page.waitForLoadState()
      await page.getByLabel('6-digit code').fill(await codeFor(person.email))
      await page.keyboard.press('Enter')
      await page.waitForURL('**/second-factor')
      await page.waitForLoadState()
      await page.getByLabel('6-digit code').fill(computeTotp(totp.secret))
      await page.keyboard.press('Enter')
      await page.keyboard.press('Enter')
      await button(page, 'Allow').click()
      await expectSignedIn(party, person.id)
    },
  )

  test('leads on after going back and sending the code again, and after a reload', async ({
    newPerson,
    openSlow,
    enterAddress,
    countEvents,
  }) => {
    const person = await newPerson()
    const page = await openSlow()
    await enterAddress(page, person.email)
    const code = await codeFor(person.email)
    await fillCode(page, code)
    await button(page, 'Allow').waitFor()
    await page.reload()
    await button(page, 'Allow').waitFor()
    await page.goBack()
    const field = page.getByLabel('6-digit code')
    if (await field.isVisible()) {
      await field.fill('')
      await field.fill(code)
    }
    await button(page, 'Allow').waitFor()
    expect(await countEvents(person.id, 'signin.failed')).toBe(0)
  })

  test('sets up an app on the account page once', async ({ acme, newPerson, openSlow, countEvents }) => {
    const person = await newPerson()
    const page = await openSlow()
    await page.goto(`${ORIGIN}/${acme}/account/authenticator-app`)
    await page.getByLabel('Email address').fill(person.email)
    await button(page, 'Continue').click()
    await fillCode(page, await codeFor(person.email))
    const key = page.locator('code.key')
    await key.waitFor()
    await page.waitForLoadState()
    const secret = ((await key.textContent()) ?? '').replaceAll(' ', '')
    await page.getByLabel('6-digit code').pressSequentially(computeTotp(secret), { delay: 10 })
    await page.keyboard.press('Enter')
    await page.waitForURL('**/account/recovery-codes**')
    expect(await readHeading(page)).toMatch(/recovery codes/i)
    const where = { tenantId: acme, userId: person.id, type: 'totp' }
    expect(await dbFor(createPlatformCtx(acme)).credential.count({ where })).toBe(1)
    expect(await countEvents(person.id, 'signin.failed')).toBe(0)
  })

  test('is sent by its script although the code was entered before the script had loaded', async ({
    party,
    newPerson,
    open,
    countEvents,
  }) => {
    const person = await newPerson()
    const page = await (await open()).newPage()
    await withoutOffer(page)
    const held = new Promise<Route>((resolve) => page.route(`**${CODE_SCRIPT_PATH}`, resolve))
    await page.goto(party.url)
    await page.getByLabel('Email address').fill(person.email)
    await button(page, 'Continue').click({ noWaitAfter: true })
    const script = await held
    await page.getByLabel('6-digit code').fill(await codeFor(person.email))
    await script.continue()
    await button(page, 'Allow').click()
    await expectSignedIn(party, person.id)
    expect(await countEvents(person.id, 'signin.failed')).toBe(0)
  })

  test('is sent once by its script, and again when the browser comes back', async ({
    newPerson,
    openSlow,
    enterAddress,
  }) => {
    const person = await newPerson()
    const page = await openSlow()
    await enterAddress(page, person.email)
    const posts: string[] = []
    page.on('request', (request) => request.method() === 'POST' && posts.push(request.url()))
    await page.getByLabel('6-digit code').fill('12345')
    const state = await page.evaluate(() => {
      const send = [...document.querySelectorAll('button')].find(
        ({ textContent }) => textContent === 'Sign in',
      )
      send?.click()
      send?.click()
      send?.form?.requestSubmit()
      return send?.getAttribute('aria-busy')
    })
    expect(state).toBe('true')
    await page.getByRole('alert').first().waitFor()
    expect(posts).toHaveLength(1)
  })
})
