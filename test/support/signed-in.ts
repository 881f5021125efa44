import { test as base } from './fixtures.ts'

/** `test` with a user and a browser with the user's session, for all tests of a file. */
export const test = base
  .extend('user', { scope: 'file' }, ({ newPerson }) => newPerson())
  .extend('signedIn', { scope: 'file' }, async ({ newBrowser, oidc, user }) => {
    const browser = newBrowser()
    await oidc.signIn(browser, user.email)
    return browser
  })
