import { decodeJwt } from 'jose'
import { describe, expect } from 'vitest'
import { takeAnnouncedChange } from '../../../src/coordination/person-budgets.ts'
import { updateSettings } from '../../../src/tenants/settings.ts'
import { resetCooldown } from '../../support/account.ts'
import { createCredential } from '../../support/authenticator.ts'
import { dbFor } from '../../support/database.ts'
import type { Page } from '../../support/hosted-pages.ts'
import type { PageBrowser } from '../../support/page-browser.ts'
import { test as base, readCreationOptions } from '../../support/passkeys.ts'
import { answerIn, codeFor } from '../../support/protocol.ts'

const OFFER = '<h1>Sign in faster next time</h1>'

const test = base
  /** Signs in by a code, in a browser that can create passkeys. Returns the page that follows. */
  .extend(
    'enterCode',
    ({ tenant, browser, person, start }) =>
      async (
        by: PageBrowser = browser,
        more: Record<string, string> = {},
        platform: Record<string, string> = { platform: '1' },
      ): Promise<Page & { location: string | null }> => {
        await resetCooldown(tenant, person.email)
        const first = await start(by, more)
        const code = await by.submit(first, { step: 'email', address: person.email, ...platform })
        const html = await code.response.text()
        const next = await by.submit(
          { html, path: code.path },
          { step: 'code', code: await codeFor(person.email) },
        )
        return { ...next, html: await next.response.text() }
      },
  )
  .extend(
    'createPasskey',
    ({ browser }) =>
      async (page: Page, over: Parameters<typeof createCredential>[1] = {}) => {
        const created = createCredential(readCreationOptions(page.html), over)
        const next = await browser.submit(page, {
          step: 'create-passkey',
          registration: JSON.stringify(created.response),
        })
        return { ...next, html: await next.response.text(), created }
      },
  )
  .extend(
    'countPasskeys',
    ({ tenant, person }) =>
      () =>
        dbFor(tenant).credential.count({ where: { tenantId: tenant, userId: person.id } }),
  )

describe('a user who signs in by a code in a browser that can create passkeys', () => {
  test('is offered a passkey, creates it and signs in with it', async ({
    tenant,
    person,
    browser,
    oidc,
    events,
    enterCode,
    createPasskey,
    passkeys,
  }) => {
    const offer = await enterCode()
    expect(offer.html).toContain(OFFER)
    expect(offer.path).toMatch(/\/passkey$/)
    expect(offer.response.headers.get('accept-ch')).toContain('Sec-CH-UA-Model')
    expect(readCreationOptions(offer.html).user.name).toContain(person.email)
    const { location, created } = await createPasskey(offer, {
      aaguid: Buffer.from('ea9b8d664d011d213ce4b6b48cb575d4', 'hex'),
    })
    expect(
      await dbFor(tenant).credential.findMany({ where: { tenantId: tenant, userId: person.id } }),
    ).toMatchObject([{ aaguid: 'ea9b8d66-4d01-1d21-3ce4-b6b48cb575d4', byManagement: false }])
    const { body } = await oidc.exchange(answerIn(location).code ?? '')
    expect(decodeJwt(String(body.id_token))).toMatchObject({ sub: person.id, amr: ['otp'] })
    expect((await events({ type: 'credential.enrolled' })).slice(-1)).toMatchObject([{ userId: person.id }])
    browser.cookies.clear()
    const passkey = { id: created.response.id, privateKey: created.privateKey }
    expect(answerIn((await passkeys.present(await passkeys.start(), passkey)).location).code).toMatch(/./)
    // A user with a passkey is not offered another one.
    browser.cookies.clear()
    expect(answerIn((await enterCode()).location).code).toMatch(/./)
  })

  test('creates none that cannot be announced any more', async ({
    tenant,
    person,
    enterCode,
    createPasskey,
    countPasskeys,
  }) => {
    const offer = await enterCode()
    for (let n = 0; n < 30; n++) takeAnnouncedChange(tenant, { userId: person.id, grantId: null })
    expect((await createPasskey(offer)).response.status).toBe(429)
    expect(await countPasskeys()).toBe(0)
  })

  test('continues without one, and is not asked again for 30 days', async ({
    tenant,
    person,
    browser,
    newBrowser,
    enterCode,
    countPasskeys,
  }) => {
    const { location } = await browser.submit(await enterCode(), { step: 'later' })
    expect(answerIn(location).code).toMatch(/./)
    expect(await countPasskeys()).toBe(0)
    const other = newBrowser()
    expect(answerIn((await enterCode(other)).location).code).toMatch(/./)
    await dbFor(tenant).user.update({
      where: { tenantId_id: { tenantId: tenant, id: person.id } },
      data: { passkeyOfferedAt: new Date(Date.now() - 31 * 86_400_000) },
    })
    expect((await enterCode(newBrowser())).html).toContain(OFFER)
  })

  test('sees the offer again when the page is reloaded', async ({ browser, enterCode }) => {
    const { path } = await enterCode()
    const { response } = await browser.open(path)
    expect(await response.text()).toContain(OFFER)
  })

  test('is offered a passkey in one of two browsers at a time', async ({
    tenant,
    browser,
    newBrowser,
    person,
    start,
  }) => {
    const browsers = [browser, newBrowser()]
    const pages = []
    for (const by of browsers) {
      await resetCooldown(tenant, person.email)
      const { response, path } = await by.submit(await start(by), {
        step: 'email',
        address: person.email,
        platform: '1',
      })
      const page = { html: await response.text(), path }
      pages.push({ by, page, code: await codeFor(person.email) })
    }
    const landed = await Promise.all(
      pages.map(async ({ by, page, code }) =>
        (await by.submit(page, { step: 'code', code })).response.text(),
      ),
    )
    expect(landed.filter((html) => html.includes(OFFER))).toHaveLength(1)
  })
})

describe('an offer of a passkey', () => {
  test('is not made to a browser that does not say that it can create one', async ({ enterCode }) => {
    expect(answerIn((await enterCode(undefined, {}, {})).location).code).toMatch(/./)
    expect(
      answerIn((await enterCode(undefined, { prompt: 'login' }, { platform: 'yes' })).location).code,
    ).toMatch(/./)
  })

  test.for([[{ offerPasskey: false }], [{ signInMethods: ['passcode'] }]])(
    'is not made with the settings %j',
    async ([settings], { ctx, enterCode, onTestFinished }) => {
      await updateSettings(ctx, settings)
      onTestFinished(async () => {
        await updateSettings(ctx, { offerPasskey: null, signInMethods: null })
      })
      expect(answerIn((await enterCode()).location).code).toMatch(/./)
    },
  )

  test('is not made to a user whose session answers the request', async ({ browser, oidc, enterCode }) => {
    await browser.submit(await enterCode(), { step: 'later' })
    const { location } = await browser.open(oidc.authorizePath())
    expect(answerIn(location).code).toMatch(/./)
    const none = await browser.open(oidc.authorizePath({ prompt: 'none' }))
    expect(answerIn(none.location).code).toMatch(/./)
  })

  const deviations = {
    'for another origin': { origin: 'https://evil.example' },
    'for another RP ID': { rpId: 'evil.example' },
    'to another challenge': { challenge: 'A'.repeat(43) },
    'of another ceremony': { type: 'webauthn.get' },
    'without user verification': { flags: 0b0100_0001 },
    'with an attestation that is not requested': { fmt: 'fido-u2f' },
  }
  test.for(Object.entries(deviations))(
    'accepts no registration %s, and goes on without one',
    async ([, over], { browser, enterCode, createPasskey, countPasskeys }) => {
      const page = await createPasskey(await enterCode(), over)
      expect(page.html).toContain('The passkey could not be saved. Try again, or choose another way.')
      expect(await countPasskeys()).toBe(0)
      expect(answerIn((await browser.submit(page, { step: 'later' })).location).code).toMatch(/./)
    },
  )

  test.for(['', '{', '{}', '[]', JSON.stringify({ id: 'x' })])(
    'accepts no registration %j',
    async (registration, { browser, enterCode, countPasskeys }) => {
      const { response } = await browser.submit(await enterCode(), { step: 'create-passkey', registration })
      expect(await response.text()).toContain('The passkey could not be saved.')
      expect(await countPasskeys()).toBe(0)
    },
  )

  test('accepts no passkey that is registered', async ({
    enterCode,
    createPasskey,
    countPasskeys,
    passkeys,
    newPerson,
  }) => {
    const { id } = await passkeys.enroll((await newPerson()).id)
    const page = await createPasskey(await enterCode(), { credentialId: Buffer.from(id, 'base64url') })
    expect(page.html).toContain('The passkey could not be saved.')
    expect(await countPasskeys()).toBe(0)
  })

  test('stores one passkey of two that are posted at a time', async ({
    browser,
    enterCode,
    countPasskeys,
  }) => {
    const offer = await enterCode()
    const post = () => {
      const { response } = createCredential(readCreationOptions(offer.html))
      return browser.submit(offer, { step: 'create-passkey', registration: JSON.stringify(response) })
    }
    await Promise.all([post(), post()])
    expect(await countPasskeys()).toBe(1)
  })

  test('stays for its user when another one signs in in another tab', async ({
    tenant,
    browser,
    oidc,
    enterCode,
    createPasskey,
    countPasskeys,
    newPerson,
  }) => {
    const offer = await enterCode()
    const other = await newPerson()
    await oidc.signIn(browser, other.email, { prompt: 'login' })
    const { location } = await createPasskey(offer)
    expect(answerIn(location)).toHaveProperty('code')
    expect(await countPasskeys()).toBe(1)
    expect(await dbFor(tenant).credential.count({ where: { tenantId: tenant, userId: other.id } })).toBe(0)
  })
})
