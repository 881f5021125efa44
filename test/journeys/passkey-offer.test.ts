import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import { createUser } from '../../src/users/users.ts'
import { noBrowser, ORIGIN } from '../support/browser.ts'
import { enterCode } from '../support/browser-sign-in.ts'
import { dbFor } from '../support/database.ts'
import { test as base, photograph, readHeading } from '../support/journey.ts'
import { makeClient } from '../support/protocol.ts'
import { startRelyingParty } from '../support/relying-party.ts'
import { openWithDevice } from '../support/virtual-authenticator.ts'

const OFFER = 'Sign in faster next time'

const test = base
  .extend('party', { scope: 'file' }, async ({ app, acme }, { onCleanup }) => {
    const party = await startRelyingParty('openid profile email', app)
    onCleanup(() => party.close())
    const client = await makeClient(acme, { name: 'Acme Mail', callbacks: [party.callback] })
    await party.connect(`${ORIGIN}/${acme}`, client.id, client.secret)
    return party
  })
  .extend('newAddress', { scope: 'file' }, ({ acme }) => async (name: string): Promise<string> => {
    const email = `${name.toLowerCase()}@offer.example`
    await createUser(createPlatformCtx(acme), { email, name, emailVerified: true })
    return email
  })
  .extend(
    'countPasskeys',
    ({ acme }) =>
      (email: string) =>
        dbFor(acme).credential.count({ where: { tenantId: acme, user: { email } } }),
  )

describe.skipIf(noBrowser)('a user of a device with a screen lock', () => {
  test('creates a passkey after a code, and signs in with it next time', async ({
    party,
    open,
    newAddress,
    countPasskeys,
  }) => {
    const email = await newAddress('Ada')
    const context = await open()
    const { page, errors } = await openWithDevice(context)
    await page.goto(party.url)
    await enterCode(page, email)
    await page.getByRole('button', { name: 'Create a passkey' }).waitFor()
    expect(await readHeading(page)).toBe(OFFER)
    for (const [name, width] of [
      ['desktop', 1280],
      ['mobile', 375],
    ] as const) {
      await page.setViewportSize({ width, height: 800 })
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
        await photograph(page, `${name}-${colorScheme}-passkey-offer`)
      }
    }
    await page.setViewportSize({ width: 320, height: 800 })
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320)
    await page.getByRole('button', { name: 'Create a passkey' }).click()
    await page.waitForURL(`${party.callback}*`)
    expect(await countPasskeys(email)).toBe(1)
    await context.clearCookies()
    // The virtual authenticator accepts the offer in the address field at once.
    await page.goto(party.url)
    await page.waitForURL(`${party.callback}*`)
    expect(errors).toEqual([])
  })

  test('continues with "Not now", and is not asked again', async ({ party, open, newAddress }) => {
    const email = await newAddress('Emmy')
    const context = await open()
    const { page, errors } = await openWithDevice(context)
    await page.goto(party.url)
    await enterCode(page, email)
    await page.getByRole('button', { name: 'Not now' }).click()
    await page.waitForURL(`${party.callback}*`)
    await context.clearCookies()
    await page.goto(party.url)
    await enterCode(page, email)
    await page.waitForURL(`${party.callback}*`)
    expect(errors).toEqual([])
  })

  test('sees why no passkey was created, and goes on', async ({ party, open, newAddress, countPasskeys }) => {
    const email = await newAddress('Lise')
    const { page, device, authenticatorId } = await openWithDevice(await open())
    await page.goto(party.url)
    await enterCode(page, email)
    await page.getByRole('button', { name: 'Create a passkey' }).waitFor()
    await device.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false })
    await page.getByRole('button', { name: 'Create a passkey' }).click()
    await page.locator('#passkey-creation-error .error').waitFor()
    expect(await page.locator('#passkey-creation-error').textContent()).toMatch(/^Nothing was created/)
    await photograph(page, 'desktop-passkey-creation-error')
    await page.getByRole('button', { name: 'Not now' }).click()
    await page.waitForURL(`${party.callback}*`)
    expect(await countPasskeys(email)).toBe(0)
  })
})

describe.skipIf(noBrowser)('a user of a device without a screen lock', () => {
  test('is not offered a passkey', async ({ party, open, newAddress }) => {
    const email = await newAddress('Hedy')
    const page = await (await open()).newPage()
    await page.goto(party.url)
    await enterCode(page, email)
    // The offer would be a page before that of the relying party.
    await page.waitForURL(`${party.callback}*`)
    expect(page.url()).toContain(party.callback)
  })
})
