import { describe, expect } from 'vitest'
import { updateSettings } from '../../../../src/tenants/settings.ts'
import { lockUser } from '../../../../src/users/users.ts'
import { resetCooldown } from '../../../support/account.ts'
import { dbFor } from '../../../support/database.ts'
import type { Page } from '../../../support/hosted-pages.ts'
import { test as base } from '../../../support/passkeys.ts'
import { answerIn, codeFor } from '../../../support/protocol.ts'

const TITLE = '<h1>Terms of use</h1>'
const NEW_TITLE = '<h1>The terms of use have changed</h1>'

const test = base
  /** The terms of the tenant, and what the user has agreed to. */
  .extend('terms', ({ ctx, tenant, person }, { onCleanup }) => {
    onCleanup(async () => {
      await updateSettings(ctx, { termsUrl: null, termsVersion: null })
    })
    return {
      set: (termsVersion: string | null, termsUrl: string | null = 'https://acme.example/terms') =>
        updateSettings(ctx, { termsUrl, termsVersion }),
      readConsent: async () => {
        const user = await dbFor(tenant).user.findUnique({
          where: { tenantId_id: { tenantId: tenant, id: person.id } },
        })
        return [user?.termsVersion, user?.termsAcceptedAt] as const
      },
    }
  })
  .extend('visit', ({ tenant, browser, person, start }) => {
    const submit = async (page: Pick<Page, 'html' | 'path'>, form: Record<string, string>) => {
      const next = await browser.submit(page, form)
      return { ...next, html: await next.response.text() }
    }
    return {
      submit,
      /** Signs in by a code as far as the page that follows. */
      enterCode: async (more: Record<string, string> = {}) => {
        await resetCooldown(tenant, person.email)
        const page = await submit(await start(browser, more), { step: 'email', address: person.email })
        return submit(page, { step: 'code', code: await codeFor(person.email) })
      },
    }
  })

const agreement = (version: string) => ({ step: 'agree', terms: 'on', 'terms-version': version })

describe('a user who signs in', () => {
  test('agrees to the terms once, and again to a new version', async ({
    person,
    browser,
    oidc,
    events,
    terms,
    visit,
  }) => {
    await terms.set('1')
    const page = await visit.enterCode()
    expect(page.path).toMatch(/\/terms$/)
    expect(page.html).toContain(TITLE)
    expect(page.html).toContain('href="https://acme.example/terms"')
    expect(answerIn((await visit.submit(page, agreement('1'))).location).code).toMatch(/./)
    expect(await terms.readConsent()).toEqual(['1', expect.any(Date)])
    expect(answerIn((await browser.open(oidc.authorizePath())).location).code).toMatch(/./)

    await terms.set('2')
    const { response, path } = await browser.open(oidc.authorizePath())
    const html = await response.text()
    expect(html).toContain(NEW_TITLE)
    expect(answerIn((await visit.submit({ html, path }, agreement('2'))).location).code).toMatch(/./)
    expect((await terms.readConsent())[0]).toBe('2')
    expect(await events({ type: 'user.terms_accepted', userId: person.id })).toMatchObject([
      { detail: { version: '1' } },
      { detail: { version: '2' } },
    ])
  })

  test('agrees after a passkey too', async ({ person, terms, passkeys, start, visit }) => {
    const passkey = await passkeys.enroll(person.id)
    await terms.set('1')
    const page = await passkeys.present(await start(), passkey)
    expect(page.html).toContain(TITLE)
    expect(answerIn((await visit.submit(page, agreement('1'))).location).code).toMatch(/./)
  })

  test.for<[termsVersion: string | null, termsUrl: string | null]>([
    [null, 'https://acme.example/terms'],
    ['1', null],
  ])('is not asked where the version is %j and the URL %j', async ([version, url], { terms, visit }) => {
    await terms.set(version, url)
    expect(answerIn((await visit.enterCode()).location).code).toMatch(/./)
  })

  test('is not asked in a request with prompt=none', async ({ browser, oidc, terms, visit }) => {
    await visit.enterCode()
    await terms.set('1')
    const { location } = await browser.open(oidc.authorizePath({ prompt: 'none' }))
    expect(answerIn(location).code).toMatch(/./)
  })

  test('agrees to no version but the one that the page shows', async ({ events, person, terms, visit }) => {
    await terms.set('1')
    const page = await visit.enterCode()
    await terms.set('2')
    const again = await visit.submit(page, agreement('1'))
    expect(again.html).toContain('The terms of use have changed. Read them and agree again.')
    const forms: Record<string, string>[] = [
      { step: 'agree' },
      { step: 'agree', terms: 'on', 'terms-version': 'x' },
    ]
    for (const form of forms) expect((await visit.submit(again, form)).html).toContain('agree again')
    expect(await terms.readConsent()).toEqual([null, null])
    expect(await events({ type: 'user.terms_accepted', userId: person.id })).toEqual([])
  })

  test('can cancel, or continue as another user', async ({ terms, visit }) => {
    await terms.set('1')
    const other = await visit.submit(await visit.enterCode(), { step: 'switch' })
    expect(other.html).toContain('Email address')
    const canceled = await visit.submit(await visit.enterCode({ prompt: 'login' }), { step: 'cancel' })
    expect(answerIn(canceled.location).error).toBe('access_denied')
    expect(await terms.readConsent()).toEqual([null, null])
  })

  test('agrees once when the form is posted ten times at once', async ({
    person,
    browser,
    events,
    terms,
    visit,
  }) => {
    await terms.set('1')
    const page = await visit.enterCode()
    await Promise.all(Array.from({ length: 10 }, () => browser.submit(page, agreement('1'))))
    expect(await events({ type: 'user.terms_accepted', userId: person.id })).toHaveLength(1)
  })

  test('does not agree for another user, or after being locked', async ({
    ctx,
    person,
    newBrowser,
    terms,
    visit,
  }) => {
    await terms.set('1')
    const page = await visit.enterCode()
    const { response } = await newBrowser().submit(page, agreement('1'))
    expect(response.status).toBe(410)
    await lockUser(ctx, person.id)
    await visit.submit(page, agreement('1'))
    expect(await terms.readConsent()).toEqual([null, null])
  })
})
