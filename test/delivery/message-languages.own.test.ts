import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, vi } from 'vitest'
import type { Ctx } from '../../src/context/context.ts'
import { createCredentialEnrollmentToken } from '../../src/credentials/enrollment-tokens.ts'
import { awaitDeliveries } from '../../src/delivery/background.ts'
import { createInvitation } from '../../src/invitations/invitations.ts'
import { sendGuessNotice } from '../../src/passcodes/passcodes.ts'
import { sendPasscode } from '../../src/passcodes/send-passcode.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { announceAccountChange } from '../../src/users/deletion/account-notices.ts'
import { createUser } from '../../src/users/users.ts'
import { test as base, openPage } from '../support/hosted-pages.ts'
import { lastMail, lastText } from '../support/message-servers.ts'
import { csrfIn } from '../support/page-browser.ts'

const servers = await vi.hoisted(async () =>
  (await import('../support/message-servers.ts')).startMessageServers(),
)

/** With a user of tenant Acme, whose default language is Italian. */
const test = base.extend(
  'newReader',
  ({ ctx, email }) =>
    async (given: { locale?: string; phoneNumber?: string } = {}) => {
      await updateSettings(ctx, { friendlyName: 'Acme', defaultLocale: 'it' })
      const address = email(randomUUID())
      const verified = { emailVerified: true, phoneNumberVerified: given.phoneNumber !== undefined }
      const { id } = await createUser(ctx, { email: address, ...verified, ...given })
      return { id, email: address }
    },
)

// The app sets the renderer of mails.
test.beforeAll(({ app: _ }) => {})
beforeEach(() => servers.reset())

describe('the language of a message', () => {
  test('that a page requested is that of the page, whatever the user has', async ({
    newReader,
    oidc,
    newClient,
    newBrowser,
  }) => {
    const phoneNumber = '+41791234588'
    const person = await newReader({ locale: 'fr', phoneNumber })
    const browser = newBrowser()
    const { path, html } = await openPage(
      browser,
      oidc.authorizePath({ ui_locales: 'de-CH' }, await newClient({ name: 'Portal' })),
    )
    const request = async (address: string) => {
      await browser.post(path, { csrf: csrfIn(html), step: 'email', address })
      await awaitDeliveries()
    }
    await request(person.email)
    const { subject, html: body = '', text = '' } = lastMail(servers).email
    expect(subject).toMatch(/^\d{6} ist Ihr Code für Portal \(Acme\)$/)
    expect(text).toContain('Er kann einmal verwendet werden und läuft in 10 Minuten ab.')
    expect(body).toContain('<html lang="de" dir="ltr">')
    await request(phoneNumber)
    expect(lastText(servers).body).toMatch(
      /^\d{6} ist Ihr Code für Acme, Anmeldung bei Portal\..*\n@localhost #\d{6}$/,
    )
  })

  test('that the API requested is that of the user, otherwise that of the tenant', async ({
    ctx,
    newReader,
    email,
  }) => {
    const { email: to } = await newReader({ locale: 'ar-EG' })
    await sendPasscode(ctx, 'email', { to })
    expect(lastMail(servers).email.subject).toMatch(/^\d{6} هو رمزك لـ \u2068Acme\u2069$/)
    expect(lastMail(servers).email.html).toContain('<html lang="ar" dir="rtl">')
    await sendPasscode(ctx, 'email', { to: email('new'), createUser: true })
    expect(lastMail(servers).email.subject).toMatch(/^\d{6} è il tuo codice per Acme$/)
  })

  test('of a link and of a notice is that of the user', async ({ ctx, newReader }) => {
    const { id } = await newReader({ locale: 'ja' })
    await createCredentialEnrollmentToken(ctx, id, {})
    expect(lastMail(servers).email.subject).toBe('Acme のパスキーを作成してください')
    announceAccountChange(ctx, id, 'totp-added')
    await awaitDeliveries()
    expect(lastMail(servers).email.subject).toBe('Acme アカウントに認証アプリが追加されました')
  })

  test('of a notice is never that of the page of a stranger', async ({ ctx, newReader }) => {
    const { id, email: key } = await newReader()
    const request = { headers: new Headers({ 'accept-language': 'zh' }), url: '/' }
    const unknown = { uiLocales: null, userLocale: null, tenantLocale: null, textOverrides: null }
    const strangerCtx: Ctx = { ...ctx, language: { request, ...unknown } }
    const reader = { ownerId: id, ownerLocked: false, ownerLocale: null }
    sendGuessNotice(strangerCtx, { channel: 'email', key, shown: key }, reader)
    await awaitDeliveries()
    expect(lastMail(servers).email.subject).toBe('Sono stati inseriti codici errati per il tuo account Acme')
    const german = await newReader({ locale: 'de' })
    announceAccountChange(strangerCtx, german.id, 'identity-linked')
    await awaitDeliveries()
    expect(lastMail(servers).email.subject).toBe('Mit Ihrem Konto bei Acme wurde ein anderes Konto verbunden')
  })

  test('of an invitation is the one that the invitation names', async ({ ctx, newReader, email }) => {
    await newReader()
    await createInvitation(ctx, { email: email('guest'), locale: 'es' })
    expect(lastMail(servers).email.subject).toBe('Tienes una invitación a Acme')
    await createInvitation(ctx, { email: email('other') })
    expect(lastMail(servers).email.subject).toBe('Hai ricevuto un invito per Acme')
  })
})
