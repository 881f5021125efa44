import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { noBrowser, ORIGIN } from '../support/browser.ts'
import { startSessionIn } from '../support/browser-session.ts'
import { dbFor } from '../support/database.ts'
import { fillCode } from '../support/fill-code.ts'
import { photograph, readHeading } from '../support/journey.ts'
import { test as base } from '../support/journey-provider.ts'
import { codeFor, makeClient } from '../support/protocol.ts'
import { computeTotp } from '../support/totp.ts'

const test = base
  .extend('permitting', { scope: 'file', auto: true }, ({ acme }) =>
    updateSettings(createPlatformCtx(acme), { accountDeletionDays: 7 }),
  )
  /** The account pages of a person, without script. */
  .extend('enter', { scope: 'file' }, ({ acme }) => async (page: Page, email: string) => {
    const visit = (path: string) => page.goto(`${ORIGIN}/${acme}/account${path}`)
    await visit('')
    await page.getByLabel('Email address').fill(email)
    await page.getByRole('button', { name: 'Continue', exact: true }).click()
    await fillCode(page, await codeFor(email))
    await page.getByLabel('6-digit code').press('Enter')
    expect(await readHeading(page)).toBe('Your account')
    return visit
  })

/** Fills a field in, and submits its form as the Enter key does. */
async function submitField(page: Page, label: string | RegExp, value: string): Promise<void> {
  await page.getByLabel(label).fill(value)
  await page.getByLabel(label).press('Enter')
}

const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).first().click()
const expectStatus = async (page: Page, text: string) =>
  expect((await page.getByRole('status').first().textContent())?.trim()).toBe(text)

const VIEWS = [
  ['phone-light', { viewport: { width: 375, height: 812 }, colorScheme: 'light' }],
  ['desktop-dark', { viewport: { width: 1280, height: 800 }, colorScheme: 'dark' }],
] as const

describe.skipIf(noBrowser)('a person on the account pages, without script', () => {
  test.for(VIEWS)(
    'changes the profile, the addresses and the language (%s)',
    async ([name, options], { open, newPerson, enter }) => {
      const person = await newPerson({ email: `profile-${name}@acme.example`, name: 'Ada Lovelace' })
      const page = await (await open({ ...options, javaScriptEnabled: false, locale: 'en-US' })).newPage()
      const visit = await enter(page, person.email)
      await page.getByRole('link', { name: /^Your profile/ }).click()
      await submitField(page, 'Nickname', 'Countess')
      await expectStatus(page, 'Your profile is saved.')
      await photograph(page, `account-profile-${name}`)

      await visit('/addresses')
      const phone = name === 'phone-light' ? '+41791230101' : '+41791230102'
      await submitField(page, 'New phone number, with country code', phone)
      await photograph(page, `account-address-code-${name}`)
      await submitField(page, /^Code$/, await codeFor(phone))
      await expectStatus(page, 'Your new address is confirmed.')
      const email = `new-${person.email}`
      await submitField(page, 'New email address', email)
      await submitField(page, /^Code$/, await codeFor(email))
      await expectStatus(page, 'Your new address is confirmed.')
      await press(page, 'Remove')
      await expectStatus(page, 'Your phone number is removed.')

      await visit('/profile')
      await page.getByLabel('Language', { exact: true }).first().selectOption('Deutsch')
      await press(page, 'Save')
      expect(await readHeading(page)).toBe('Ihr Profil')
      await photograph(page, `account-german-${name}`)
    },
  )

  test.for(VIEWS)(
    'sets up and removes ways to sign in (%s)',
    async ([name, options], { open, newPerson, enter, upstream }) => {
      const person = await newPerson({ email: `methods-${name}@acme.example`, name: 'Ada Lovelace' })
      const page = await (await open({ ...options, javaScriptEnabled: false, locale: 'en-US' })).newPage()
      // The provider takes the user of the login_hint without asking.
      await page.route(`${upstream.issuer}/auth?*`, (route) =>
        route.continue({ url: `${route.request().url()}&login_hint=ada-${name}` }),
      )
      const visit = await enter(page, person.email)
      await page.getByRole('link', { name: /^How you sign in/ }).click()
      await page.getByRole('link', { name: 'Set up an authenticator app' }).click()
      const secret = (await page.locator('code.key').textContent())?.replaceAll(' ', '') ?? ''
      await submitField(page, '6-digit code that your app shows', computeTotp(secret))
      await expectStatus(page, 'Your authenticator app is set up. Now create recovery codes.')
      await press(page, 'Create recovery codes')
      expect(await readHeading(page)).toBe('Save your recovery codes')
      await photograph(page, `account-codes-${name}`)

      await visit('/sign-in-methods')
      await press(page, 'Connect Partner')
      await expectStatus(page, 'The account is connected. You can sign in with it.')
      await photograph(page, `account-methods-${name}`)
      await press(page, 'Unlink Partner')
      await expectStatus(page, 'It is unlinked. You can no longer sign in with it.')
      for (let removed = 0; removed < 2; removed++) {
        await press(page, /^Remove /)
        await expectStatus(page, 'Sign-in method removed.')
      }
      await page.getByText('Set up an authenticator app').waitFor()
    },
  )

  test.for(VIEWS)(
    'signs out elsewhere, removes an app, downloads the data and deletes the account (%s)',
    async ([name, options], { acme, open, newPerson, newBrowser, enter }) => {
      const person = await newPerson({ email: `data-${name}@acme.example`, name: 'Ada Lovelace' })
      const client = await makeClient(acme, { name: 'Acme Mail', requireConsent: true })
      await dbFor(acme).consent.create({
        data: { tenantId: acme, userId: person.id, clientId: client.id, scopes: ['openid', 'email'] },
      })
      for (let other = 0; other < 3; other++) await startSessionIn(newBrowser(), acme, person.id)
      const page = await (await open({ ...options, javaScriptEnabled: false, locale: 'en-US' })).newPage()
      const visit = await enter(page, person.email)
      await page.getByRole('link', { name: /^Where you are signed in/ }).click()
      await photograph(page, `account-sessions-${name}`)
      await press(page, /^Sign out there: /)
      await expectStatus(page, 'You are signed out there, and of the apps that were opened with it.')
      await press(page, 'Sign out everywhere else')
      await expectStatus(page, 'You are signed out everywhere else.')
      expect(await page.getByRole('button', { name: /^Sign out there: / }).count()).toBe(0)

      await visit('/apps')
      await photograph(page, `account-apps-${name}`)
      await press(page, 'Remove access: Acme Mail')
      await expectStatus(page, 'The app no longer has access to your account.')

      await visit('/data')
      const [download] = await Promise.all([page.waitForEvent('download'), press(page, 'Download (JSON)')])
      const data = JSON.parse(await readFile(await download.path(), 'utf8'))
      expect(data.user.email).toBe(person.email)

      await visit('')
      await page.getByRole('link', { name: /^Delete your account/ }).click()
      await photograph(page, `account-deletion-${name}`)
      await press(page, 'Delete my account')
      await expectStatus(page, 'Your account will be deleted. You can still keep it.')
      await photograph(page, `account-deletion-pending-${name}`)
      await press(page, 'Keep my account')
      await expectStatus(page, 'You keep your account.')

      await visit('')
      await photograph(page, `account-overview-${name}`)
      await page.getByRole('link', { name: 'Sign out' }).click()
      await press(page, 'Sign out')
      expect(await readHeading(page)).toBe('You are signed out')
    },
  )
})
