import { describe, expect } from 'vitest'
import { listRegions } from '../../../src/oidc/signin/passcode/passcode-forms.http.ts'
import { updateSettings } from '../../../src/tenants/settings.ts'
import { createUser } from '../../../src/users/users.ts'
import { test as base, openPage } from '../../support/hosted-pages.ts'
import { csrfIn } from '../../support/page-browser.ts'
import { listTags } from '../../support/pages.tsx'
import { answerIn } from '../../support/protocol.ts'

const NUMBER = '+41791234567'

const findField = (html: string) =>
  listTags(html).find(({ attributes }) => attributes.id === 'address')?.attributes
const findLabel = (html: string) => /<label for="address">([^<]*)</.exec(html)?.[1]

/** With the answer to an address that a new browser enters. */
const test = base.extend(
  'enter',
  ({ newBrowser, oidc }) =>
    async (address: string, headers: Record<string, string> = {}, request: Record<string, string> = {}) => {
      const browser = newBrowser()
      const page = await openPage(browser, oidc.authorizePath(request))
      const form = { csrf: csrfIn(page.html), step: 'email', address }
      const { headers: answer } = await browser.post(page.path, form, headers)
      return { browser, ...(await openPage(browser, answer.get('location') ?? page.path)) }
    },
)

test.beforeAll(async ({ ctx }) => {
  await createUser(ctx, { phoneNumber: NUMBER, phoneNumberVerified: true })
})

describe('the first page of a sign-in', () => {
  test('asks for an e-mail address or a phone number, and keeps the offer of passkeys', async ({ start }) => {
    const { html } = await start()
    expect(findLabel(html)).toBe('Email address or phone number')
    expect(findField(html)).toMatchObject({ type: 'text', autocomplete: 'username webauthn' })
  })

  test.for([
    ['email', 'Email address', 'email', 'We’ll send you a code', /Enter an email address, such as/],
    ['sms', 'Phone number', 'tel', 'We’ll text you a code', /Enter a phone number, such as/],
  ] as const)(
    'asks for one of them in a tenant with %s only',
    async ([channel, label, type, hint, error], { ctx, start, enter }) => {
      await updateSettings(ctx, { passcodeChannels: [channel] })
      const { html } = await start()
      expect([findLabel(html), findField(html)?.type, findField(html)?.autocomplete]).toEqual([
        label,
        type,
        'username webauthn',
      ])
      expect(html).toContain(hint)
      const other = await enter(channel === 'email' ? 'x' : 'ada@example.com')
      expect(other.html).toMatch(error)
      await updateSettings(ctx, { passcodeChannels: null })
    },
  )

  test('does not accept a number in a tenant that sends codes by e-mail only', async ({
    ctx,
    inbox,
    enter,
  }) => {
    await updateSettings(ctx, { passcodeChannels: ['email'] })
    const { html, path } = await enter(NUMBER)
    expect(path).not.toMatch(/\/code$/)
    expect(html).toContain('Enter an email address, such as you@example.com.')
    expect(await inbox.list(NUMBER)).toEqual([])
    await updateSettings(ctx, { passcodeChannels: null })
  })

  test('shows a login_hint of either kind, except of a channel that the tenant does not have', async ({
    ctx,
    start,
    newBrowser,
  }) => {
    const readHint = async (login_hint: string) =>
      findField((await start(newBrowser(), { login_hint })).html)?.value
    expect(await readHint('ada@example.com')).toBe('ada@example.com')
    expect(await readHint('+41791234567')).toBe('+41 79 123 45 67')
    await updateSettings(ctx, { passcodeChannels: ['sms'] })
    expect(await readHint('ada@example.com')).toBe('')
    expect(await readHint('+41791234567')).toBe('+41 79 123 45 67')
    await updateSettings(ctx, { passcodeChannels: null })
  })
})

describe('a phone number in national form', () => {
  test('is understood by the language of the browser, and shown in its international form', async ({
    enter,
    inbox,
  }) => {
    const { browser, html, path } = await enter('079 123 45 67', {
      'accept-language': 'de-CH,de;q=0.9,en;q=0.8',
    })
    expect(path).toMatch(/\/code$/)
    expect(html).toMatch(/If <bdi class="given">\+41 79 123 45 67<\/bdi> can sign in, a code is on its way\./)
    expect(html).toContain('Wrong number? Change it')
    expect(html).not.toContain('spam')
    const form = { csrf: csrfIn(html), step: 'code', code: await inbox.codeFor(NUMBER) }
    await browser.post(path, form)
    expect(answerIn((await browser.open(path.replace(/\/code$/, ''))).location)).toHaveProperty('code')
  })

  test('is understood by ui_locales, and by the country of the tenant', async ({ ctx, enter }) => {
    const shown = 'If <bdi class="given">+41 79 123 45 68</bdi> can sign in'
    expect((await enter('079 123 45 68', {}, { ui_locales: 'xx! rm-CH rm' })).html).toContain(shown)
    await updateSettings(ctx, { phoneCountry: 'CH' })
    expect((await enter('079 123 45 68')).html).toContain(shown)
    await updateSettings(ctx, { phoneCountry: null })
  })

  test('that cannot be understood is asked for with its country code, and shown once more', async ({
    enter,
  }) => {
    const { html } = await enter('079 123 45 67')
    expect(html.replaceAll('\u00a0', ' ')).toContain(
      'Enter the phone number with its country code, such as +41 79 123 45 67.',
    )
    expect(findField(html)?.value).toBe('079 123 45 67')
  })

  test('has the same answer whether or not a user has it', async ({ enter }) => {
    const language = { 'accept-language': 'fr-CH' }
    const [known, unknown] = [await enter('079 123 45 67', language), await enter('079 999 99 99', language)]
    const normalize = (html: string, number: string) =>
      html
        .replaceAll(number, 'NUMBER')
        .replace(/value="[^"]*"|\/signin\/[\w-]+/g, '')
        .replace(/\d+ seconds?|data-seconds="\d+"/g, '')
    expect(normalize(known.html, '+41 79 123 45 67')).toBe(normalize(unknown.html, '+41 79 999 99 99'))
  })
})

describe('the regions of languages', () => {
  test.each([
    ['de-CH,de;q=0.9,en-US;q=0.8', ['CH', 'US']],
    ['zh-Hant-TW', ['TW']],
    ['de_CH, zh_Hant_TW', ['CH', 'TW']],
    ['en, *;q=0.1, es-419, de-x-CH', []],
    ['sr-Latn-rs', ['RS']],
    [`${'a-'.repeat(100_000)}CH`, []],
  ])('of %s are %j', (languages, regions) => {
    expect(listRegions(languages)).toEqual(regions)
  })
})
