import * as openid from 'openid-client'
import type { Browser, Page } from 'playwright-core'
import { describe, expect, onTestFinished } from 'vitest'
import { DESKTOP, launchBrowser, noBrowser, PHONE } from '../../support/browser.ts'
import { pollWith } from '../../support/device-flow.ts'
import { photograph, readHeading } from '../../support/journey.ts'
import { test as base } from '../../support/openid-client.ts'

const BASE_URL = 'http://localhost:3000'
const SCOPE = 'openid profile email offline_access'

const test = base
  .extend('chromium', { scope: 'file' }, async ({ app: _app }, { onCleanup }): Promise<Browser> => {
    const chromium = await launchBrowser()
    onCleanup(() => chromium.close())
    return chromium
  })
  .extend('tv', { scope: 'file' }, ({ newClient }) =>
    newClient({ name: 'Living room TV', appType: 'native', callbacks: [], themeColor: '#0f766e' }),
  )
  .extend('config', { scope: 'file' }, ({ discover, tv }) => discover(tv))

describe.skipIf(noBrowser)('a device in a browser without JavaScript, by keyboard only', () => {
  const focused = (page: Page): Promise<string> =>
    page.evaluate(() => document.activeElement?.id || (document.activeElement?.textContent ?? ''))

  /** Submits the focused form. */
  async function press(page: Page): Promise<void> {
    const loaded = page.waitForEvent('load')
    await page.keyboard.press('Enter')
    await loaded
  }

  /** Types text into the input that has the focus, and submits it. */
  async function answer(page: Page, text: string): Promise<void> {
    // A page that has loaded gets its focus only when it is drawn: text that is typed before is lost.
    await page.locator('input:focus').waitFor()
    await page.keyboard.type(text)
    await press(page)
  }

  /** Moves the focus by Tab to an element with this text. */
  async function tabTo(page: Page, name: string): Promise<void> {
    for (let steps = 0; steps < 20; steps++) {
      if ((await focused(page)).trim() === name) return
      await page.keyboard.press('Tab')
    }
    throw new Error(`${name} cannot be reached`)
  }

  test.for([
    ['a phone, dark', PHONE, 'dark'],
    ['a desk, light', DESKTOP, 'light'],
  ] as const)(
    'is approved after a wrong code and a sign-in on %s',
    async ([where, viewport, colorScheme], { app, tenant, newPerson, chromium, tv, config, inbox }) => {
      const name = where.replace(/\W+/g, '-')
      const { email } = await newPerson({ name: 'Ada Lovelace' })
      const context = await chromium.newContext({ viewport, colorScheme, javaScriptEnabled: false })
      onTestFinished(() => context.close())
      const page = await context.newPage()
      const begun = await openid.initiateDeviceAuthorization(config, { scope: SCOPE })
      const narrow = async () =>
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(viewport.width)

      await page.goto(begun.verification_uri.replace(BASE_URL, app.origin))
      expect(await readHeading(page)).toBe('Connect a device')
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
      expect(await readHeading(page)).toBe('Sign in')
      await answer(page, email)
      await answer(page, await inbox.codeFor(email))
      expect([await readHeading(page), ...(await page.getByRole('alert').allTextContents())]).toEqual([
        'Connect Living room TV?',
      ])
      expect(await page.locator('.user-code').textContent()).toBe(begun.user_code)
      await narrow()
      await photograph(page, `device-${name}-3-question`)

      await tabTo(page, 'Allow')
      await press(page)
      expect(await readHeading(page)).toBe('Your device is connected')
      await narrow()
      await photograph(page, `device-${name}-4-approved`)
      const { body } = await pollWith(app, tenant, tv, begun.device_code)
      expect(body).toHaveProperty('access_token')
    },
  )

  test('is denied after verification_uri_complete has filled in the code', async ({
    app,
    tenant,
    newPerson,
    chromium,
    tv,
    config,
    inbox,
  }) => {
    const { email } = await newPerson({ name: 'Grace Hopper' })
    const context = await chromium.newContext({ viewport: PHONE, javaScriptEnabled: false })
    onTestFinished(() => context.close())
    const page = await context.newPage()
    const begun = await openid.initiateDeviceAuthorization(config, { scope: 'openid' })
    await page.goto((begun.verification_uri_complete as string).replace(BASE_URL, app.origin))
    expect(await page.locator('#user_code').inputValue()).toBe(begun.user_code)
    await answer(page, '')
    await answer(page, email)
    await answer(page, await inbox.codeFor(email))
    await tabTo(page, 'Deny')
    await press(page)
    expect(await readHeading(page)).toBe('Your device is not connected')
    await photograph(page, 'device-denied')
    expect((await pollWith(app, tenant, tv, begun.device_code)).body.error).toBe('access_denied')
  })
})
