import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import { revokeCredential } from '../../src/credentials/credentials.ts'
import { PASSKEY_CREATION_SCRIPT } from '../../src/pages/assets/passkey-creation-script.ts'
import { PASSKEY_SCRIPT } from '../../src/pages/assets/passkey-script.ts'
import { PASSKEY_SIGNAL_SCRIPT } from '../../src/pages/assets/passkey-signal-script.ts'
import { noBrowser, ORIGIN } from '../support/browser.ts'
import { enterCode } from '../support/browser-sign-in.ts'
import { dbFor } from '../support/database.ts'
import { readHeading } from '../support/journey.ts'
import { test as base, withoutOffer } from '../support/passkey-journey.ts'
import { makeClient } from '../support/protocol.ts'
import { startRelyingParty } from '../support/relying-party.ts'

const test = base
  .extend('askingParty', { scope: 'file' }, async ({ app, acme }, { onCleanup }) => {
    const party = await startRelyingParty('openid profile email', app)
    onCleanup(() => party.close())
    const client = await makeClient(acme, {
      name: 'Acme Mail',
      callbacks: [party.callback],
      requireConsent: true,
    })
    await party.connect(`${ORIGIN}/${acme}`, client.id, client.secret)
    return party
  })
  .extend('revokeAll', ({ acme }) => async (userId: string) => {
    const rows = await dbFor(acme).credential.findMany({ where: { tenantId: acme, userId } })
    for (const { id } of rows) await revokeCredential(createPlatformCtx(acme), id)
  })

/** Signs in by a code, on a device whose passkeys are not used. */
async function signInByCode(page: Page, url: string, email: string): Promise<void> {
  await withoutOffer(page)
  await page.goto(url)
  await enterCode(page, email)
}

describe.skipIf(noBrowser)('a device with a passkey that was revoked', () => {
  test('stops offering it when its user signs in by a code', async ({
    askingParty,
    openWithPasskey,
    revokeAll,
  }) => {
    const { page, device, authenticatorId, userId, email, errors } = await openWithPasskey('Ada')
    await revokeAll(userId)
    await signInByCode(page, askingParty.url, email)
    await page.locator('h1', { hasText: 'Allow' }).waitFor()
    await expect
      .poll(async () => (await device.send('WebAuthn.getCredentials', { authenticatorId })).credentials)
      .toEqual([])
    expect(errors).toEqual([])
  })

  test('stops offering it when its user is offered a new one', async ({
    party,
    openWithPasskey,
    revokeAll,
  }) => {
    const { page, device, authenticatorId, userId, email, errors } = await openWithPasskey('Emmy')
    await revokeAll(userId)
    await signInByCode(page, party.url, email)
    await page.getByRole('button', { name: 'Create a passkey' }).waitFor()
    expect(await readHeading(page)).toBe('Sign in faster next time')
    await expect
      .poll(async () => (await device.send('WebAuthn.getCredentials', { authenticatorId })).credentials)
      .toEqual([])
    await page.getByRole('button', { name: 'Create a passkey' }).click()
    await page.waitForURL(`${party.callback}*`)
    expect((await device.send('WebAuthn.getCredentials', { authenticatorId })).credentials).toHaveLength(1)
    expect(errors).toEqual([])
  })

  test('replaces it by the one that its user creates by a link', async ({
    party,
    openWithPasskey,
    createPasskey,
    revokeAll,
  }) => {
    const { page, device, authenticatorId, userId, errors } = await openWithPasskey('Lise')
    await revokeAll(userId)
    await createPasskey(page, userId)
    await expect
      .poll(
        async () => (await device.send('WebAuthn.getCredentials', { authenticatorId })).credentials.length,
      )
      .toBe(1)
    await page.goto(party.url)
    await page.waitForURL(`${party.callback}*`)
    expect(errors).toEqual([])
  })
})

describe.skipIf(noBrowser)('a device with an accepted passkey', () => {
  test('keeps it when its user signs in', async ({ askingParty, openWithPasskey }) => {
    const { page, device, authenticatorId, email, errors } = await openWithPasskey('Hedy')
    await page.addInitScript(() => {
      const { signalAllAcceptedCredentials: signal } = PublicKeyCredential as unknown as {
        signalAllAcceptedCredentials: (options: object) => Promise<void>
      }
      Object.assign(PublicKeyCredential, {
        signalAllAcceptedCredentials: (options: object) =>
          signal
            .call(PublicKeyCredential, options)
            .then(() => document.documentElement.setAttribute('data-signaled', '')),
      })
    })
    await signInByCode(page, askingParty.url, email)
    await page.locator('html[data-signaled]').waitFor({ state: 'attached' })
    expect((await device.send('WebAuthn.getCredentials', { authenticatorId })).credentials).toHaveLength(1)
    expect(errors).toEqual([])
  })
})

describe('the scripts of passkeys', () => {
  test('have less than 6 KB in total', () => {
    const scripts = [PASSKEY_SCRIPT, PASSKEY_CREATION_SCRIPT, PASSKEY_SIGNAL_SCRIPT]
    expect(Buffer.byteLength(scripts.join(''))).toBeLessThan(6 * 1024)
  })
})
