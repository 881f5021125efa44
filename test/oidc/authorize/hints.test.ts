import { describe, expect } from 'vitest'
import { answerIn } from '../../support/protocol.ts'
import { test as base } from '../../support/visitor.ts'

/** `test` with a user who is signed in with an address and a phone number. */
const test = base
  .extend('user', { scope: 'file' }, ({ newPerson, email }) =>
    newPerson({ email: email('ada'), phoneNumber: '+41791234567' }),
  )
  .extend('signedIn', { scope: 'file' }, async ({ newBrowser, newPerson, email, oidc, user }) => {
    await newPerson({ email: email('eve') })
    const browser = newBrowser()
    await oidc.signIn(browser, user.email)
    return browser
  })
  /** Writes out `{domain}`, the domain of the tenant's addresses, and `{DOMAIN}`, the same in capitals. */
  .extend(
    'expand',
    { scope: 'file' },
    ({ email }) =>
      (text: string) =>
        text.replace('@{domain}', email('')).replace('@{DOMAIN}', email('').toUpperCase()),
  )
  /**
   * Opens an authorization request; returns the address on the sign-in page, if that is shown, and the
   * response.
   */
  .extend(
    'visit',
    { scope: 'file' },
    ({ oidc, signedIn, expand }) =>
      async (more: Record<string, string>, by = signedIn) => {
        const parameters = Object.entries(more).map(([name, value]) => [name, expand(value)])
        const { response, path, location } = await by.open(oidc.authorizePath(Object.fromEntries(parameters)))
        const html = await response.text()
        const field = /<input id="address"[^>]*>/.exec(html)?.[0]
        const filledIn = field && (/ value="([^"]*)"/.exec(field)?.[1] ?? '')
        return { filledIn, page: { html, path }, answer: answerIn(location) }
      },
  )

const login = { prompt: 'login' }

describe('the address on the sign-in page', () => {
  test.for<[name: string, more: Record<string, string>, expected: string]>([
    ['is that of the signed-in user, with prompt=login', login, 'ada@{domain}'],
    ['is that of the signed-in user, with max_age=0', { max_age: '0' }, 'ada@{domain}'],
    ['is the login_hint, as it was sent', { ...login, login_hint: 'Ada@{domain}' }, 'Ada@{domain}'],
    ['is the login_hint of another user', { ...login, login_hint: 'eve@{domain}' }, 'eve@{domain}'],
    [
      'is that of the signed-in user when the login_hint is not an address',
      { ...login, login_hint: 'ada' },
      'ada@{domain}',
    ],
  ])('%s', async ([_name, more, expected], { expand, visit }) => {
    expect((await visit(more)).filledIn).toBe(expand(expected))
  })

  test('is empty in another browser', async ({ newBrowser, visit }) => {
    expect((await visit(login, newBrowser())).filledIn).toBe('')
  })

  test('is empty after the user chooses another address', async ({ user, signedIn, visit }) => {
    const { page } = await visit({ ...login, login_hint: user.email })
    const sent = await signedIn.submit(page, { step: 'email', address: user.email })
    const codePage = { path: sent.path, html: await sent.response.text() }
    const { response } = await signedIn.submit(codePage, { step: 'restart' })
    expect(await response.text()).not.toContain(user.email)
  })
})

describe('the parameter login_hint (OIDC Core, section 3.1.2.1)', () => {
  test.for(['ada@{domain}', 'ADA@{DOMAIN}', ' ada@{domain}', '+41 79 123 45 67', 'ada', '42'])(
    'continues the session of the signed-in user for %j',
    async (hint, { visit }) => {
      expect((await visit({ login_hint: hint, prompt: 'none' })).answer).toHaveProperty('code')
    },
  )

  test.for(['eve@{domain}', 'unknown@{domain}', '+41 79 765 43 21'])(
    'requires a sign-in for %j, which is not an address of the signed-in user',
    async (hint, { expand, visit }) => {
      expect((await visit({ login_hint: hint })).filledIn).toBe(expand(hint))
      expect((await visit({ login_hint: hint, prompt: 'none' })).answer).toMatchObject({
        error: 'login_required',
      })
    },
  )

  test('does not bind the sign-in to its address', async ({ email, newPerson, newBrowser, oidc }) => {
    const by = newBrowser()
    const [eve, bob] = [await newPerson(), await newPerson()]
    await oidc.signIn(by, eve.email)
    const more = { login_hint: email('alias') }
    expect(answerIn((await oidc.signIn(by, bob.email, more)).location)).toHaveProperty('code')
  })

  test('is shown with a replacement character when it is cut within a character', async ({
    newBrowser,
    visit,
  }) => {
    const { filledIn } = await visit({ login_hint: `${'x'.repeat(319)}😀` }, newBrowser())
    expect(filledIn).toBe(`${'x'.repeat(319)}\ufffd`)
  })
})
