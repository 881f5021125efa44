import { describe, expect } from 'vitest'
import { revokeCredential } from '../../../src/credentials/credentials.ts'
import { updateSettings } from '../../../src/tenants/settings.ts'
import { resetCooldown } from '../../support/account.ts'
import { test as base } from '../../support/passkeys.ts'
import { codeFor } from '../../support/protocol.ts'

const CONSENT = '<h1><span>Allow '

const readSignal = (html: string) => {
  const text = /data-accepted="([^"]*)"/.exec(html)?.[1]
  return text === undefined
    ? null
    : (JSON.parse(text.replaceAll('&quot;', '"')) as {
        rpId: string
        userId: string
        allAcceptedCredentialIds: string[]
      })
}

const test = base
  .extend('consenting', { scope: 'file' }, ({ newClient }) => newClient({ requireConsent: true }))
  .extend('openFirstPage', ({ browser, oidc, consenting }) => async (more: Record<string, string> = {}) => {
    const { response, path } = await browser.open(oidc.authorizePath(more, consenting))
    return { response, html: await response.text(), path }
  })
  .extend('enterCode', ({ tenant, browser, person, openFirstPage }) => async (code?: string) => {
    await resetCooldown(tenant, person.email)
    const first = await openFirstPage()
    const page = await browser.submit(first, { step: 'email', address: person.email })
    const sent = { html: await page.response.text(), path: page.path }
    const { response } = await browser.submit(sent, {
      step: 'code',
      code: code ?? (await codeFor(person.email)),
    })
    return response.text()
  })

describe('the page after a sign-in', () => {
  test('names the accepted passkeys of the user to the browser', async ({
    ctx,
    person,
    newPerson,
    passkeys,
    openFirstPage,
    enterCode,
    browser,
  }) => {
    const [first, second] = [await passkeys.enroll(person.id), await passkeys.enroll(person.id)]
    await passkeys.enroll((await newPerson()).id)
    const { html } = await passkeys.present(await openFirstPage(), second)
    expect(html).toContain(CONSENT)
    expect(readSignal(html)).toEqual({
      rpId: 'localhost',
      userId: expect.stringMatching(/^[\w-]{43}$/),
      allAcceptedCredentialIds: expect.toSatisfy((ids: string[]) =>
        [first.id, second.id].every((id) => ids.length === 2 && ids.includes(id)),
      ),
    })
    await revokeCredential(ctx, second.credentialId)
    browser.cookies.clear()
    const next = await enterCode()
    expect(next).toContain(CONSENT)
    expect(readSignal(next)?.allAcceptedCredentialIds).toEqual([first.id])
  })

  test('names no passkeys to the browser of a user who has signed in earlier', async ({
    browser,
    person,
    oidc,
    passkeys,
    openFirstPage,
  }) => {
    await passkeys.enroll(person.id)
    await oidc.signIn(browser, person.email)
    const { html } = await openFirstPage()
    expect(html).toContain(CONSENT)
    expect(readSignal(html)).toBeNull()
  })

  test('names no passkeys where passkeys are off', async ({
    ctx,
    person,
    passkeys,
    enterCode,
    onTestFinished,
  }) => {
    await passkeys.enroll(person.id)
    await updateSettings(ctx, { signInMethods: ['passcode'] })
    onTestFinished(async () => {
      await updateSettings(ctx, { signInMethods: null })
    })
    const html = await enterCode()
    expect(html).toContain(CONSENT)
    expect(readSignal(html)).toBeNull()
  })
})

describe('the pages before a sign-in', () => {
  test('name no passkeys, also not after a wrong code', async ({
    person,
    passkeys,
    openFirstPage,
    enterCode,
  }) => {
    const { id } = await passkeys.enroll(person.id)
    const pages = [(await openFirstPage()).html, await enterCode('000000')]
    expect(pages[1]).toContain('code')
    for (const html of pages) {
      expect(readSignal(html)).toBeNull()
      expect(html).not.toContain(id)
    }
  })
})
