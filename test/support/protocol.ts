import { createClient } from '../../src/clients/clients.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { sha256Base64url } from '../../src/core/crypto.ts'
import { awaitDeliveries } from '../../src/delivery/background.ts'
import { listInboxMessages } from '../../src/delivery/inbox.ts'
import type { Client, User } from '../../src/generated/prisma/client.ts'
import { createUser } from '../../src/users/users.ts'
import { csrfIn as csrfInPage, PageBrowser } from './page-browser.ts'

/** Where the program listens. */
export type Origin = { origin: string }

/** The token of a page's form. */
export const csrfIn = csrfInPage

/** A browser at the provider. */
export class Browser extends PageBrowser {
  constructor(provider: Origin) {
    super(provider.origin)
  }
}

/** Parts of notices that may follow the message with a code. */
const NOTICES = ['/account/sign-in-methods', '/account/sessions', 'with a recovery code']

/** The newest code that was sent to an address. */
export async function codeFor(address: string): Promise<string> {
  await awaitDeliveries()
  const message = listInboxMessages(address).find(({ body }) => !NOTICES.some((part) => body.includes(part)))
  const code = /\b(\d{6})\b/.exec(message?.body ?? '')?.[1]
  if (!code) throw new Error(`no code was sent to ${address}`)
  return code
}

export const REDIRECT_URI = 'https://rp.example.com/cb'
export const VERIFIER = 'a-code-verifier-of-at-least-forty-three-characters'

export const makeUser = (tenant: string, email: string, more: object = {}): Promise<User> =>
  createUser(createPlatformCtx(tenant), { email, emailVerified: true, ...more })

/** A client with REDIRECT_URI as its redirect URI, and its secret. */
export async function makeClient(tenant: string, more: object = {}): Promise<Client & { secret: string }> {
  const { client, secret } = await createClient(createPlatformCtx(tenant), {
    name: 'Relying party',
    appType: 'web',
    type: 'login',
    callbacks: [REDIRECT_URI],
    ...more,
  })
  return { ...client, secret: secret ?? '' }
}

/** The path of an authorize request; null leaves a parameter out. */
export function authorizePath(
  tenant: string,
  client: { id: string },
  more: Record<string, string | null> = {},
): string {
  const params = {
    response_type: 'code',
    client_id: client.id,
    redirect_uri: REDIRECT_URI,
    scope: 'openid profile email',
    state: 'a-state',
    code_challenge: sha256Base64url(VERIFIER),
    code_challenge_method: 'S256',
    ...more,
  }
  const given = Object.entries(params).filter((entry): entry is [string, string] => entry[1] !== null)
  return `/${tenant}/oidc/authorize?${new URLSearchParams(given)}`
}

/** Signs a user in from an authorize request to the next step: a consent page, or the client. */
export async function signInAt(browser: PageBrowser, path: string, email: string) {
  const start = await browser.open(path)
  const emailPage = { html: await start.response.text(), path: start.path }
  const sent = await browser.submit(emailPage, { step: 'email', address: email })
  const codePage = { html: await sent.response.text(), path: sent.path }
  return browser.submit(codePage, { step: 'code', code: await codeFor(email) })
}

/** The parameters of a redirect to the client. */
export const answerIn = (location: string | null): Record<string, string> =>
  Object.fromEntries(new URL(location ?? 'about:blank').searchParams)

/** The Authorization header of client_secret_basic (RFC 6749, section 2.3.1). */
export const basic = (client: { id: string; secret: string }): string =>
  `Basic ${Buffer.from(`${encodeURIComponent(client.id)}:${encodeURIComponent(client.secret)}`).toString('base64')}`

export type TokenAnswer = { status: number; headers: Headers; body: Record<string, string> }

/** Calls the token endpoint; a client with a secret authenticates with Basic, another with its client_id. */
export async function tokenRequest(
  provider: Origin,
  tenant: string,
  client: { id: string; secret: string } | null,
  form: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<TokenAnswer> {
  const response = await fetch(`${provider.origin}/${tenant}/oidc/token`, {
    method: 'POST',
    headers: { ...(client?.secret && { authorization: basic(client) }), ...headers },
    body: new URLSearchParams({ ...(client && !client.secret && { client_id: client.id }), ...form }),
  })
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Record<string, string>,
  }
}

export const exchange = (
  provider: Origin,
  tenant: string,
  client: { id: string; secret: string },
  code: string,
  more: Record<string, string> = {},
): Promise<TokenAnswer> =>
  tokenRequest(provider, tenant, client, {
    grant_type: 'authorization_code',
    code,
    redirect_uri: REDIRECT_URI,
    code_verifier: VERIFIER,
    ...more,
  })

export const refreshWith = (
  provider: Origin,
  tenant: string,
  client: { id: string; secret: string },
  refreshToken: string,
  more: Record<string, string> = {},
): Promise<TokenAnswer> =>
  tokenRequest(provider, tenant, client, {
    grant_type: 'refresh_token',
    refresh_token: refreshToken,
    ...more,
  })

export const userinfoOf = (provider: Origin, tenant: string, token: string): Promise<Response> =>
  fetch(`${provider.origin}/${tenant}/oidc/userinfo`, { headers: { authorization: `Bearer ${token}` } })
