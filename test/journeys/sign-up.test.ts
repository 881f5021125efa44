import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import { listInboxMessages } from '../../src/delivery/inbox.ts'
import { createInvitation } from '../../src/invitations/invitations.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { noBrowser, ORIGIN } from '../support/browser.ts'
import { dbFor } from '../support/database.ts'
import { fillCode } from '../support/fill-code.ts'
import { test as base, photograph, readHeading } from '../support/journey.ts'
import { codeFor, makeClient } from '../support/protocol.ts'
import { startRelyingParty } from '../support/relying-party.ts'
import { openWithDevice } from '../support/virtual-authenticator.ts'

const FIELDS = [
  { field: 'name', required: true },
  { field: 'userMetadata.company', label: 'Company', required: true },
  { field: 'userMetadata.plan', label: 'Plan', schema: { type: 'string', enum: ['Free', 'Pro'] } },
  { field: 'userMetadata.news', label: 'Send me the newsletter', schema: { type: 'boolean' } },
]

const test = base.extend('party', { scope: 'file' }, async ({ app, acme }, { onCleanup }) => {
  const ctx = createPlatformCtx(acme)
  const terms = {
    termsUrl: 'https://acme.example/terms',
    termsVersion: '1',
    privacyUrl: 'https://acme.example/privacy',
  }
  await updateSettings(ctx, { signUp: 'open', signUpFields: FIELDS, ...terms })
  const party = await startRelyingParty('openid profile email', app)
  onCleanup(() => party.close())
  const callbacks = { callbacks: [party.callback], initiateLoginUrl: 'https://mail.acme.example/start' }
  const client = await makeClient(acme, { name: 'Acme Mail', ...callbacks })
  await party.connect(`${ORIGIN}/${acme}`, client.id, client.secret)
  return { ...party, clientId: client.id }
})

const findUser = (tenant: string, email: string) =>
  dbFor(tenant).user.findFirst({ where: { tenantId: tenant, emailKey: email } })

/** The page has at most 15 KB and does not scroll sideways at 320 px. */
async function expectSmall(page: Page): Promise<void> {
  expect((await page.content()).length).toBeLessThan(15_000)
  const size = page.viewportSize() ?? { width: 1280, height: 800 }
  await page.setViewportSize({ width: 320, height: 640 })
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320)
  await page.setViewportSize(size)
}

const VIEWS = [
  ['phone-light', { viewport: { width: 375, height: 812 }, colorScheme: 'light' }],
  ['desktop-dark', { viewport: { width: 1280, height: 800 }, colorScheme: 'dark' }],
] as const

describe.skipIf(noBrowser)('a person without an account', () => {
  test.for(VIEWS)(
    'signs up without JavaScript and corrects a field (%s)',
    async ([view, options], { acme, party, open }) => {
      const email = `${view}@sign-up.example`
      const page = await (await open({ ...options, javaScriptEnabled: false })).newPage()
      await page.goto(party.url)
      await photograph(page, `sign-up-first-${view}`)
      await page.getByLabel('Email address').fill(email)
      await page.getByRole('button', { name: 'Continue' }).click()
      expect(await page.locator('.lead').textContent()).toBe(`We sent a code to ${email}.`)
      await photograph(page, `sign-up-code-${view}`)
      await fillCode(page, await codeFor(email))
      await page.getByRole('button', { name: 'Continue' }).click()
      expect(await readHeading(page)).toBe('Create your account')
      await photograph(page, `sign-up-fields-${view}`)
      await page.getByLabel('Full name').fill('Ada Lovelace')
      await page.getByLabel('Plan').selectOption('Pro')
      await page.getByLabel('I agree to the terms of use.').check()
      await page.getByRole('button', { name: 'Create account' }).click()
      expect(await page.locator('.error').textContent()).toBe('Company is required.')
      expect(await page.getByLabel('Full name').inputValue()).toBe('Ada Lovelace')
      expect(await page.getByLabel('Plan').inputValue()).toBe('Pro')
      await photograph(page, `sign-up-error-${view}`)
      await expectSmall(page)
      await page.getByLabel('Company').fill('Acme')
      await page.getByLabel('Send me the newsletter').check()
      await page.getByLabel('I agree to the terms of use.').check()
      await page.getByRole('button', { name: 'Create account' }).click()
      await page.waitForURL(`${party.callback}*`)
      expect(await findUser(acme, email)).toMatchObject({
        name: 'Ada Lovelace',
        userMetadata: { company: 'Acme', plan: 'Pro', news: true },
        termsVersion: '1',
      })
    },
  )
})

describe.skipIf(noBrowser)('an invited person', () => {
  test.for(VIEWS)(
    'accepts, creates a passkey and continues to the client (%s)',
    async ([view, options], { acme, party, open }) => {
      const email = `${view}@invited.example`
      const ctx = createPlatformCtx(acme)
      await createInvitation(ctx, {
        email,
        name: 'Grace Hopper',
        roles: ['support'],
        clientId: party.clientId,
      })
      const link = /http:\S+token=\S+/.exec(listInboxMessages(email)[0]?.body ?? '')?.[0] ?? 'none'
      const { page, device, authenticatorId, errors } = await openWithDevice(await open(options))
      await page.goto(link)
      expect(await readHeading(page)).toBe('You are invited')
      await photograph(page, `invitation-${view}`)
      await expectSmall(page)
      expect(await page.getByLabel('Full name').inputValue()).toBe('Grace Hopper')
      await page.getByLabel('Company').fill('Navy')
      await page.getByLabel('I agree to the terms of use.').check()
      await page.getByRole('button', { name: 'Create account' }).click()
      await page.waitForURL('**/enroll?*')
      await photograph(page, `invitation-passkey-${view}`)
      expect(await page.getByRole('link', { name: 'Not now' }).isVisible()).toBe(true)
      await page.getByRole('button', { name: 'Create a passkey' }).click()
      await page.waitForURL('**/enroll/done?*')
      await photograph(page, `invitation-done-${view}`)
      expect(await page.getByRole('link', { name: 'Continue to Acme Mail' }).isVisible()).toBe(true)
      const { credentials } = await device.send('WebAuthn.getCredentials', { authenticatorId })
      expect(credentials).toHaveLength(1)
      expect(await findUser(acme, email)).toMatchObject({ roles: ['support'], emailVerified: true })
      await page.goto(link)
      expect(await readHeading(page)).toBe('This invitation no longer works')
      await photograph(page, `invitation-gone-${view}`)
      // The browser reports the status 410 of the used link.
      expect(errors.filter((error) => !error.includes('410'))).toEqual([])
      await page.goto(party.url)
      await page.waitForURL(`${party.callback}*`)
    },
  )
})
