import { authenticateToken } from '../../src/access/authenticate.ts'
import { test as base } from './fixtures.ts'
import type { PageBrowser } from './page-browser.ts'
import type { PersonClient } from './people.ts'
import { answerIn } from './protocol.ts'

/** Scopes by which a client gets a refresh token and a session of its own. */
const OFFLINE = { scope: 'openid email offline_access session' }

export const test = base
  /** Signs a new user in at a client; returns the browser and the tokens. */
  .extend(
    'signInNew',
    { scope: 'file' },
    ({ newBrowser, newPerson, oidc }) =>
      async (client: PersonClient) => {
        const browser = newBrowser()
        const { email } = await newPerson()
        const done = await oidc.signIn(browser, email, OFFLINE, client)
        const { body } = await oidc.exchange(answerIn(done.location).code ?? '', {}, client)
        return { browser, tokens: body }
      },
  )
  /** A code of a client for the user who is signed in. */
  .extend(
    'newCode',
    { scope: 'file' },
    ({ oidc }) =>
      async (browser: PageBrowser, client: PersonClient): Promise<string> => {
        const response = await browser.fetch(oidc.authorizePath({ ...OFFLINE, prompt: 'none' }, client))
        return answerIn(response.headers.get('location')).code ?? ''
      },
  )
  .extend(
    'authenticate',
    { scope: 'file' },
    ({ tenant }) =>
      (token = '') =>
        authenticateToken({ tenant, requestId: 'test', ip: null, userAgent: null }, `Bearer ${token}`),
  )
  .extend(
    'requestToken',
    { scope: 'file' },
    ({ oidc }) =>
      (client: PersonClient) =>
        oidc.token({ grant_type: 'client_credentials' }, client),
  )
