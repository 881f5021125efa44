import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import { revokeCredential } from '../../src/credentials/credentials.ts'
import { noBrowser } from '../support/browser.ts'
import { dbFor } from '../support/database.ts'
import { photograph, readHeading } from '../support/journey.ts'
import { test, withoutOffer } from '../support/passkey-journey.ts'

describe.skipIf(noBrowser)('a user with a passkey', () => {
  test('signs in by the button, without a user name', async ({ party, openWithPasskey }) => {
    const { page, errors } = await openWithPasskey('Ada')
    await withoutOffer(page)
    await page.goto(party.url)
    await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor()
    await photograph(page, 'desktop-sign-in-passkey')
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await page.waitForURL(`${party.callback}*`)
    expect(errors).toEqual([])
  })

  test('signs in by the offer in the address field', async ({ party, openWithPasskey }) => {
    const { page, errors } = await openWithPasskey('Emmy')
    await page.goto(party.url)
    await page.waitForURL(`${party.callback}*`)
    expect(errors).toEqual([])
  })

  test('sees an explanation when user verification fails, and can use a code', async ({
    party,
    openWithPasskey,
  }) => {
    const { page, device, authenticatorId } = await openWithPasskey('Lise')
    await device.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false })
    await page.goto(party.url)
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await page.locator('#passkey-error .error').waitFor()
    expect(await page.locator('#passkey-error').textContent()).toMatch(/^No passkey was used/)
    await photograph(page, 'desktop-sign-in-passkey-error')
    await page.getByLabel('Email address').fill('lise@passkey.example')
    await page.getByRole('button', { name: 'Continue' }).click()
    expect(await readHeading(page)).toBe('Enter your code')
  })

  test('sees that a revoked passkey does not work, and the device removes it', async ({
    acme,
    party,
    openWithPasskey,
  }) => {
    const { page, device, authenticatorId, userId } = await openWithPasskey('Hedy')
    const [credential] = await dbFor(acme).credential.findMany({ where: { tenantId: acme, userId } })
    await revokeCredential(createPlatformCtx(acme), String(credential?.id))
    await page.goto(party.url)
    await page.getByText('This passkey did not work.').waitFor()
    await expect
      .poll(async () => (await device.send('WebAuthn.getCredentials', { authenticatorId })).credentials)
      .toEqual([])
  })
})

describe.skipIf(noBrowser)('a browser without script', () => {
  test('shows that passkeys need it, and offers a code', async ({ party, open }) => {
    const page = await (await open({ javaScriptEnabled: false })).newPage()
    await page.goto(party.url)
    expect(await page.locator('noscript').textContent()).toBe('Signing in with a passkey needs JavaScript.')
    expect(await page.getByRole('button', { name: 'Sign in with a passkey' }).isVisible()).toBe(false)
    await photograph(page, 'desktop-sign-in-no-script')
  })
})
