import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import { createUser } from '../../src/users/users.ts'
import { noBrowser, ORIGIN, PHONE } from '../support/browser.ts'
import { fillCode } from '../support/fill-code.ts'
import { test as base, photograph, readHeading } from '../support/journey.ts'
import { withoutOffer } from '../support/passkey-journey.ts'
import { makeClient } from '../support/protocol.ts'
import { startRelyingParty } from '../support/relying-party.ts'
import { computeTotp } from '../support/totp.ts'
import { openWithDevice } from '../support/virtual-authenticator.ts'

const test = base.extend('party', { scope: 'file' }, async ({ app, acme }, { onCleanup }) => {
  const party = await startRelyingParty('openid email', app)
  onCleanup(() => party.close())
  const client = await makeClient(acme, {
    name: 'Acme Payroll',
    callbacks: [party.callback],
    requireSecondFactor: true,
  })
  await party.connect(`${ORIGIN}/${acme}`, client.id, client.secret)
  return party
})

/** Enters the code that was sent to an address. */
async function provePerson(page: Page, email: string, code: () => Promise<string>): Promise<void> {
  await page.getByLabel('Email address').fill(email)
  await page.getByRole('button', { name: 'Continue', exact: true }).click()
  await fillCode(page, await code())
  // The script submits a complete code.
  await page.waitForURL('**/second-factor')
}

describe.skipIf(noBrowser)('a client that requires a second factor', () => {
  test('lets a person create a passkey instead of an app, and asks for it after a code', async ({
    open,
    acme,
    inbox,
    party,
  }) => {
    const email = 'passkey@acme.example'
    await createUser(createPlatformCtx(acme), { email, emailVerified: true })
    const context = await open({ viewport: PHONE })
    const { page, errors } = await openWithDevice(context)
    await withoutOffer(page)
    await page.goto(party.url)
    await provePerson(page, email, () => inbox.codeFor(email))
    await page.getByRole('link', { name: 'Create a passkey instead' }).click()
    await page.getByRole('button', { name: 'Create a passkey' }).waitFor()
    await photograph(page, 'phone-passkey-setup')
    await page.getByRole('button', { name: 'Create a passkey' }).click()
    await page.waitForURL(`${party.callback}?**`)
    await context.clearCookies()
    await page.goto(party.url)
    await provePerson(page, email, () => inbox.codeFor(email))
    expect(await readHeading(page)).toBe('Use your passkey')
    await photograph(page, 'phone-passkey-factor')
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await page.waitForURL(`${party.callback}?**`)
    expect(errors).toEqual([])
  })

  test.for([
    ['a phone', 'phone', { viewport: PHONE }],
    ['a computer in dark colors', 'desktop-dark', { colorScheme: 'dark' }],
  ] as const)(
    'lets a person set up an app, then asks for its code or a recovery code, on %s',
    async ([_, name, options], { open, acme, inbox, party }) => {
      const email = `${name}@acme.example`
      await createUser(createPlatformCtx(acme), { email, emailVerified: true })
      const page = await (await open(options)).newPage()
      await page.goto(party.url)
      await provePerson(page, email, () => inbox.codeFor(email))
      expect(await readHeading(page)).toBe('Set up an authenticator app')
      const qr = page.getByRole('img', { name: 'QR code for your authenticator app' })
      expect(await qr.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(20)
      await photograph(page, `${name}-totp-setup`)
      const secret = ((await page.locator('code.key').textContent()) ?? '').replaceAll(' ', '')
      await page.getByLabel('6-digit code that your app shows').fill(computeTotp(secret))
      await page.waitForURL('**/recovery-codes')
      await photograph(page, `${name}-recovery-codes`)
      const codes = await page.locator('.recovery-codes code').allTextContents()
      expect(codes).toHaveLength(10)
      await page.getByRole('button', { name: 'I have saved them' }).click()
      await page.waitForURL(`${party.callback}?**`)
      expect(party.outcome()).toEqual({ claims: expect.objectContaining({ email }) })

      const other = await (await open({ ...options, javaScriptEnabled: false })).newPage()
      await other.goto(party.url)
      await other.getByLabel('Email address').fill(email)
      await other.getByRole('button', { name: 'Continue', exact: true }).click()
      await fillCode(other, await inbox.codeFor(email))
      await other.getByRole('button', { name: 'Sign in', exact: true }).click()
      expect(await readHeading(other)).toBe('Enter the code from your app')
      await photograph(other, `${name}-totp`)
      await other.getByRole('link', { name: 'Use a recovery code' }).click()
      expect(await readHeading(other)).toBe('Enter a recovery code')
      await other.getByLabel('Recovery code').fill('wrong')
      await other.getByRole('button', { name: 'Continue' }).click()
      expect(await other.getByRole('alert').textContent()).toContain('That recovery code did not work.')
      await photograph(other, `${name}-recovery-wrong`)
      await other.getByLabel('Recovery code').fill(codes[0] ?? '')
      await other.getByRole('button', { name: 'Continue' }).click()
      await other.waitForURL(`${party.callback}?**`)
    },
  )
})
