import { describe, expect } from 'vitest'
import { updateSettings } from '../../src/tenants/settings.ts'
import { createAssertion } from '../support/authenticator.ts'
import { startSessionIn } from '../support/browser-session.ts'
import { dbFor } from '../support/database.ts'
import { openPage, type Page } from '../support/hosted-pages.ts'
import type { PageBrowser } from '../support/page-browser.ts'
import { enrollPasskey, readPasskeyOptions } from '../support/passkeys.ts'
import { answerIn, codeFor } from '../support/protocol.ts'
import { test as base } from '../support/provider-sign-in.ts'
import { equipOwner, readSetupSecret, toLanding } from '../support/second-factor.ts'
import { computeTotp } from '../support/totp.ts'

type Form = Record<string, string>

/** `test` with a sign-in of `browser` whose cookie another browser has as well. */
const test = base
  .extend('open', { scope: 'file', auto: true }, ({ ctx }) => updateSettings(ctx, { signUp: 'open' }))
  .extend('consenting', { scope: 'file' }, ({ newClient }) => newClient({ requireConsent: true }))
  .extend('strict', { scope: 'file' }, ({ newClient }) =>
    newClient({ requireSecondFactor: true, requireConsent: true }),
  )
  .extend('other', ({ newBrowser }) => newBrowser())
  /** Gives the other browser the cookies that bind interactions. */
  .extend('plant', ({ browser, other }) => () => {
    for (const [name, value] of browser.cookies)
      if (name.startsWith('vst_ix_')) other.cookies.set(name, value)
  })
  .extend(
    'send',
    ({ browser }) =>
      async (page: Page, form: Form, by: PageBrowser = browser) =>
        toLanding(await by.submit(page, form)),
  )
  .extend(
    'enterAddress',
    ({ browser, start, send }) =>
      async (address: string, more: Form = {}) =>
        send(await start(browser, more), { step: 'email', address }),
  )
  /** Makes a proof; expects that the other browser could open the page before it, and cannot open what follows. */
  .extend('expectAlone', ({ other, browser, plant, send }) => async (page: Page, form: Form) => {
    plant()
    // Without the session of a signed-in user, it shows another page.
    expect((await other.fetch(page.path)).status).toBeLessThan(400)
    const next = await send(page, form)
    expect(next.status).toBe(200)
    const path = next.path.replace(/\?.*/, '')
    expect((await browser.fetch(path)).status).toBe(200)
    expect((await other.fetch(path)).status).toBe(410)
    const forged = await other.submit({ html: next.html, path }, { step: 'allow' })
    expect(forged.response.status).toBe(410)
    return next
  })

describe('a cookie of a sign-in that another browser has as well', () => {
  test('is of no use after a code: for consent', async ({
    person,
    consenting,
    enterAddress,
    expectAlone,
  }) => {
    const page = await enterAddress(person.email, { client_id: consenting.id })
    const next = await expectAlone(page, { step: 'code', code: await codeFor(person.email) })
    expect(next.path).toMatch(/\/consent/)
  })

  test('is of no use after a code: for a sign-up, and after it', async ({
    email,
    consenting,
    enterAddress,
    expectAlone,
  }) => {
    const address = email('planted')
    const page = await enterAddress(address, { client_id: consenting.id })
    const created = await expectAlone(page, { step: 'code', code: await codeFor(address) })
    expect(created.path).toMatch(/\/create/)
    expect((await expectAlone(created, { step: 'create', name: 'Ada' })).path).toMatch(/\/consent/)
  })

  test('is of no use after a code: for a second factor, and after it', async ({
    ctx,
    person,
    strict,
    enterAddress,
    expectAlone,
  }) => {
    const { totp } = await equipOwner(ctx, person)
    const page = await enterAddress(person.email, { client_id: strict.id })
    const factor = await expectAlone(page, { step: 'code', code: await codeFor(person.email) })
    expect(factor.path).toMatch(/\/second-factor/)
    const next = await expectAlone(factor, { step: 'totp', code: computeTotp(totp.secret) })
    expect(next.path).toMatch(/\/consent/)
  })

  test('is of no use after a recovery code', async ({
    ctx,
    person,
    browser,
    strict,
    enterAddress,
    send,
    expectAlone,
  }) => {
    const { codes } = await equipOwner(ctx, person)
    const page = await enterAddress(person.email, { client_id: strict.id })
    const factor = await send(page, { step: 'code', code: await codeFor(person.email) })
    const recovery = await openPage(browser, factor.path.replace('second-factor', 'recovery'))
    const next = await expectAlone(recovery, { step: 'recovery', code: codes[0] ?? '' })
    expect(next.path).toMatch(/\/consent/)
  })

  test('is of no use after the setup of an app: shows no recovery codes', async ({
    person,
    strict,
    enterAddress,
    send,
    expectAlone,
  }) => {
    const page = await enterAddress(person.email, { client_id: strict.id })
    const setup = await send(page, { step: 'code', code: await codeFor(person.email) })
    const code = computeTotp(readSetupSecret(setup.html))
    expect((await expectAlone(setup, { step: 'totp', code })).path).toMatch(/\/recovery-codes/)
  })

  test('is of no use after a second factor of a signed-in user', async ({
    ctx,
    tenant,
    person,
    browser,
    oidc,
    strict,
    expectAlone,
  }) => {
    const { totp } = await equipOwner(ctx, person)
    await startSessionIn(browser, tenant, person.id)
    const page = await openPage(browser, oidc.authorizePath({ client_id: strict.id }))
    expect(page.path).toMatch(/\/second-factor/)
    expect((await expectAlone(page, { step: 'totp', code: computeTotp(totp.secret) })).path).toMatch(
      /\/consent/,
    )
  })

  test('is of no use after a passkey', async ({ ctx, person, browser, consenting, start, expectAlone }) => {
    const passkey = await enrollPasskey(ctx, person.id)
    const page = await start(browser, { client_id: consenting.id })
    const assertion = createAssertion(passkey, readPasskeyOptions(page.html))
    expect((await expectAlone(page, { step: 'passkey', assertion })).path).toMatch(/\/consent/)
  })

  test('is of no use for the terms', async ({ ctx, person, enterAddress, expectAlone }) => {
    await updateSettings(ctx, { termsUrl: 'https://acme.example/terms', termsVersion: '7' })
    const page = await enterAddress(person.email)
    const next = await expectAlone(page, { step: 'code', code: await codeFor(person.email) })
    await updateSettings(ctx, { termsUrl: null, termsVersion: null })
    expect(next.path).toMatch(/\/terms/)
  })

  test('gets no code that was issued in the session of a signed-in user', async ({
    tenant,
    person,
    browser,
    oidc,
    other,
    plant,
    consenting,
  }) => {
    await startSessionIn(browser, tenant, person.id)
    const page = await openPage(browser, oidc.authorizePath({ client_id: consenting.id }))
    plant()
    const done = await browser.submit(page, { step: 'allow' })
    expect(answerIn(done.location).code).toMatch(/./)
    const repeated = await other.fetch(page.path.replace('/consent', '?again=1'))
    expect(repeated.status).toBe(410)
  })

  test('is of no use for the offer of a passkey', async ({ person, browser, start, send, expectAlone }) => {
    const page = await send(await start(browser), { step: 'email', address: person.email, platform: '1' })
    const next = await expectAlone(page, { step: 'code', code: await codeFor(person.email), platform: '1' })
    expect(next.path).toMatch(/\/passkey/)
  })

  test('is of no use after a step-up of an account page', async ({
    tenant,
    person,
    browser,
    other,
    plant,
    send,
  }) => {
    const path = `/${tenant}/account/authenticator-app`
    const first = await openPage(browser, path)
    const page = await send(first, { step: 'email', address: person.email })
    plant()
    const form = { step: 'code', code: await codeFor(person.email) }
    const done = await send(page, form)
    expect(done.path).toMatch(/\/account/)
    expect((await other.fetch(page.path)).status).toBe(410)
  })

  test('links no identity that its owner has proven to another person', async ({
    tenant,
    provider,
    newPerson,
    browser,
    other,
    plant,
    start,
    choose,
    signInThere,
    comeBack,
    send,
  }) => {
    const victim = await newPerson()
    const page = await start()
    const stolen = `attacker-of-${victim.id}`
    const callback = await signInThere(await choose(page, provider.id), stolen)
    plant()
    // The attacker proves an identity, which waits for an account.
    expect((await comeBack(callback)).html).toContain('is not connected to an account here.')
    // The victim follows the link with the planted cookie.
    expect((await other.fetch(page.path)).status).toBe(410)
    const sent = await other.submit(page, { step: 'email', address: victim.email })
    expect(sent.response.status).toBe(410)
    // The browser that proved it links it.
    const again = await openPage(browser, page.path)
    const code = await send(again, { step: 'email', address: victim.email })
    await send(code, { step: 'code', code: await codeFor(victim.email) })
    const links = await dbFor(tenant).idpUser.findMany({ where: { tenantId: tenant, externalId: stolen } })
    expect(links.map(({ userId }) => userId)).toEqual([victim.id])
  })

  test('links nothing to a person who enters a code at the same time', async ({
    tenant,
    provider,
    newPerson,
    newBrowser,
    start,
    choose,
    signInThere,
    comeBack,
    send,
  }) => {
    for (let round = 0; round < 6; round++) {
      const [attacker, victim, person] = [newBrowser(), newBrowser(), await newPerson()]
      const first = await start(attacker)
      const stolen = `attacker-of-${person.id}`
      const callback = await signInThere(await choose(first, provider.id, attacker), stolen)
      const code = await send(
        await openPage(attacker, first.path),
        { step: 'email', address: person.email },
        attacker,
      )
      for (const [name, value] of attacker.cookies) victim.cookies.set(name, value)
      const page = await openPage(victim, code.path)
      const form = { step: 'code', code: await codeFor(person.email) }
      await Promise.all([send(page, form, victim), comeBack(callback, attacker)])
      const links = await dbFor(tenant).idpUser.count({ where: { tenantId: tenant, externalId: stolen } })
      expect(links).toBe(0)
      const where = { tenantId: tenant, userId: person.id, kind: 'browser' as const, endedAt: null }
      const sessions = await dbFor(tenant).session.count({ where })
      // Only the browser of the victim may have got one.
      expect(attacker.sessionToken).toBeUndefined()
      expect(sessions).toBeLessThanOrEqual(1)
    }
  })

  test('leaves the sign-in of another tab as it is', async ({ person, browser, start, send }) => {
    const [one, two] = [
      await start(browser, { state: 'one' }),
      await start(browser, { state: 'two', prompt: 'login' }),
    ]
    const code = await send(one, { step: 'email', address: person.email })
    const done = await send(code, { step: 'code', code: await codeFor(person.email) })
    expect(answerIn(done.location).state).toBe('one')
    expect((await browser.fetch(two.path)).status).toBe(200)
  })
})
