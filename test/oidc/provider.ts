import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { H3, toNodeHandler } from 'h3'
import { createClient } from '../../src/clients/clients.ts'
import { sha256Base64url } from '../../src/crypto.ts'
import { platformCtx } from '../../src/ctx.ts'
import { listInbox } from '../../src/delivery/inbox.ts'
import type { Client, User } from '../../src/generated/prisma/client.ts'
import { addOidcRoutes } from '../../src/oidc/oidc.routes.ts'
import { settleDeliveries } from '../../src/passcodes/send-passcode.ts'
import { closeRuntime, openRuntime } from '../../src/runtime.ts'
import { createUser } from '../../src/users/users.ts'
import { csrfIn as csrfInPage, PageBrowser } from '../support/page-browser.ts'

/** The protocol endpoints and hosted pages on a port of their own. */
export type Provider = { origin: string; close: () => Promise<void> }

export async function startProvider(): Promise<Provider> {
  await openRuntime()
  const app = new H3({ allowMalformedURL: true })
  addOidcRoutes(app)
  const server: Server = createServer(toNodeHandler(app))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      await settleDeliveries()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await closeRuntime()
    },
  }
}

/** The token of a page's form. */
export const csrfIn = csrfInPage

/** A browser at the provider. */
export class Browser extends PageBrowser {
  constructor(provider: Provider) {
    super(provider.origin)
  }
}

/** The newest code that was sent to an address. */
export async function codeFor(address: string): Promise<string> {
  await settleDeliveries()
  const code = /\b(\d{6})\b/.exec(listInbox(address)[0]?.body ?? '')?.[1]
  if (!code) throw new Error(`no code was sent to ${address}`)
  return code
}

export const REDIRECT_URI = 'https://rp.example.com/cb'
export const VERIFIER = 'a-code-verifier-of-at-least-forty-three-characters'

export const makeUser = (tenant: string, email: string, more: object = {}): Promise<User> =>
  createUser(platformCtx(tenant), { email, emailVerified: true, ...more })

/** A client that may be answered at REDIRECT_URI, with its secret. */
export async function makeClient(tenant: string, more: object = {}): Promise<Client & { secret: string }> {
  const { client, secret } = await createClient(platformCtx(tenant), {
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

/** Signs a person in from an authorize request to where the provider leads next: a consent page, or the client. */
export async function signInAt(browser: Browser, path: string, email: string) {
  const start = await browser.open(path)
  const emailPage = { html: await start.response.text(), path: start.path }
  const sent = await browser.submit(emailPage, { step: 'email', address: email })
  const codePage = { html: await sent.response.text(), path: sent.path }
  return browser.submit(codePage, { step: 'code', code: await codeFor(email) })
}

/** The parameters of a redirect to the client. */
export const answerIn = (location: string | null): Record<string, string> =>
  Object.fromEntries(new URL(location ?? 'about:blank').searchParams)

/** How a client authenticates by client_secret_basic (RFC 6749, section 2.3.1): the value of the Authorization header. */
export const basic = (client: { id: string; secret: string }): string =>
  `Basic ${Buffer.from(`${encodeURIComponent(client.id)}:${encodeURIComponent(client.secret)}`).toString('base64')}`

export type TokenAnswer = { status: number; headers: Headers; body: Record<string, string> }

/** Calls the token endpoint; a client with a secret authenticates by Basic, another by its client_id. */
export async function tokenRequest(
  provider: Provider,
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
  provider: Provider,
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
  provider: Provider,
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

export const userinfoOf = (provider: Provider, tenant: string, token: string): Promise<Response> =>
  fetch(`${provider.origin}/${tenant}/oidc/userinfo`, { headers: { authorization: `Bearer ${token}` } })
