import { describe, expect } from 'vitest'
import { awaitDeliveries } from '../../src/delivery/background.ts'
import { listInboxMessages } from '../../src/delivery/inbox.ts'
import { parseClientDocument } from '../../src/registration/client-document.fields.ts'
import { openPage } from '../support/hosted-pages.ts'
import { authorizePath, signInAt } from '../support/protocol.ts'
import { test, WEB } from '../support/registration.ts'

const TRANSLATED = {
  ...WEB,
  client_name: 'Shop',
  policy_uri: 'https://rp.example.com/privacy',
  'client_name#de': 'Laden',
  'logo_uri#de': 'https://rp.example.com/de.png',
  'policy_uri#de': 'https://rp.example.com/datenschutz',
  'tos_uri#de': 'https://rp.example.com/agb',
  'client_name#ja-Hani-JP': '店',
}

describe('metadata in languages (OIDC Registration 1.0, section 2.1)', () => {
  test('is returned as it was registered, and replaced by a change', async ({ register, callEndpoint }) => {
    const { status, body } = await register({
      ...TRANSLATED,
      'client_name#FR': 'Boutique',
      'client_name#it': null,
    })
    expect(status).toBe(201)
    expect(body).toMatchObject({ ...TRANSLATED, 'client_name#fr': 'Boutique' })
    expect(body).not.toHaveProperty('client_name#it')
    const token = body.registration_access_token as string
    const path = `/${body.client_id}`
    expect((await callEndpoint('GET', path, token)).body).toMatchObject(TRANSLATED)
    const changed = await callEndpoint('PUT', path, token, {
      ...WEB,
      client_id: body.client_id,
      'client_name#de': 'Kiosk',
    })
    expect(changed.status).toBe(200)
    expect(changed.body).toMatchObject({ 'client_name#de': 'Kiosk' })
    expect(Object.keys(changed.body).filter((member) => member.includes('#'))).toEqual(['client_name#de'])
  })

  test('has a home page with a fragment, and none in another language', async ({ register }) => {
    const client_uri = 'https://rp.example.com/about#us'
    const { status, body } = await register({
      ...WEB,
      client_uri,
      'client_uri#de': 'https://rp.example.com/de',
      'client_uri#': 7,
    })
    expect([status, body.client_uri]).toEqual([201, client_uri])
    expect(Object.keys(body).filter((member) => member.includes('#'))).toEqual([])
  })

  test('is rejected with all invalid members', async ({ register }) => {
    const { status, body } = await register({
      ...WEB,
      'client_name#': 'Shop',
      'client_name#de': 7,
      'logo_uri#fr': 'http://rp.example.com/logo.png',
      'tos_uri#it': 'javascript:alert(1)',
      'client_name#pl': 'Sklep',
      'client_name#PL': 'Kiosk',
    })
    expect([status, body.error]).toEqual([400, 'invalid_client_metadata'])
    for (const member of ['client_name#', 'client_name#de', 'logo_uri#fr', 'tos_uri#it', 'client_name#PL'])
      expect(body.error_description).toContain(`${member} `)
  })

  test('has no logo in a document, because the image could change at any time', () => {
    const document = { ...TRANSLATED, client_id: 'https://rp.example.com/client', 'logo_uri#fr': 'x' }
    const { input, issues } = parseClientDocument('acme', document.client_id, document)
    expect(issues).toEqual([])
    expect(input.translations).toEqual([
      {
        locale: 'de',
        name: 'Laden',
        policyUrl: 'https://rp.example.com/datenschutz',
        termsUrl: 'https://rp.example.com/agb',
      },
      { locale: 'ja-Hani-JP', name: '店' },
    ])
  })
})

describe('a client with a name in the language of the reader', () => {
  test('has this name, logo and links on the pages of a sign-in and in the mail', async ({
    tenant,
    register,
    browser,
    newBrowser,
    person,
  }) => {
    const { body } = await register(TRANSLATED)
    const path = (language: string) =>
      authorizePath(tenant, { id: body.client_id as string }, { ui_locales: language })
    const { html: english } = await openPage(newBrowser(), path('en'))
    expect(english).toContain('Shop')
    expect(english).toContain('href="https://rp.example.com/privacy"')
    expect(english).not.toContain('Laden')
    const { html: japanese } = await openPage(newBrowser(), path('ja'))
    expect(japanese).toContain('店')
    const { html: german } = await openPage(newBrowser(), path('de-AT'))
    for (const part of [
      'Laden',
      'src="https://rp.example.com/de.png"',
      'datenschutz"',
      'href="https://rp.example.com/agb"',
    ])
      expect(german).toContain(part)
    expect(german).not.toContain('Shop')
    const asked = await signInAt(browser, path('de'), person.email)
    const consent = await asked.response.text()
    expect(consent).toContain('<bdi class="given">Laden</bdi>')
    expect(consent).toContain('href="https://rp.example.com/agb"')
    await awaitDeliveries()
    const [mail] = listInboxMessages(person.email)
    expect(mail?.body).toContain('Laden')
    expect(mail?.body).not.toContain('Shop')
  })
})
