import { decodeJwt } from 'jose'
import { describe, expect } from 'vitest'
import { updateClient } from '../../../../src/clients/client-changes.ts'
import { createPlatformCtx } from '../../../../src/context/context.ts'
import { updateSettings } from '../../../../src/tenants/settings.ts'
import { setUserRoles } from '../../../../src/users/roles.ts'
import { createAssertion } from '../../../support/authenticator.ts'
import { dbFor } from '../../../support/database.ts'
import { openPage, type Page } from '../../../support/hosted-pages.ts'
import { enrollPasskey, readPasskeyOptions } from '../../../support/passkeys.ts'
import { answerIn } from '../../../support/protocol.ts'
import { test as base, type Landing, readSetupSecret } from '../../../support/second-factor.ts'
import { computeTotp, computeWrongTotp, enrollTotp } from '../../../support/totp.ts'

const SETUP = '<h1>Set up an authenticator app</h1>'
const CODES = '<h1>Save your recovery codes</h1>'
const ESSENTIAL = JSON.stringify({
  id_token: { acr: { essential: true, value: 'urn:vestibule:mfa' } },
})

const readSecret = ({ html }: Page): string => readSetupSecret(html)
const readCodes = ({ html }: Page): string[] =>
  [...html.matchAll(/<li><code>([^<]+)</g)].map(([, code]) => code as string)

const test = base
  .extend('require', async ({ ctx }, { onCleanup }) => {
    onCleanup(async () => {
      await updateSettings(ctx, { secondFactor: null, secondFactorRoles: null })
    })
    return (settings: object = { secondFactor: 'required' }) => updateSettings(ctx, settings)
  })
  .extend(
    'setUp',
    ({ submit }) =>
      (page: Page) =>
        submit(page, { step: 'totp', code: computeTotp(readSecret(page)) }),
  )
  .extend('typesOf', ({ tenant }) => async ({ id }: { id: string }) => {
    const rows = await dbFor(tenant).credential.findMany({ where: { tenantId: tenant, userId: id } })
    return rows.map(({ type }) => type).sort()
  })
  .extend('claimsOf', ({ oidc }) => async ({ location }: Pick<Landing, 'location'>) => {
    const { body } = await oidc.exchange(answerIn(location).code ?? '')
    return decodeJwt(String(body.id_token))
  })

describe('a tenant that requires a second factor', () => {
  test('lets a user who has none set up an app and save recovery codes in the same visit', async ({
    require,
    person,
    browser,
    submit,
    enterPasscode,
    setUp,
    typesOf,
    claimsOf,
    events,
  }) => {
    await require()
    const setup = await enterPasscode()
    expect(setup.html).toContain(SETUP)
    expect(setup.html).toContain('<img class="qr" src="data:image/svg+xml;base64,')
    expect(Buffer.byteLength(setup.html)).toBeLessThan(15_000)
    expect(await typesOf(person)).toEqual([])
    const codesPage = await setUp(setup)
    expect(codesPage.html).toContain(CODES)
    expect(await typesOf(person)).toEqual(['recovery-codes', 'totp'])
    const codes = readCodes(codesPage)
    expect(codes).toHaveLength(10)
    expect(readCodes(await openPage(browser, codesPage.path))).toEqual(codes)
    const done = await submit(codesPage, { step: 'codes-saved' })
    expect(await claimsOf(done)).toMatchObject({ sub: person.id, acr: 'urn:vestibule:mfa' })
    const log = JSON.stringify(await events({ userId: person.id }))
    for (const secret of [readSecret(setup), ...codes]) expect(log).not.toContain(secret)
    const again = await enterPasscode({ prompt: 'login' })
    const by = await submit(again, { step: 'recovery', code: codes[3] ?? '' })
    expect(answerIn(by.location).code).toMatch(/./)
  })

  test('keeps the key after a wrong code, and starts no session before the right one', async ({
    tenant,
    require,
    person,
    submit,
    enterPasscode,
    setUp,
  }) => {
    await require()
    const setup = await enterPasscode()
    const wrong = await submit(setup, { step: 'totp', code: computeWrongTotp(readSecret(setup)) })
    expect(wrong.html).toContain('That code did not work.')
    expect(readSecret(wrong)).toBe(readSecret(setup))
    const count = () =>
      dbFor(tenant).session.count({ where: { tenantId: tenant, userId: person.id, kind: 'browser' } })
    expect(await count()).toBe(0)
    expect((await setUp(wrong)).html).toContain(CODES)
    expect(await count()).toBe(1)
  })

  test('enrolls one app when the first code is submitted twenty times at once', async ({
    tenant,
    require,
    person,
    enterPasscode,
    setUp,
    typesOf,
    events,
  }) => {
    await require()
    const setup = await enterPasscode()
    const landings = await Promise.all(Array.from({ length: 20 }, () => setUp(setup)))
    expect(landings.filter(({ status }) => status >= 500)).toEqual([])
    expect(await typesOf(person)).toEqual(['recovery-codes', 'totp'])
    const where = { tenantId: tenant, userId: person.id, kind: 'browser' }
    expect(await dbFor(tenant).session.count({ where })).toBe(1)
    expect(await events({ type: 'credential.enrolled', userId: person.id })).toHaveLength(2)
  })

  test('accepts a passkey alone', async ({ require, person, browser, drivers, start }) => {
    await require()
    const begin = await drivers.passkey.equip(person)
    const { location } = await (await begin(await start(), browser)).present(browser)
    expect(answerIn(location).code).toMatch(/./)
  })

  test('asks a user who has a passkey for it, and does not set up an app instead', async ({
    require,
    ctx,
    person,
    submit,
    enterPasscode,
    typesOf,
    claimsOf,
    events,
  }) => {
    const passkey = await enrollPasskey(ctx, person.id)
    await require()
    const page = await enterPasscode()
    expect(page.html).toContain('<h1>Use your passkey</h1>')
    expect(page.html).not.toContain('class="key"')
    const setup = await submit(page, { step: 'totp', code: '123456' })
    expect(setup.html).toContain('<h1>Use your passkey</h1>')
    const answer = (html: string, over = {}) => createAssertion(passkey, readPasskeyOptions(html), over)
    const foreign = answer(setup.html, { origin: 'https://evil.example' })
    const rejected = await submit(setup, { step: 'passkey', assertion: foreign })
    expect(rejected.html).toContain('This passkey did not work. Try again.')
    expect((await events({ type: 'signin.failed' })).slice(-1)).toMatchObject([
      { userId: person.id, detail: { method: 'passkey', reason: 'rejected' } },
    ])
    const done = await submit(rejected, { step: 'passkey', assertion: answer(rejected.html) })
    expect(await claimsOf(done)).toMatchObject({ sub: person.id, acr: 'phr' })
    expect(await typesOf(person)).toEqual(['public-key'])
  })

  test('enrolls no app when a passkey is enrolled at the same time', async ({
    require,
    ctx,
    person,
    enterPasscode,
    setUp,
    typesOf,
  }) => {
    await require()
    const setup = await enterPasscode()
    await enrollPasskey(ctx, person.id)
    expect((await setUp(setup)).html).toContain('<h1>Use your passkey</h1>')
    expect(await typesOf(person)).toEqual(['public-key'])
  })

  test('asks users of an earlier session, and rejects prompt=none until then', async ({
    require,
    browser,
    oidc,
    enterPasscode,
    setUp,
    submit,
  }) => {
    expect(answerIn((await enterPasscode()).location).code).toMatch(/./)
    await require()
    const silent = await browser.open(oidc.authorizePath({ prompt: 'none' }))
    expect(answerIn(silent.location).error).toBe('login_required')
    const setup = await openPage(browser, oidc.authorizePath())
    expect(setup.html).toContain(SETUP)
    const done = await submit(await setUp(setup), { step: 'codes-saved' })
    expect(answerIn(done.location).code).toMatch(/./)
    const later = await browser.open(oidc.authorizePath({ prompt: 'none' }))
    expect(answerIn(later.location).code).toMatch(/./)
  })

  test('asks for a new first proof before a user of an old session sets up an app', async ({
    tenant,
    require,
    person,
    browser,
    oidc,
    enterPasscode,
  }) => {
    await enterPasscode()
    const at = new Date(Date.now() - 901_000).toISOString()
    await dbFor(tenant).session.updateMany({
      where: { tenantId: tenant, userId: person.id, kind: 'browser' },
      data: { proofs: [{ method: 'passcode', amr: ['otp'], at }] },
    })
    await require()
    const page = await openPage(browser, oidc.authorizePath())
    expect(page.html).toContain('name="address"')
  })
})

describe('a role or a client that requires a second factor', () => {
  test('asks users of the role only', async ({
    require,
    tenant,
    person,
    newPerson,
    newBrowser,
    enterPasscode,
  }) => {
    await require({ secondFactor: 'off', secondFactorRoles: ['auditor'] })
    await setUserRoles(createPlatformCtx(tenant), person.id, { roles: ['auditor'] })
    expect((await enterPasscode()).html).toContain(SETUP)
    const other = await newPerson()
    const { location } = await enterPasscode({}, newBrowser(), other.email)
    expect(answerIn(location).code).toMatch(/./)
  })

  test('asks users of the client only, also in a session of another client', async ({
    ctx,
    client,
    browser,
    oidc,
    enterPasscode,
    setUp,
    submit,
    claimsOf,
  }) => {
    expect(answerIn((await enterPasscode()).location).code).toMatch(/./)
    await updateClient(ctx, client.id, { requireSecondFactor: true })
    try {
      const setup = await openPage(browser, oidc.authorizePath())
      expect(setup.html).toContain(SETUP)
      const done = await submit(await setUp(setup), { step: 'codes-saved' })
      expect(await claimsOf(done)).toMatchObject({ acr: 'urn:vestibule:mfa', amr: ['otp', 'mfa'] })
    } finally {
      await updateClient(ctx, client.id, { requireSecondFactor: null })
    }
  })
})

describe('a request for two factors', () => {
  test('by an essential acr leads through a second factor', async ({
    enterPasscode,
    setUp,
    submit,
    claimsOf,
  }) => {
    const setup = await enterPasscode({ claims: ESSENTIAL })
    expect(setup.html).toContain(SETUP)
    const done = await submit(await setUp(setup), { step: 'codes-saved' })
    expect(await claimsOf(done)).toMatchObject({ acr: 'urn:vestibule:mfa' })
  })

  test('by an essential acr ends with an error where no method satisfies it', async ({
    require,
    browser,
    oidc,
  }) => {
    await require({ secondFactor: 'off', signInMethods: ['passcode'] })
    try {
      const { location } = await browser.open(oidc.authorizePath({ claims: ESSENTIAL }))
      expect(answerIn(location).error).toBe('unmet_authentication_requirements')
    } finally {
      await require({ signInMethods: null })
    }
  })

  test('by acr_values asks users who have a second factor, also in a session, and no others', async ({
    ctx,
    tenant,
    person,
    browser,
    newPerson,
    newBrowser,
    oidc,
    enterPasscode,
    submit,
    claimsOf,
  }) => {
    expect(answerIn((await enterPasscode()).location).code).toMatch(/./)
    const { secret } = await enrollTotp(ctx, person.id)
    const values = { acr_values: 'urn:vestibule:mfa' }
    const asked = await openPage(browser, oidc.authorizePath(values))
    expect(asked.html).toContain('<h1>Enter the code from your app</h1>')
    const done = await submit(asked, { step: 'totp', code: computeTotp(secret) })
    expect(await claimsOf(done)).toMatchObject({ acr: 'urn:vestibule:mfa' })
    const { proofs } = await dbFor(tenant).session.findFirstOrThrow({
      where: { tenantId: tenant, userId: person.id, kind: 'browser' },
    })
    expect((proofs as { method: string }[]).map(({ method }) => method)).toEqual(['passcode', 'totp'])
    const other = await newPerson()
    const { location } = await enterPasscode(values, newBrowser(), other.email)
    expect(await claimsOf({ location })).toMatchObject({ acr: 'urn:vestibule:otp' })
  })
})
