import { describe, expect } from 'vitest'
import { updateSettings } from '../../../../src/tenants/settings.ts'
import { createCredential } from '../../../support/authenticator.ts'
import { dbFor } from '../../../support/database.ts'
import { openPage, type Page } from '../../../support/hosted-pages.ts'
import { readCreationOptions } from '../../../support/passkeys.ts'
import { answerIn } from '../../../support/protocol.ts'
import { test as base } from '../../../support/second-factor.ts'
import { enrollTotp } from '../../../support/totp.ts'

const TITLE = '<h1>Create a passkey</h1>'
const REJECTED = 'The passkey could not be saved. Try again, or choose another way.'

const test = base
  .extend('required', async ({ ctx }, { onCleanup }) => {
    onCleanup(async () => {
      await updateSettings(ctx, { secondFactor: null, signInMethods: null })
    })
    return updateSettings(ctx, { secondFactor: 'required' })
  })
  /** Signs in by a code and opens the page that creates a passkey. */
  .extend('openSetup', ({ required: _, browser, enterPasscode }) => async () => {
    const { path, html } = await enterPasscode()
    expect(html).toContain('Create a passkey instead')
    return openPage(browser, path.replace(/second-factor$/, 'passkey-setup'))
  })
  .extend(
    'createPasskey',
    ({ submit }) =>
      (page: Page, over: Parameters<typeof createCredential>[1] = {}) => {
        const { response } = createCredential(readCreationOptions(page.html), over)
        return submit(page, { step: 'create-passkey', registration: JSON.stringify(response) })
      },
  )
  .extend('stored', ({ tenant, person }) => async () => {
    const where = { tenantId: tenant, userId: person.id }
    const credentials = await dbFor(tenant).credential.findMany({ where })
    const sessions = await dbFor(tenant).session.findMany({ where: { ...where, kind: 'browser' } })
    return {
      types: credentials.map(({ type }) => type),
      proofs: sessions.map(({ proofs }) => (proofs as { method: string }[]).map(({ method }) => method)),
    }
  })
const NOTHING = { types: [], proofs: [] }

describe('a user without a second factor, where one is required', () => {
  test('creates a passkey, which completes the sign-in', async ({
    person,
    oidc,
    events,
    openSetup,
    createPasskey,
    stored,
  }) => {
    const page = await openSetup()
    expect(page.html).toContain(TITLE)
    const { location } = await createPasskey(page)
    const { body } = await oidc.exchange(answerIn(location).code ?? '')
    expect(body).toMatchObject({ id_token: expect.any(String) })
    expect(await stored()).toEqual({ types: ['public-key'], proofs: [['passcode', 'passkey']] })
    expect(await events({ type: 'credential.enrolled', userId: person.id })).toHaveLength(1)
  })

  test.for([
    ['for another origin', { origin: 'https://evil.example' }],
    ['to another challenge', { challenge: 'A'.repeat(43) }],
    ['without user verification', { flags: 0b0100_0001 }],
  ] as const)(
    'has no passkey after a response %s',
    async ([, over], { openSetup, createPasskey, stored }) => {
      const rejected = await createPasskey(await openSetup(), over)
      expect(rejected.html).toContain(REJECTED)
      expect(rejected.html).toContain(TITLE)
      expect(await stored()).toEqual(NOTHING)
    },
  )

  test('has one passkey when the form is submitted ten times at once', async ({
    openSetup,
    submit,
    stored,
  }) => {
    const page = await openSetup()
    const { response } = createCredential(readCreationOptions(page.html))
    const form = { step: 'create-passkey', registration: JSON.stringify(response) }
    const landings = await Promise.all(Array.from({ length: 10 }, () => submit(page, form)))
    expect(landings.filter(({ status }) => status >= 500)).toEqual([])
    expect(await stored()).toEqual({ types: ['public-key'], proofs: [['passcode', 'passkey']] })
  })

  test('creates no passkey after an app was enrolled at the same time', async ({
    ctx,
    person,
    openSetup,
    createPasskey,
    stored,
  }) => {
    const page = await openSetup()
    await enrollTotp(ctx, person.id)
    const { html } = await createPasskey(page)
    expect(html).toContain('<h1>Enter the code from your app</h1>')
    expect(await stored()).toEqual({ types: ['totp'], proofs: [] })
  })

  test('is not offered a passkey where the tenant has no passkeys', async ({
    ctx,
    browser,
    openSetup,
    createPasskey,
    stored,
  }) => {
    const page = await openSetup()
    await updateSettings(ctx, { signInMethods: ['passcode'] })
    expect((await createPasskey(page)).html).toContain('<h1>Set up an authenticator app</h1>')
    const { html } = await openPage(browser, page.path)
    expect(html).not.toContain('Create a passkey')
    expect(await stored()).toEqual(NOTHING)
  })
})
