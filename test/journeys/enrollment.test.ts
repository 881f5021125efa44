import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import { createCredentialEnrollmentToken } from '../../src/credentials/enrollment-tokens.ts'
import { listInboxMessages } from '../../src/delivery/inbox.ts'
import { createUser } from '../../src/users/users.ts'
import { noBrowser, ORIGIN, PHONE } from '../support/browser.ts'
import { dbFor } from '../support/database.ts'
import { test as base, photograph, readHeading } from '../support/journey.ts'
import { openWithDevice } from '../support/virtual-authenticator.ts'

/** The link in the newest message to an address. */
const linkFor = (address: string): string =>
  listInboxMessages(address)
    .map(({ body }) => /http:\S+token=\S+/.exec(body)?.[0])
    .find(Boolean) ?? 'none'

const test = base.extend('newUser', { scope: 'file' }, ({ acme }) => async (name: string) => {
  // Other files of the process sign in users of these names, and share the inbox.
  const email = `${name.toLowerCase()}@enrollment.example`
  const { id } = await createUser(createPlatformCtx(acme), { email, name, emailVerified: true })
  return { userId: id, email }
})

describe.skipIf(noBrowser)('a user with an enrollment link', () => {
  test('creates a passkey by keyboard only, which is listed with its device and revoked', async ({
    rest,
    open,
    newUser,
  }) => {
    const { userId, email } = await newUser('Ada')
    const { body: created } = await rest('POST', `/users/${userId}/credentials/enrollment-tokens`, {})
    const link = linkFor(email)
    expect(link).toBe(created.uri)

    const { page, device, authenticatorId, errors } = await openWithDevice(await open({ viewport: PHONE }))
    const requests: { url: string; referer?: string }[] = []
    page.on('request', (request) => requests.push({ url: request.url(), referer: request.headers().referer }))
    await page.goto(link)
    expect(await readHeading(page)).toBe('Create your passkey')
    expect(await page.title()).toBe('Create your passkey · Acme Cloud')
    expect(await page.locator('.lead').textContent()).toBe(`for ${email}`)
    const button = page.getByRole('button', { name: 'Create a passkey' })
    await button.waitFor()
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('enrollment-button')
    const box = await button.boundingBox()
    expect([Number(box?.height) >= 44, Number(box?.width) >= 44]).toEqual([true, true])
    expect(await button.evaluate((element) => getComputedStyle(element).outlineStyle)).toBe('solid')
    await photograph(page, 'phone-enrol')

    await page.keyboard.press('Enter')
    await page.waitForURL('**/enroll/done')
    expect(await readHeading(page)).toBe('Your passkey is ready')
    expect(errors).toEqual([])
    await photograph(page, 'phone-enrolled')

    const { credentials: stored } = await device.send('WebAuthn.getCredentials', { authenticatorId })
    expect(stored).toEqual([expect.objectContaining({ isResidentCredential: true, rpId: 'localhost' })])
    expect(stored[0]).toMatchObject({
      userName: `${email} (Acme Cloud)`,
      userDisplayName: 'Ada (Acme Cloud)',
    })

    const { body } = await rest('GET', `/users/${userId}/credentials`)
    expect(body.credentials).toEqual([
      expect.objectContaining({
        type: 'public-key',
        lastUsedAt: null,
        device: expect.objectContaining({
          platform: expect.any(String),
          architecture: expect.any(String),
          uaVersion: expect.any(String),
          lastSeenIp: '127.0.0.1',
        }),
      }),
    ])

    // No other origin is requested, and no Referer contains the token.
    expect(requests.filter(({ url }) => !url.startsWith(ORIGIN) && !url.startsWith('data:'))).toEqual([])
    const token = String(created.token)
    expect(requests.filter(({ referer }) => referer?.includes(token))).toEqual([])
    // The back button does not lead to the link.
    expect(await page.evaluate(() => history.length)).toBeLessThanOrEqual(2)

    const [credential] = body.credentials as { id: string }[]
    expect((await rest('DELETE', `/credentials/${credential?.id}`)).status).toBe(200)
    expect((await rest('GET', `/users/${userId}/credentials`)).body.totalSize).toBe(0)
  })

  test('sees a link to support when the link was used before', async ({ rest, open, newUser }) => {
    const { email, userId } = await newUser('Grace')
    await rest('POST', `/users/${userId}/credentials/enrollment-tokens`, {})
    const { page } = await openWithDevice(await open())
    await page.goto(linkFor(email))
    await page.getByRole('button', { name: 'Create a passkey' }).click()
    await page.waitForURL('**/enroll/done')
    const again = await page.goto(linkFor(email))
    expect(again?.status()).toBe(410)
    expect(await readHeading(page)).toBe('This link no longer works')
    expect(await page.getByRole('link', { name: 'Get help' }).getAttribute('href')).toBe(
      'https://acme.example/help',
    )
    await photograph(page, 'desktop-enrol-gone')
  })

  test('sees that the link has expired when a newer link replaces it while the page is open', async ({
    ctx,
    open,
    newUser,
  }) => {
    const { email, userId } = await newUser('Lise')
    const { uri } = await createCredentialEnrollmentToken(ctx, userId, { send: false })
    const { page } = await openWithDevice(await open())
    await page.goto(uri)
    await page.getByRole('button', { name: 'Create a passkey' }).waitFor()
    await createCredentialEnrollmentToken(ctx, userId, { send: false })
    await page.getByRole('button', { name: 'Create a passkey' }).click()
    await page.getByRole('heading', { name: 'This link no longer works' }).waitFor()
    expect(listInboxMessages(email)).toEqual([])
  })

  test('tries again after user verification on the device has failed', async ({ rest, open, newUser }) => {
    const { userId, email } = await newUser('Emmy')
    await rest('POST', `/users/${userId}/credentials/enrollment-tokens`, {})
    const { page, device, authenticatorId, errors } = await openWithDevice(await open(), false)
    await page.goto(linkFor(email))
    await page.getByRole('button', { name: 'Create a passkey' }).click()
    await page.locator('#enrollment-error .error').waitFor()
    expect(await page.getByRole('alert').textContent()).toMatch(/^Nothing was created/)
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('enrollment-button')
    expect(await page.getByRole('status').textContent()).toMatch(/^You can do this once/)
    await photograph(page, 'desktop-enrollment-error')
    await device.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true })
    await page.keyboard.press('Space')
    await page.waitForURL('**/enroll/done')
    expect(errors).toEqual([])
  })

  test('sees that the device already has a passkey', async ({ ctx, open, newUser, acme }) => {
    const { userId } = await newUser('Konrad')
    const { page } = await openWithDevice(await open())
    for (const expected of ['**/enroll/done', null]) {
      const { uri } = await createCredentialEnrollmentToken(ctx, userId, { send: false })
      await page.goto(uri)
      await page.getByRole('button', { name: 'Create a passkey' }).click()
      if (expected) await page.waitForURL(expected)
    }
    await page.locator('#enrollment-error .error').waitFor()
    expect(await page.getByRole('alert').textContent()).toMatch(/^This device already has a passkey/)
    expect(await dbFor(acme).credential.count({ where: { tenantId: acme, userId } })).toBe(1)
  })

  test('sees what failed without a connection, and in a browser without passkeys', async ({
    ctx,
    open,
    newUser,
  }) => {
    const { userId } = await newUser('Sofja')
    const { uri } = await createCredentialEnrollmentToken(ctx, userId, { send: false })
    const context = await open()
    const { page } = await openWithDevice(context)
    await page.goto(uri)
    await page.getByRole('button', { name: 'Create a passkey' }).waitFor()
    await context.setOffline(true)
    await page.getByRole('button', { name: 'Create a passkey' }).click()
    await page.locator('#enrollment-error .error').waitFor()
    expect(await page.getByRole('alert').textContent()).toMatch(/^The connection failed/)
    await context.setOffline(false)
    const old = await context.newPage()
    await old.addInitScript(() => Reflect.deleteProperty(globalThis, 'PublicKeyCredential'))
    await old.goto(uri)
    await old.locator('#enrollment-error .error').waitFor()
    expect(await old.getByRole('alert').textContent()).toMatch(/^This browser cannot create passkeys/)
    expect(await old.getByRole('main').getByRole('button').count()).toBe(0)
  })

  test('sees without JavaScript what the page needs and that the link still works', async ({
    ctx,
    open,
    newUser,
  }) => {
    const { userId } = await newUser('Hedy')
    const { uri } = await createCredentialEnrollmentToken(ctx, userId, { send: false })
    const page = await (await open({ javaScriptEnabled: false })).newPage()
    await page.goto(uri)
    expect(await page.locator('.error').textContent()).toMatch(/needs JavaScript.*The link still works\.$/)
    expect(await page.getByRole('main').getByRole('button').count()).toBe(0)
    await photograph(page, 'desktop-enrol-noscript')
  })
})
