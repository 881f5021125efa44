import { decodeJwt } from 'jose'
import type { LogEvent } from '../../src/events/log.ts'
import { logOf } from './events.ts'
import { PageBrowser } from './page-browser.ts'
import {
  answerIn,
  authorizePath,
  exchange,
  makeClient,
  type Origin,
  signInAt,
  type TokenAnswer,
} from './protocol.ts'
export type PersonClient = Awaited<ReturnType<typeof makeClient>>

/** What a sign-in at a client leads to. */
export type SignedIn = {
  token: string
  userId: string
  sessionId: string
  audience: string[]
  browser: PageBrowser
  answer: TokenAnswer['body']
}

/** A client in the browser, as single-page applications are, that may ask for scope `account`. */
export const makeSpa = (
  tenant: string,
  { scopes = [], ...more }: { scopes?: readonly string[]; [field: string]: unknown } = {},
): Promise<PersonClient> =>
  makeClient(tenant, { appType: 'single-page', scopes: ['account', ...scopes], ...more })

export type SignInOptions = { scope?: string; browser?: PageBrowser; parameters?: Record<string, string> }

/**
 * Signs a user in at a client: authorize with PKCE, the hosted pages, a code, and consent if it is requested.
 * A `browser` with a session enters no other code, unless `parameters` of authorize require one.
 */
export async function signInAs(
  app: Origin,
  tenant: string,
  client: Pick<PersonClient, 'id' | 'secret'>,
  email: string,
  options: SignInOptions = {},
): Promise<SignedIn> {
  const browser = options.browser ?? new PageBrowser(app.origin)
  const path = authorizePath(tenant, client, {
    scope: options.scope ?? 'openid profile account',
    ...options.parameters,
  })
  let page = await browser.open(path)
  if (!page.location && !page.path.endsWith('/consent')) page = await signInAt(browser, path, email)
  if (!page.location)
    page = await browser.submit({ html: await page.response.text(), path: page.path }, { step: 'allow' })
  const { status, body } = await exchange(app, tenant, client, answerIn(page.location).code ?? '')
  if (status !== 200) throw new Error(`no tokens: ${page.location} ${JSON.stringify(body)}`)
  const { sub, sid, aud } = decodeJwt(body.access_token ?? '')
  return {
    token: body.access_token ?? '',
    userId: sub ?? '',
    sessionId: String(sid),
    audience: [aud ?? []].flat(),
    browser,
    answer: body,
  }
}

/** The events of the user's own actions since the sign-in and the consent. */
export const doneBy = async (tenant: string, { userId }: Pick<SignedIn, 'userId'>): Promise<LogEvent[]> =>
  (await logOf(tenant)).filter(
    ({ actorUserId, type }) =>
      actorUserId === userId && type !== 'session.started' && type !== 'consent.granted',
  )
