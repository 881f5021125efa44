import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { runAxe } from '../support/axe.ts'
import { noBrowser, ORIGIN } from '../support/browser.ts'
import { fillCode } from '../support/fill-code.ts'
import { test as base, photograph, readHeading } from '../support/journey.ts'
import { codeFor, makeClient } from '../support/protocol.ts'
import { startRelyingParty } from '../support/relying-party.ts'

const test = base.extend('party', { scope: 'file' }, async ({ app, acme }, { onCleanup }) => {
  const party = await startRelyingParty('openid profile email', app)
  onCleanup(() => party.close())
  const client = await makeClient(acme, { name: 'Acme Mail', callbacks: [party.callback] })
  await party.connect(`${ORIGIN}/${acme}`, client.id, client.secret)
  return party
})

/** Enters an address and the code that was sent to it. A script submits a complete code. */
async function enterCode(page: Page, email: string, isScripted: boolean): Promise<void> {
  await page.getByLabel('Email address').fill(email)
  await page.getByRole('button', { name: 'Continue', exact: true }).click()
  await fillCode(page, await codeFor(email))
  if (!isScripted) await page.getByLabel('6-digit code').press('Enter')
}

/** The page has at most 15 KB, no finding of axe, and does not scroll sideways at 320 px. */
async function expectFinished(page: Page, name: string, isScripted: boolean): Promise<void> {
  await photograph(page, name)
  expect((await page.content()).length).toBeLessThan(15_000)
  if (isScripted) expect((await runAxe(page)).violations).toEqual([])
  const size = page.viewportSize() ?? { width: 1280, height: 800 }
  await page.setViewportSize({ width: 320, height: 640 })
  if (isScripted)
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320)
  await page.setViewportSize(size)
}

const VIEWS = [
  ['phone-light', { viewport: { width: 375, height: 812 }, colorScheme: 'light', javaScriptEnabled: false }],
  ['phone-dark', { viewport: { width: 375, height: 812 }, colorScheme: 'dark' }],
  ['desktop-light', { viewport: { width: 1280, height: 800 }, colorScheme: 'light' }],
] as const

describe.skipIf(noBrowser)('a person with two accounts', () => {
  test.for(VIEWS)(
    'signs in with both, chooses, removes one and signs out (%s)',
    async ([view, options], { acme, party, open, newPerson }) => {
      const isScripted = !('javaScriptEnabled' in options)
      const ada = await newPerson({ email: `ada-${view}@acme.example`, name: 'Ada Lovelace' })
      const eve = await newPerson({ email: `eve-${view}@a-company-with-a-long-name.example`, name: 'Eve' })
      const page = await (await open({ ...options, locale: 'en-US' })).newPage()
      await page.goto(`${ORIGIN}/${acme}/account`)
      await enterCode(page, ada.email, isScripted)
      await page.getByRole('link', { name: 'Switch account' }).click()
      await page.getByRole('button', { name: 'Use another account' }).click()
      await enterCode(page, eve.email, isScripted)
      await page.getByText(eve.email).waitFor()
      expect(await readHeading(page)).toBe('Your account')

      await page.goto(party.url)
      expect(await readHeading(page)).toBe('Choose an account')
      await expectFinished(page, `accounts-choose-${view}`, isScripted)
      await page.getByRole('button', { name: 'Use another account' }).click()
      await expectFinished(page, `accounts-another-${view}`, isScripted)
      await page.getByRole('button', { name: 'Choose an account' }).click()
      await page.getByRole('button', { name: /^Ada Lovelace/ }).click()
      expect(await page.locator('body').textContent()).toBe('Arrived')
      await page.goto(`${ORIGIN}/${acme}/account`)
      expect(await page.locator('body').textContent()).toContain(ada.email)

      await page.goto(`${ORIGIN}/${acme}/oidc/logout`)
      await expectFinished(page, `accounts-sign-out-${view}`, isScripted)
      await page.getByRole('button', { name: `Sign out ${eve.email}` }).click()
      expect(await readHeading(page)).toBe('You are signed out')
      await expectFinished(page, `accounts-signed-out-${view}`, isScripted)

      await page.goto(`${ORIGIN}/${acme}/account/switch`)
      await page.getByRole('button', { name: `Remove ${ada.email}` }).click()
      await page.getByLabel('Email address').waitFor()
    },
  )
})
