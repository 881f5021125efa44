import { answerIn } from './protocol.ts'
import { test as base } from './visitor.ts'

/** `test` with a user who is signed in with an address and a phone number. */
export const test = base
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
