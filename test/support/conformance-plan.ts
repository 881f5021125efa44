import { decodeJwt, type JWTPayload } from 'jose'
import type { ResponseMode } from '../../src/oidc/model/authorize-request.ts'
import { dbFor } from './database.ts'
import { accountIn } from './page-browser.ts'
import {
  authorizePath,
  Browser,
  codeFor,
  exchange,
  makeClient,
  type Origin,
  REDIRECT_URI,
  type TokenAnswer,
} from './protocol.ts'

/** The pages that a user may see; `error` is the provider's own page, which ends the flow. */
export type PlanPage = 'email' | 'code' | 'select' | 'consent' | 'error'

/** The result of an authorization request. */
export type Arrival = {
  /** The pages that were shown, in order. */
  pages: PlanPage[]
  /** The target of the response, without its parameters; null for a page of the provider. */
  target: string | null
  /** The parameters of the response to the client; empty if there was no response. */
  answer: Record<string, string>
  /** The last page, when there was one. */
  html: string
  response: Response
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }
const unescaped = (text: string): string =>
  text.replace(/&(amp|lt|gt|quot|#39);/g, (_all, name: string) => ENTITIES[name] ?? '')

/**
 * The form of a form_post response (OAuth 2.0 Form Post Response Mode, section 2); null on any other page.
 */
export function postedAnswer(html: string): { target: string; answer: Record<string, string> } | null {
  const target = /<form[^>]* action="(\w[\w+.-]*:[^"]*)"/.exec(html)?.[1]
  if (!target) return null
  const fields = html.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)
  const answer = Object.fromEntries([...fields].map(([, name = '', value = '']) => [name, unescaped(value)]))
  return { target: unescaped(target), answer }
}

const pageAt = (path: string): PlanPage => {
  const [, page] = /\/signin\/[\w-]{43,}(?:\/(code|select|consent))?$/.exec(path) ?? [undefined, undefined]
  return path.includes('/signin/') ? ((page as PlanPage | undefined) ?? 'email') : 'error'
}

/**
 * Follows an authorize request as a user until the client gets a response or the provider shows an error:
 * signs in as `email`, continues with the existing account, consents. With `stopAt`, stops at that page.
 */
export async function runAuthorize(
  browser: Browser,
  tenant: string,
  path: string,
  email: string,
  stopAt: PlanPage | null = null,
): Promise<Arrival> {
  const pages: PlanPage[] = []
  let at = await browser.open(path)
  // A page that is shown without a redirect has the path of the request.
  let where = path
  for (let hop = 0; hop < 8; hop++) {
    if (at.location !== null) {
      const [target = '', query = ''] = at.location.split('?')
      const answer = Object.fromEntries(new URLSearchParams(query))
      return { pages, target, answer, html: '', response: at.response }
    }
    where = at.path || where
    const html = await at.response.text()
    const posted = postedAnswer(html)
    if (posted) return { pages, ...posted, html, response: at.response }
    const shown = at.response.ok ? pageAt(where) : 'error'
    pages.push(shown)
    if (shown === 'error' || shown === stopAt)
      return { pages, target: null, answer: {}, html, response: at.response }
    at = await browser.submit({ html, path: where }, await entryFor({ shown, html }, tenant, email))
  }
  throw new Error(`no end to the pages: ${pages.join(', ')}`)
}

async function entryFor(
  { shown, html }: { shown: Exclude<PlanPage, 'error'>; html: string },
  tenant: string,
  email: string,
): Promise<Record<string, string>> {
  if (shown === 'code') return { step: 'code', code: await codeFor(email) }
  if (shown === 'select') return { step: 'continue', account: accountIn(html, email) }
  if (shown === 'consent') return { step: 'allow' }
  // An address is sent one code in 30 s; a plan signs in more often.
  await dbFor(tenant).passcode.deleteMany({ where: { tenantId: tenant } })
  return { step: 'email', address: email }
}

type PlanClient = { id: string; secret: string }

/** A relying party that uses one response mode, and its user. */
export type Plan = {
  tenant: string
  issuer: string
  client: PlanClient
  email: string
  browser: Browser
  /** Runs an authorization request to its end; a null parameter is left out. */
  authorize: (
    more?: Record<string, string | null>,
    options?: { browser?: Browser; client?: PlanClient; stopAt?: PlanPage },
  ) => Promise<Arrival>
  /** Authorizes, and redeems the code for tokens. */
  signIn: (
    more?: Record<string, string | null>,
    options?: { browser?: Browser; client?: PlanClient },
  ) => Promise<{ arrival: Arrival; tokens: TokenAnswer; idToken: JWTPayload }>
  newBrowser: () => Browser
}

/** Registers a client of `tenant` and opens a browser. The clients of the plans use no PKCE. */
export async function startPlan(
  provider: Origin,
  tenant: string,
  email: string,
  responseMode: ResponseMode,
  more: object = {},
): Promise<Plan> {
  const client = await makeClient(tenant, more)
  const browser = new Browser(provider)
  const base = {
    response_mode: responseMode === 'query' ? null : responseMode,
    code_challenge: null,
    code_challenge_method: null,
    scope: 'openid',
  }
  const authorize: Plan['authorize'] = (more, options = {}) =>
    runAuthorize(
      options.browser ?? browser,
      tenant,
      authorizePath(tenant, options.client ?? client, { ...base, ...more }),
      email,
      options.stopAt,
    )
  return {
    tenant,
    issuer: `http://localhost:3000/${tenant}`,
    client,
    email,
    browser,
    authorize,
    signIn: async (more, options = {}) => {
      const arrival = await authorize(more, options)
      const tokens = await exchange(
        provider,
        tenant,
        options.client ?? client,
        arrival.answer.code ?? '',
        // The request had no challenge: a verifier without one is rejected.
        { code_verifier: '', redirect_uri: more?.redirect_uri ?? REDIRECT_URI },
      )
      if (!tokens.body.id_token)
        throw new Error(`no tokens: ${JSON.stringify([arrival.answer, tokens.body])}`)
      return { arrival, tokens, idToken: decodeJwt(tokens.body.id_token) }
    },
    newBrowser: () => new Browser(provider),
  }
}
