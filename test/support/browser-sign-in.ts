import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { onTestFinished } from 'vitest'
import { issuerOf } from '../../src/core/issuer.ts'
import { fillCode } from './fill-code.ts'
import { test as base } from './journey.ts'
import { codeFor } from './protocol.ts'
import { startParty } from './third-party-login.ts'

const LIBRARY = readFileSync(
  new URL('../../node_modules/oidc-client-ts/dist/browser/oidc-client-ts.min.js', import.meta.url),
)

const pageOf = (script: string): string =>
  `<!doctype html><meta charset="utf-8"><title>App</title><h1>App</h1><script src="/oidc-client-ts.js"></script><script>${script}</script>`

/** An application without a server, built on the published oidc-client-ts. */
export type SinglePage = {
  origin: string
  /** The redirect URIs of the application. */
  callbacks: string[]
  /** The post_logout_redirect_uri. */
  signedOut: string
  /** Call after the client is registered with the callbacks. */
  connect: (issuer: string, clientId: string, scope: string, loadUserInfo: boolean) => void
  close: () => void
}

/**
 * Serves the application on its own origin: `/` has `window.manager`, a UserManager; other paths end its
 * flows.
 */
export async function startSinglePage(): Promise<SinglePage> {
  let settings = {}
  const managed = (script: string) =>
    pageOf(`window.manager = new oidc.UserManager(${JSON.stringify(settings)}); ${script}`)
  const pages: Record<string, () => string> = {
    '/': () => managed(''),
    '/callback': () =>
      managed(
        `manager.signinCallback().then(() => { document.title = 'Signed in' }, (error) => { document.title = error.message })`,
      ),
    '/silent': () => managed('manager.signinSilentCallback()'),
    '/popup': () => managed('manager.signinPopupCallback()'),
    '/signed-out': () =>
      managed(`manager.signoutRedirectCallback().then(() => { document.title = 'Signed out' })`),
  }
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://localhost').pathname
    if (path === '/oidc-client-ts.js')
      return response.writeHead(200, { 'content-type': 'text/javascript' }).end(LIBRARY)
    const page = pages[path]
    return page
      ? response.writeHead(200, { 'content-type': 'text/html' }).end(page())
      : response.writeHead(404).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://localhost:${(server.address() as AddressInfo).port}`
  return {
    origin,
    callbacks: ['/callback', '/silent', '/popup'].map((path) => origin + path),
    signedOut: `${origin}/signed-out`,
    connect: (issuer, clientId, scope, loadUserInfo) => {
      settings = {
        authority: issuer,
        client_id: clientId,
        redirect_uri: `${origin}/callback`,
        silent_redirect_uri: `${origin}/silent`,
        popup_redirect_uri: `${origin}/popup`,
        post_logout_redirect_uri: `${origin}/signed-out`,
        scope,
        loadUserInfo,
        automaticSilentRenew: false,
        silentRequestTimeoutInSeconds: 10,
      }
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** The stored result of a sign-in with oidc-client-ts. */
export type Tokens = { access_token: string; refresh_token?: string; profile: Record<string, unknown> }
/** The UserManager of oidc-client-ts on the page. */
export type Manager = {
  signinRedirect: () => Promise<void>
  signinSilent: () => Promise<Tokens | null>
  signinPopup: () => Promise<Tokens>
  signoutRedirect: () => Promise<void>
  getUser: () => Promise<Tokens | null>
}
declare const manager: Manager

/** Signs in on the hosted pages, by a code. */
export async function enterCode(page: Page, email: string): Promise<void> {
  await page.getByLabel('Email address').fill(email)
  await page.getByRole('button', { name: 'Continue' }).click()
  await fillCode(page, await codeFor(email))
}

/** Listens on a free loopback port for one authorization response, as a native application does. */
export async function listenOnce(): Promise<{ redirectUri: string; answer: Promise<URL> }> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const answer = once(server, 'request').then(([request, response]) => {
    response.end('You can go back to the app.')
    return new URL(request.url, origin)
  })
  return { redirectUri: `${origin}/callback`, answer }
}

/** `test` with Chromium, single-page applications, and a relying party that starts sign-ins. */
export const test = base
  /** Starts and registers an application; without offline_access in its scope it renews in a frame. */
  .extend('registerSpa', { scope: 'file' }, ({ tenant, newClient }, { onCleanup }) => {
    const apps: SinglePage[] = []
    onCleanup(() => {
      for (const { close } of apps) close()
    })
    return async (
      scope: string,
      fields: { idTokenClaims?: true; allowedOrigins?: string[] } = {},
    ): Promise<SinglePage> => {
      const application = await startSinglePage()
      apps.push(application)
      const client = await newClient({
        appType: 'single-page',
        callbacks: application.callbacks,
        allowedLogoutUrls: [application.signedOut],
        ...fields,
      })
      application.connect(issuerOf(tenant), client.id, scope, !fields.idTokenClaims)
      return application
    }
  })
  .extend('openSpa', ({ open }) => async ({ origin }: SinglePage): Promise<Page> => {
    const page = await (await open()).newPage()
    await page.goto(`${origin}/`)
    return page
  })
  .extend(
    'signInAtSpa',
    { scope: 'file' },
    () =>
      async (page: Page, { origin }: SinglePage, email: string): Promise<Tokens> => {
        await page.evaluate(() => void manager.signinRedirect())
        await page.waitForURL('**/signin/**')
        await enterCode(page, email)
        await page.waitForFunction(() => document.title === 'Signed in')
        await page.goto(`${origin}/`)
        return (await page.evaluate(() => manager.getUser())) as Tokens
      },
  )
  /** A relying party that starts sign-ins itself. */
  .extend('startedParty', { scope: 'file' }, async ({ app }, { onCleanup }) => {
    const party = await startParty(app)
    onCleanup(party.close)
    return party
  })
  .extend('partyClient', { scope: 'file' }, async ({ tenant, newClient, startedParty }) => {
    const { origin, connect } = startedParty
    const client = await newClient({
      callbacks: [`${origin}/callback`],
      allowedLogoutUrls: [`${origin}/bye`],
      initiateLoginUrl: `${origin}/start`,
    })
    await connect(issuerOf(tenant), client.id, client.secret)
    return client
  })
