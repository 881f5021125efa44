import { describe, expect } from 'vitest'
import { updateSettings } from '../../src/tenants/settings.ts'
import { startSessionIn } from '../support/browser-session.ts'
import { openPage, test } from '../support/hosted-pages.ts'

const languageOf = (html: string): string | undefined => /<html lang="([\w-]+)"/.exec(html)?.[1]

/** Chooses a language at the menu of a page. */
const choose = (language: string, returnTo: string) => ({ language, return_to: returnTo })

describe('the language of a hosted page', () => {
  test('is that of ui_locales, the choice of the browser, Accept-Language or the tenant, in this order', async ({
    ctx,
    tenant,
    newBrowser,
    oidc,
  }) => {
    await updateSettings(ctx, { defaultLocale: 'ar' })
    const by = newBrowser()
    const acceptGerman = { headers: { 'accept-language': 'xx, de-CH;q=0.8, en;q=0.5' } }
    const device = `/${tenant}/device`
    const read = async (path: string, init?: RequestInit) =>
      languageOf(await (await by.fetch(path, init)).text())
    expect(await read(device)).toBe('ar')
    expect(await read(device, acceptGerman)).toBe('de')
    await by.post(`/${tenant}/language`, choose('en', device))
    expect(await read(device, acceptGerman)).toBe('en')
    const { html } = await openPage(by, oidc.authorizePath({ ui_locales: 'tlh de-AT ar' }))
    expect(languageOf(html)).toBe('de')
    expect(html).toContain('Anmelden')
    for (const [tag, language] of [
      ['de_DE', 'de'],
      ['iw', 'he'],
    ] as const)
      expect(languageOf((await openPage(newBrowser(), oidc.authorizePath({ ui_locales: tag }))).html)).toBe(
        language,
      )
    await updateSettings(ctx, { defaultLocale: null })
  })

  test('is that of the locale of a signed-in user', async ({ tenant, newPerson, newBrowser, oidc }) => {
    const person = await newPerson({ locale: 'de-AT' })
    const by = newBrowser()
    await startSessionIn(by, tenant, person.id)
    const { html } = await openPage(by, oidc.authorizePath({ prompt: 'select_account' }))
    expect(languageOf(html)).toBe('de')
  })

  test('is named in the response', async ({ tenant, newBrowser }) => {
    const { headers } = await newBrowser().fetch(`/${tenant}/device`, {
      headers: { 'accept-language': 'de' },
    })
    expect(headers.get('content-language')).toBe('de')
    expect(headers.get('vary')).toContain('Accept-Language')
  })

  test('is English where no known language is asked for', async ({ tenant, newBrowser }) => {
    for (const tag of ['tlh', '"><script>', 'x'.repeat(500)]) {
      const init = { headers: { 'accept-language': tag, cookie: `vst_lang=${encodeURIComponent(tag)}` } }
      const path = `/${tenant}/device?ui_locales=${encodeURIComponent(tag)}`
      expect(languageOf(await (await newBrowser().fetch(path, init)).text())).toBe('en')
    }
  })

  test('of an error page is that of ui_locales', async ({ tenant, newBrowser }) => {
    const response = await newBrowser().fetch(`/${tenant}/oidc/authorize?client_id=none&ui_locales=de`)
    expect([response.status, languageOf(await response.text())]).toEqual([400, 'de'])
  })
})

describe('the menu of languages', () => {
  test('leads back to the page, whose language it changes even where a client asks for one', async ({
    tenant,
    newBrowser,
    oidc,
  }) => {
    const by = newBrowser()
    const page = await openPage(by, oidc.authorizePath({ ui_locales: 'ar' }))
    expect(languageOf(page.html)).toBe('ar')
    expect(page.html).toContain(`name="return_to" value="${page.path}"`)
    const response = await by.post(`/${tenant}/language`, choose('de', page.path))
    expect([response.status, response.headers.get('location')]).toEqual([303, page.path])
    const [forTenant, forSignIn] = response.headers.getSetCookie()
    expect(forTenant).toMatch(`Path=/${tenant}/; HttpOnly; SameSite=Lax`)
    expect(forSignIn).toMatch(`Path=${page.path}; HttpOnly; SameSite=Lax`)
    expect(languageOf((await openPage(by, page.path)).html)).toBe('de')
  })

  test.for([
    ['enroll?token=x&next=account', 'enroll?token=x&next=account'],
    ['invitation?token=x&other=1', 'invitation?token=x'],
    [
      'oidc/logout?logout_hint=ada%40acme.example&ui_locales=de',
      'oidc/logout?logout_hint=ada%40acme.example',
    ],
  ])('keeps the parameters of %s that the page needs', async ([from, back], { tenant, newBrowser }) => {
    const response = await newBrowser().fetch(`/${tenant}/${from}`, { headers: { accept: 'text/html' } })
    const value = `/${tenant}/${back}`.replaceAll('&', '&amp;')
    expect(await response.text()).toContain(`name="return_to" value="${value}"`)
  })

  test('leads nowhere but to pages of the tenant', async ({ tenant, newBrowser }) => {
    const targets = [
      'https://evil.example/',
      '//evil.example/',
      `/${tenant}/../other/account`,
      `/${tenant}/%2e%2e/other/account`,
      `/${tenant}\\..\\..\\evil.example`,
      '',
    ]
    for (const target of targets) {
      const response = await newBrowser().post(`/${tenant}/language`, choose('de', target))
      expect(response.headers.get('location')).toBe(`/${tenant}/account`)
    }
  })

  test('rejects an unknown language', async ({ tenant, newBrowser }) => {
    for (const language of ['tlh', '', 'de; Path=/']) {
      const response = await newBrowser().post(`/${tenant}/language`, choose(language, `/${tenant}/device`))
      expect([response.status, response.headers.getSetCookie()]).toEqual([400, []])
    }
  })

  test('says in its language what is wrong with an input', async ({ newBrowser, start }) => {
    const by = newBrowser()
    const page = await start(by, { ui_locales: 'de' })
    const { response } = await by.submit(page, { step: 'email', address: 'nobody' })
    expect(await response.text()).toContain('Geben Sie eine E-Mail-Adresse oder eine Telefonnummer ein')
  })
})
