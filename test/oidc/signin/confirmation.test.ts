import { describe, expect } from 'vitest'
import { test } from '../../support/hosted-pages.ts'

const CONFIRM = '<h1>Confirm it’s you</h1>'

describe('the first page for a user who is signed in', () => {
  test('says that it is a confirmation, why and of whom', async ({ browser, person, oidc, start }) => {
    await oidc.signIn(browser, person.email)
    for (const [request, why] of [
      [{ prompt: 'login' }, 'needs a recent sign-in'],
      [{ max_age: '0' }, 'needs a recent sign-in'],
      [{ acr_values: 'phr' }, 'needs a more secure sign-in than your last one'],
    ] as const) {
      const { html } = await start(browser, request)
      expect(html).toContain(CONFIRM)
      expect(html).toContain(why)
      expect(html).toContain(`Sign in again as <bdi class="given">${person.email}</bdi>`)
    }
  })

  test('is a sign-in for a stranger, for another user, and for a new account', async ({
    browser,
    newBrowser,
    person,
    oidc,
    start,
  }) => {
    expect((await start(newBrowser(), { prompt: 'login' })).html).not.toContain(CONFIRM)
    await oidc.signIn(browser, person.email)
    const other = await start(browser, { login_hint: 'eve@example.com' })
    expect(other.html).not.toContain(CONFIRM)
    expect(other.html).not.toContain(`as <bdi class="given">${person.email}`)
  })

  test('leads to where an app or a passkey is added, if a sign-in without one gains nothing', async ({
    browser,
    person,
    oidc,
    start,
    tenant,
  }) => {
    await oidc.signIn(browser, person.email)
    const essential = JSON.stringify({ id_token: { acr: { essential: true, value: 'urn:vestibule:mfa' } } })
    for (const [request, words] of [
      [{ acr_values: 'urn:vestibule:mfa' }, 'No passkey and no authenticator app yet?'],
      [{ acr_values: 'phr' }, 'No passkey yet?'],
      [{ max_age: '0' }, null],
      [{ claims: essential }, null],
    ] as const) {
      const { html } = await start(browser, request)
      const link = `<a href="/${tenant}/account/sign-in-methods" target="_blank"`
      expect([request, html.includes(link)]).toEqual([request, words !== null])
      if (words) expect(html).toContain(words)
    }
  })
})
