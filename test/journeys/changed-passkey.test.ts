import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import { createUser } from '../../src/users/users.ts'
import { noBrowser } from '../support/browser.ts'
import { enterCode } from '../support/browser-sign-in.ts'
import { dbFor } from '../support/database.ts'
import { readHeading } from '../support/journey.ts'
import { test as base, withoutOffer } from '../support/passkey-journey.ts'
import { openWithDevice } from '../support/virtual-authenticator.ts'

const test = base
  /** Asks for a passkey by the button of the first page. */
  .extend('useButton', ({ party }) => async (page: Page) => {
    await page.context().clearCookies()
    await page.goto(party.url)
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  })
  .extend('listEvents', ({ acme }) => async (userId: string, type: string): Promise<unknown[]> => {
    const where = { tenantId: acme, type, userId }
    return (await dbFor(acme).event.findMany({ where, orderBy: { seq: 'asc' } })).map(({ detail }) => detail)
  })

describe.skipIf(noBrowser)('a passkey that the device has moved into a password manager', () => {
  test('is replaced after a code, and the new one signs in', async ({
    acme,
    party,
    openWithPasskey,
    useButton,
    listEvents,
  }) => {
    const { page, device, authenticatorId, userId, email, errors } = await openWithPasskey('Moved')
    const readIds = async () =>
      (await dbFor(acme).credential.findMany({ where: { tenantId: acme, userId } })).map(({ id }) => id)
    const before = await readIds()
    const { credentials } = await device.send('WebAuthn.getCredentials', { authenticatorId })
    for (const { credentialId } of credentials)
      await device.send('WebAuthn.setCredentialProperties', {
        authenticatorId,
        credentialId,
        backupEligibility: true,
        backupState: true,
      })
    await withoutOffer(page)
    await useButton(page)
    await page.getByText('This passkey has changed and is no longer accepted.').waitFor()
    expect(await listEvents(userId, 'signin.failed')).toEqual([{ method: 'passkey', reason: 'eligibility' }])
    await enterCode(page, email)
    await page.getByRole('button', { name: 'Create a passkey' }).waitFor()
    expect(await readHeading(page)).toBe('Replace your passkey')
    await page.getByRole('button', { name: 'Create a passkey' }).click()
    await page.waitForURL(`${party.callback}*`)
    const after = await readIds()
    expect([after.length, after.includes(before[0] ?? '')]).toEqual([1, false])
    await useButton(page)
    await page.waitForURL(`${party.callback}*`)
    expect(errors).toEqual([])
  })
})

describe.skipIf(noBrowser)('a synchronized passkey', () => {
  test('signs in on a device whose counter is lower, which is recorded', async ({
    acme,
    party,
    open,
    createPasskey,
    useButton,
    listEvents,
  }) => {
    const email = 'synchronized@passkey.example'
    const { id: userId } = await createUser(createPlatformCtx(acme), { email, emailVerified: true })
    const first = await openWithDevice(await open(), true, true)
    await createPasskey(first.page, userId)
    const { credentials } = await first.device.send('WebAuthn.getCredentials', {
      authenticatorId: first.authenticatorId,
    })
    await withoutOffer(first.page)
    for (let use = 0; use < 2; use++) {
      await useButton(first.page)
      await first.page.waitForURL(`${party.callback}*`)
    }
    const second = await openWithDevice(await open(), true, true)
    for (const credential of credentials)
      await second.device.send('WebAuthn.addCredential', {
        authenticatorId: second.authenticatorId,
        credential,
      })
    await withoutOffer(second.page)
    await useButton(second.page)
    await second.page.waitForURL(`${party.callback}*`)
    expect(await listEvents(userId, 'credential.counter_decreased')).toHaveLength(1)
    expect(await listEvents(userId, 'signin.failed')).toEqual([])
  })
})
