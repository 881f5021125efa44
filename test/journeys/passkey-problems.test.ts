import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { describe, expect, onTestFinished } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import { createCredentialEnrollmentToken } from '../../src/credentials/enrollment-tokens.ts'
import { createUser, deleteUser, lockUser } from '../../src/users/users.ts'
import { noBrowser, ORIGIN } from '../support/browser.ts'
import { dbFor } from '../support/database.ts'
import { test as base, withoutOffer } from '../support/passkey-journey.ts'
import { openWithDevice } from '../support/virtual-authenticator.ts'

const REJECTED = 'This passkey did not work. Try again, or use a code.'

const test = base
  .extend('listFailures', ({ acme }) => async (userId: string | null): Promise<unknown[]> => {
    const where = { tenantId: acme, type: 'signin.failed', userId }
    const rows = await dbFor(acme).event.findMany({ where, orderBy: { seq: 'asc' } })
    return rows.map(({ detail }) => (detail as { reason: string }).reason)
  })
  /** Opens the first page, and asks for a passkey by the button. */
  .extend('useButton', ({ party }) => async (page: Page) => {
    await withoutOffer(page)
    await page.goto(party.url)
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  })
  /** Signs in with a passkey that is rejected. */
  .extend('expectRejection', ({ useButton }) => async (page: Page) => {
    await useButton(page)
    await page.getByText(REJECTED).waitFor()
  })

/** A page of another origin with the RP ID of the hosted pages. */
async function startOtherOrigin(): Promise<string> {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Other</title>')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return `http://localhost:${(server.address() as AddressInfo).port}`
}

describe.skipIf(noBrowser)('a user with passkeys on two devices', () => {
  test('signs in on each', async ({ acme, party, open, createPasskey, useButton }) => {
    const email = 'two@passkey.example'
    const { id: userId } = await createUser(createPlatformCtx(acme), { email, emailVerified: true })
    for (const each of [await open(), await open()]) {
      const { page, errors } = await openWithDevice(each)
      await createPasskey(page, userId)
      await useButton(page)
      await page.waitForURL(`${party.callback}*`)
      expect(errors).toEqual([])
    }
    const rows = await dbFor(acme).credential.findMany({ where: { tenantId: acme, userId } })
    expect(rows.map(({ lastUsedAt }) => lastUsedAt)).toEqual([expect.any(Date), expect.any(Date)])
  })
})

describe.skipIf(noBrowser)('a passkey that is not accepted', () => {
  test('is not used by a page for another RP ID, and the page says so', async ({
    party,
    openWithPasskey,
  }) => {
    const { page } = await openWithPasskey('Rp')
    await withoutOffer(page)
    await page.addInitScript(() => {
      new MutationObserver((_changes, observer) => {
        const root = document.getElementById('passkey')
        if (!root) return
        root.dataset.rpId = 'evil.example'
        observer.disconnect()
      }).observe(document, { childList: true, subtree: true })
    })
    await page.goto(party.url)
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    const message = page.getByText('This browser does not use passkeys at this address.')
    await message.waitFor()
    expect(new URL(page.url()).pathname).toContain('/signin/')
  })

  test('is not found on a device that has one for another RP ID only', async ({
    open,
    useButton,
    openWithPasskey,
  }) => {
    const { device: owner, authenticatorId: owned } = await openWithPasskey('Elsewhere')
    const { credentials } = await owner.send('WebAuthn.getCredentials', { authenticatorId: owned })
    const { page, device, authenticatorId } = await openWithDevice(await open())
    for (const credential of credentials)
      await device.send('WebAuthn.addCredential', {
        authenticatorId,
        credential: { ...credential, rpId: 'evil.example' },
      })
    await useButton(page)
    await page.getByText('No passkey was used').waitFor()
    expect(new URL(page.url()).pathname).toContain('/signin/')
  })

  test('is rejected when a page of another origin relays the challenge', async ({
    party,
    openWithPasskey,
    listFailures,
  }) => {
    const { page, device, authenticatorId, userId } = await openWithPasskey('Relay')
    await withoutOffer(page)
    await page.goto(party.url)
    const challenge = await page.locator('#passkey').getAttribute('data-challenge')
    const signInPage = page.url()
    await page.goto(await startOtherOrigin())
    const assertion = await page.evaluate(async (text) => {
      const decode = (value: string) =>
        Uint8Array.from(atob(value.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0))
      const encode = (bytes: ArrayBuffer) =>
        btoa(String.fromCharCode(...new Uint8Array(bytes)))
          .replaceAll('+', '-')
          .replaceAll('/', '_')
          .replaceAll('=', '')
      const credential = (await navigator.credentials.get({
        publicKey: { challenge: decode(text), rpId: 'localhost', userVerification: 'required' },
      })) as PublicKeyCredential
      const { clientDataJSON, authenticatorData, signature } =
        credential.response as AuthenticatorAssertionResponse
      return JSON.stringify({
        id: credential.id,
        rawId: credential.id,
        type: credential.type,
        response: {
          clientDataJSON: encode(clientDataJSON),
          authenticatorData: encode(authenticatorData),
          signature: encode(signature),
        },
      })
    }, String(challenge))
    expect((await device.send('WebAuthn.getCredentials', { authenticatorId })).credentials).toHaveLength(1)
    await page.goto(signInPage)
    await page.evaluate((value) => {
      const form = document.querySelector('#passkey form') as HTMLFormElement
      ;(form.elements.namedItem('assertion') as HTMLInputElement).value = value
      form.submit()
    }, assertion)
    await page.getByText(REJECTED).waitFor()
    expect(await listFailures(userId)).toEqual(['rejected'])
    expect(signInPage.startsWith(ORIGIN)).toBe(true)
  })

  test('is rejected as cloned when a copy has been used less', async ({
    party,
    open,
    openWithPasskey,
    useButton,
    expectRejection,
    listFailures,
  }) => {
    const { page, device, authenticatorId, userId } = await openWithPasskey('Clone')
    const { credentials } = await device.send('WebAuthn.getCredentials', { authenticatorId })
    for (let use = 0; use < 2; use++) {
      await page.context().clearCookies()
      await useButton(page)
      await page.waitForURL(`${party.callback}*`)
    }
    const copy = await openWithDevice(await open())
    for (const credential of credentials)
      await copy.device.send('WebAuthn.addCredential', { authenticatorId: copy.authenticatorId, credential })
    await expectRejection(copy.page)
    expect(await listFailures(userId)).toEqual(['cloned'])
  })

  test('is rejected for a user who is locked', async ({
    acme,
    openWithPasskey,
    expectRejection,
    listFailures,
  }) => {
    const { page, userId } = await openWithPasskey('Locked')
    await lockUser(createPlatformCtx(acme), userId)
    await expectRejection(page)
    expect(await listFailures(userId)).toEqual(['locked'])
  })

  test('is rejected for a user who is deleted, and the device removes it', async ({
    acme,
    openWithPasskey,
    expectRejection,
  }) => {
    const { page, device, authenticatorId, userId } = await openWithPasskey('Deleted')
    await deleteUser(createPlatformCtx(acme), userId)
    await expectRejection(page)
    await expect
      .poll(async () => (await device.send('WebAuthn.getCredentials', { authenticatorId })).credentials)
      .toEqual([])
  })
})

describe.skipIf(noBrowser)('an authenticator that cannot keep another passkey', () => {
  test('stores none, and the page says that nothing was created', async ({ acme, open }) => {
    const ctx = createPlatformCtx(acme)
    const { id: userId } = await createUser(ctx, { email: 'full@passkey.example', emailVerified: true })
    const { uri } = await createCredentialEnrollmentToken(ctx, userId, { send: false })
    const { page, device, authenticatorId } = await openWithDevice(await open())
    await device.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId })
    await device.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'usb',
        hasResidentKey: false,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    })
    await page.goto(uri)
    await page.getByRole('button', { name: 'Create a passkey' }).click()
    await page.locator('#enrollment-error .error').waitFor()
    expect(await page.getByRole('alert').textContent()).toMatch(
      /^(Nothing was created|This device cannot keep)/,
    )
    expect(await dbFor(acme).credential.count({ where: { tenantId: acme, userId } })).toBe(0)
  })
})
