import { startSessionIn } from './browser-session.ts'
import type { Protocol } from './calls.ts'
import { test as base, type Person } from './fixtures.ts'
import type { PageBrowser } from './page-browser.ts'
import { answerIn, type TokenAnswer } from './protocol.ts'

type Parameters = Record<string, string | null>
type ClientCredentials = { id: string; secret: string }
type TokenName = 'access_token' | 'id_token' | 'refresh_token'

/** A token response; the members that it lacks are undefined. */
export type Tokens = TokenAnswer['body'] & Record<TokenName, string>

/**
 * A user who is signed in with a browser, and what a client obtains for the user without a page
 * (prompt=none).
 */
export type Visitor = {
  user: Person
  browser: PageBrowser
  /** The parameters of the authorization response. */
  authorize: (more?: Parameters, by?: ClientCredentials) => Promise<Record<string, string>>
  /** An authorization code; throws when the response has none. */
  newCode: (more?: Parameters, by?: ClientCredentials) => Promise<string>
  /** The token response for a new code; throws unless its status is 200. */
  newTokens: (more?: Parameters, by?: ClientCredentials) => Promise<Tokens>
}

/** Starts a user's session in a browser. */
export async function startVisit(oidc: Protocol, browser: PageBrowser, user: Person): Promise<Visitor> {
  await startSessionIn(browser, user.tenantId, user.id)
  const authorize: Visitor['authorize'] = async (more, by) => {
    const { headers } = await browser.fetch(oidc.authorizePath({ prompt: 'none', ...more }, by))
    return answerIn(headers.get('location'))
  }
  const newCode: Visitor['newCode'] = async (more, by) => {
    const answer = await authorize(more, by)
    if (!answer.code) throw new Error(`no code: ${JSON.stringify(answer)}`)
    return answer.code
  }
  return {
    user,
    browser,
    authorize,
    newCode,
    newTokens: async (more, by) => {
      const { status, body } = await oidc.exchange(await newCode(more, by), {}, by)
      if (status !== 200) throw new Error(`no tokens: ${JSON.stringify(body)}`)
      return body as Tokens
    },
  }
}

/** `test` with signed-in users. */
export const test = base
  /** Makes a user and signs the user in with a new browser. */
  .extend(
    'newVisitor',
    { scope: 'file' },
    ({ oidc, newBrowser, newPerson }) =>
      async (more: { email?: string; [field: string]: unknown } = {}): Promise<Visitor> =>
        startVisit(oidc, newBrowser(), await newPerson(more)),
  )
  /** One signed-in user for all tests of a file. */
  .extend('visitor', { scope: 'file' }, ({ newVisitor }) => newVisitor())
  /** A signed-in user of one test alone. */
  .extend('ownVisitor', ({ newVisitor }) => newVisitor())
