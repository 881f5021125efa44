import { decodeJwt } from 'jose'
import { dbFor } from '../../src/database/db.ts'
import { startSessionIn } from './browser-session.ts'
import { AFTER } from './logout.ts'
import { answerIn } from './protocol.ts'
import { test as base } from './visitor.ts'

export const OTHER_AFTER = 'https://other.example.com/bye'
export const NATIVE_AFTER = 'http://127.0.0.1/signed-out'

/** Outcomes of a logout request, as `readOutcome` returns them. */
export const ASKED = '200 Sign out?'
export const REJECTED = '400 Sign out?'
export const SIGNED_OUT = '200 You are signed out'

type ClientName = 'web' | 'other' | 'native'
type TestClient = { id: string; secret: string }
type Own = { tenant: string; clients: Record<ClientName, TestClient>; idTokens: Record<ClientName, string> }
/** Builds the parameters of a logout request. */
export type Parameters = (own: Own) => Record<string, string> | Promise<Record<string, string>>

/** The location that a response redirects to, or the status and heading of its page. */
export async function readOutcome(response: Response): Promise<string> {
  const location = response.headers.get('location')
  if (location) return location
  const html = await response.text()
  const [, title = ''] = /<h1[^>]*>([^<]+)</.exec(html) ?? []
  return `${response.status} ${title}`
}

/** `test` with a user who is signed in at three clients, for each test. */
export const test = base
  .extend('clients', { scope: 'file' }, async ({ newClient }) => ({
    web: await newClient({ allowedLogoutUrls: [AFTER, NATIVE_AFTER] }),
    other: await newClient({ allowedLogoutUrls: [OTHER_AFTER] }),
    native: await newClient({ appType: 'native', allowedLogoutUrls: [NATIVE_AFTER] }),
  }))
  /** Issues an ID token to each client for the session of the browser. */
  .extend('issueIdTokens', ({ browser, clients, oidc }) => async (more: Record<string, string> = {}) => {
    const issueFor = async (client: TestClient): Promise<string> => {
      const answer = await browser.fetch(oidc.authorizePath({ prompt: 'none', ...more }, client))
      const { code = '' } = answerIn(answer.headers.get('location'))
      return (await oidc.exchange(code, {}, client)).body.id_token as string
    }
    return {
      web: await issueFor(clients.web),
      other: await issueFor(clients.other),
      native: await issueFor(clients.native),
    }
  })
  /** Signs another user in with the browser; returns the ID tokens of the clients. */
  .extend('signInAgain', ({ browser, clients, newPerson, oidc, issueIdTokens }) => async () => {
    const { email } = await newPerson()
    await oidc.signIn(browser, email, { prompt: 'login' }, clients.web)
    return issueIdTokens({ login_hint: email })
  })
  .extend('idTokens', async ({ browser, tenant, newPerson, issueIdTokens }) => {
    await startSessionIn(browser, tenant, (await newPerson()).id)
    return issueIdTokens()
  })
  .extend('endpoint', { scope: 'file' }, ({ tenant }) => `/${tenant}/oidc/logout`)
  /** Sends a logout request with the browser. */
  .extend(
    'logout',
    ({ browser, endpoint }) =>
      (params: Record<string, string>) =>
        browser.fetch(`${endpoint}?${new URLSearchParams(params)}`),
  )
  /** Whether the session of an ID token is active. */
  .extend('isActive', { scope: 'file' }, ({ tenant }) => async (idToken: string): Promise<boolean> => {
    const id = decodeJwt(idToken).sid as string
    const session = await dbFor(tenant).session.findUniqueOrThrow({
      where: { tenantId_id: { tenantId: tenant, id } },
    })
    return session.endedAt === null
  })
