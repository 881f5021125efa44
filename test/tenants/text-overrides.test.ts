import { describe, expect } from 'vitest'
import { awaitDeliveries } from '../../src/delivery/background.ts'
import { listInboxMessages } from '../../src/delivery/inbox.ts'
import { LANGUAGES } from '../../src/languages/catalogs.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { openPage, test } from '../support/hosted-pages.ts'
import type { Json } from '../support/json.ts'
import { countStatements } from '../support/statements.ts'

const WELCOME = { locale: 'de', key: 'signIn.title', text: 'Willkommen bei Acme' }
const SUBJECT = { locale: 'de', key: 'passcode.subject', text: 'Ihr Schlüssel für {name}: {code}' }

const TITLE = { key: WELCOME.key, text: WELCOME.text }

const SETTINGS_QUERY = '{ tenant { settings { textOverrides { locale key text } } } }'

describe('the texts of a tenant', () => {
  test('are the same over REST and GraphQL, and are unset by null', async ({ rest, gql }) => {
    const overrides = [WELCOME, SUBJECT]
    const { body } = await rest('PATCH', '/settings', { textOverrides: overrides })
    expect(body.textOverrides).toEqual(overrides)
    expect((await gql(SETTINGS_QUERY)).body.data?.tenant.settings).toEqual({ textOverrides: overrides })
    const written = await gql(
      `mutation ($input: UpdateTenantSettingsInput!) { updateTenantSettings(input: $input) {
        ... on UpdateTenantSettingsPayload { tenant { settings { textOverrides { key } } } } } }`,
      { input: { textOverrides: null } },
    )
    expect(written.body.errors).toBeUndefined()
    expect((await gql(SETTINGS_QUERY)).body.data?.tenant.settings).toEqual({ textOverrides: [] })
  })

  test('are rejected with the reason for each invalid entry, and none is stored', async ({ rest, gql }) => {
    const invalid: [entry: object, field: string, description: string][] = [
      [{ ...TITLE, key: 'signIn.nothing' }, 'key', 'must be a key of the catalogs'],
      [{ ...TITLE, key: 'toString' }, 'key', 'must be a key of the catalogs'],
      [{ ...WELCOME, locale: 'tlh' }, 'locale', 'must be a language of ui_locales_supported'],
      [{ ...TITLE, text: 'Hallo {name' }, 'text', 'must be in ICU MessageFormat'],
      [{ ...TITLE, text: 'Hallo {name}' }, 'text', 'must not have placeholders or tags'],
      [{ ...TITLE, text: '<b>Hallo</b>' }, 'text', 'must not have placeholders or tags'],
      [{ ...TITLE, text: 'Hallo<br/>' }, 'text', 'must not have placeholders or tags'],
      [{ ...TITLE, text: 'Hallo\r\nBcc: x' }, 'text', 'must not contain control characters'],
      [{ ...TITLE, text: '' }, 'text', 'must not be empty'],
      [{ ...TITLE, text: 'x'.repeat(1001) }, 'text', 'must have at most 1000 characters'],
      [
        { key: SUBJECT.key, text: 'Für {name}' },
        'text',
        'must have exactly these placeholders: {code} {name}',
      ],
      [{ key: SUBJECT.key, text: '{code} {name, date}' }, 'text', 'must use {name} as the message does'],
    ]
    // Each in another language, so that no entry is given twice.
    const textOverrides = invalid.map(([entry], index) => ({ locale: LANGUAGES[index], ...entry }))
    const expected = invalid.map(([, field, description], index) => ({
      field: `textOverrides.${index}.${field}`,
      description,
    }))
    const { status, body } = await rest('PATCH', '/settings', { textOverrides })
    expect([status, body.fields]).toEqual([400, expected])
    const twice = await rest('PATCH', '/settings', { textOverrides: [WELCOME, WELCOME] })
    expect(twice.body.fields).toEqual([
      { field: 'textOverrides.1.key', description: 'is given twice in this language' },
    ])
    expect((await gql(SETTINGS_QUERY)).body.data?.tenant.settings as Json).toEqual({ textOverrides: [] })
  })

  test('are in the pages and mails of their language, and cost no statement', async ({
    ctx,
    newBrowser,
    person,
    oidc,
  }) => {
    const path = oidc.authorizePath({ ui_locales: 'de' })
    // The fewest of some visits: one of them may read the tenant again, whose row is cached for a second.
    const countFewest = async () => {
      const counts: number[] = []
      for (let visit = 0; visit < 3; visit++)
        counts.push(await countStatements(() => openPage(newBrowser(), path)))
      return Math.min(...counts)
    }
    const before = await countFewest()
    await updateSettings(ctx, { textOverrides: [WELCOME, SUBJECT] })
    expect(await countFewest()).toBe(before)
    const browser = newBrowser()
    const page = await openPage(browser, path)
    expect(page.html).toContain('<h1>Willkommen bei Acme</h1>')
    const { html: english } = await openPage(newBrowser(), oidc.authorizePath({ ui_locales: 'en' }))
    expect(english).toContain('<h1>Sign in</h1>')
    await browser.submit(page, { step: 'email', address: person.email })
    await awaitDeliveries()
    expect(listInboxMessages(person.email)[0]?.subject).toMatch(/^Ihr Schlüssel für .+: \d{6}$/)
    await updateSettings(ctx, { textOverrides: null })
  })

  test('may be given in each language', async ({ rest }) => {
    const textOverrides = LANGUAGES.map((locale) => ({ locale, key: 'signIn.title', text: 'Acme' }))
    expect((await rest('PATCH', '/settings', { textOverrides })).status).toBe(200)
    expect((await rest('PATCH', '/settings', { textOverrides: [] })).status).toBe(200)
  })
})
