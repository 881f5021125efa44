import { decodeJwt } from 'jose'
import type { LogEvent } from '../../src/events.ts'
import {
  answerIn,
  authorizePath,
  Browser,
  exchange,
  makeClient,
  type Provider,
  signInAt,
  type TokenAnswer,
} from '../oidc/provider.ts'
import { logOf } from './events.ts'

/** Where the program listens: the whole of it, or the protocol alone. */
type At = { origin: string }
export type PersonClient = Awaited<ReturnType<typeof makeClient>>

/** What a person has in hand after signing in at a client. */
export type SignedIn = {
  token: string
  userId: string
  sessionId: string
  audience: string[]
  browser: Browser
  answer: TokenAnswer['body']
}

/** A client in the browser, as single-page applications are. */
export const makeSpa = (tenant: string, more: object = {}): Promise<PersonClient> =>
  makeClient(tenant, { appType: 'single-page', ...more })

/**
 * Signs a person in at a client for real: authorize with PKCE, the hosted pages, a code, consent where the person is
 * asked. A `browser` that has a session is not asked for another code, unless `parameters` of authorize demand one.
 */
export async function signInAs(
  app: At,
  tenant: string,
  client: PersonClient,
  email: string,
  options: { scope?: string; browser?: Browser; parameters?: Record<string, string> } = {},
): Promise<SignedIn> {
  const provider = app as Provider
  const browser = options.browser ?? new Browser(provider)
  const path = authorizePath(tenant, client, {
    scope: options.scope ?? 'openid profile account',
    ...options.parameters,
  })
  let page = await browser.open(path)
  if (!page.location && !page.path.endsWith('/consent')) page = await signInAt(browser, path, email)
  if (!page.location)
    page = await browser.submit({ html: await page.response.text(), path: page.path }, { step: 'allow' })
  const { status, body } = await exchange(provider, tenant, client, answerIn(page.location).code ?? '')
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

/** What the log says that a person did themselves since they signed in and agreed to what the client asked for. */
export const doneBy = async (tenant: string, { userId }: Pick<SignedIn, 'userId'>): Promise<LogEvent[]> =>
  (await logOf(tenant)).filter(
    ({ actorUserId, type }) =>
      actorUserId === userId && type !== 'session.started' && type !== 'consent.granted',
  )
