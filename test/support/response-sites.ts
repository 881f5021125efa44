import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { BrowserContext, ConsoleMessage, Page } from 'playwright-core'
import { expect } from 'vitest'
import { ORIGIN } from './browser.ts'
import { test as base, enterCode } from './browser-sign-in.ts'

/** A message that a page of a site has received. */
export type Heard = { origin: string; data: { type: string; response: Record<string, string> } }
export type Site = {
  origin: string
  posted: Record<string, string>[]
  redirectTo: string | null
  close: () => void
}

/** Starts a site whose pages record messages and forms. */
async function startSite(): Promise<Site> {
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += chunk))
    request.on('end', () => {
      if (request.method === 'POST') {
        site.posted.push(Object.fromEntries(new URLSearchParams(body)))
        if (site.redirectTo) return response.writeHead(303, { location: site.redirectTo }).end()
      }
      response
        .writeHead(200, { 'content-type': 'text/html' })
        .end(`<!doctype html><title>Site</title><h1>Site</h1>
        <script>window.heard = []; addEventListener('message', ({ origin, data }) => heard.push({ origin, data }))</script>`)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const site: Site = {
    // The same site as ORIGIN: a frame of the program receives its cookies.
    origin: `http://localhost:${(server.address() as AddressInfo).port}`,
    posted: [],
    redirectTo: null,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
  return site
}

export async function pageAt(site: Site, context: BrowserContext): Promise<Page> {
  const page = await context.newPage()
  await page.goto(site.origin)
  return page
}

export const readHeard = (page: Page): Promise<Heard[]> =>
  page.evaluate(() => (window as unknown as { heard: Heard[] }).heard)

export async function nextHeard(page: Page): Promise<Heard> {
  await page.waitForFunction(() => (window as unknown as { heard: Heard[] }).heard.length > 0)
  return (await readHeard(page))[0] as Heard
}

/** Embeds a URL in a page. */
export const frame = (page: Page, url: string): Promise<void> =>
  page.evaluate((src) => {
    document.body.append(Object.assign(document.createElement('iframe'), { src }))
  }, url)

/** Opens a URL in a window whose opener is the page. */
export async function popUp(page: Page, url: string): Promise<Page> {
  const [popup] = await Promise.all([
    page.context().waitForEvent('page'),
    page.evaluate((target) => void window.open(target), url),
  ])
  return popup
}

export const nextConsoleMessage = (context: BrowserContext, words: RegExp): Promise<ConsoleMessage> =>
  context.waitForEvent('console', { predicate: (message) => words.test(message.text()) })

export const CODE_MESSAGE = {
  origin: ORIGIN,
  data: {
    type: 'authorization_response',
    response: { code: expect.any(String), state: 'a-state', iss: expect.stringContaining(ORIGIN) },
  },
}
export const errorMessage = (tenant: string, error: string) => ({
  origin: ORIGIN,
  data: {
    type: 'authorization_response',
    response: {
      error,
      error_description: expect.any(String),
      state: 'a-state',
      iss: `${ORIGIN}/${tenant}`,
    },
  },
})

/** `test` with the site of a client, another site, and a browser context in which a user is signed in. */
export const test = base
  .extend('party', { scope: 'file' }, async ({ app: _ }, { onCleanup }) => {
    const site = await startSite()
    onCleanup(site.close)
    return site
  })
  .extend('stranger', { scope: 'file' }, async ({ app: _ }, { onCleanup }) => {
    const site = await startSite()
    onCleanup(site.close)
    return site
  })
  .extend('client', { scope: 'file' }, ({ newClient, party }) =>
    newClient({ callbacks: [`${party.origin}/cb`], webOrigins: [party.origin] }),
  )
  .extend(
    'authorizeUrl',
    { scope: 'file' },
    ({ oidc, party }) =>
      (more: Record<string, string | null>) =>
        ORIGIN + oidc.authorizePath({ redirect_uri: `${party.origin}/cb`, ...more }),
  )
  /** Signs a new user in on a hosted page: an address is sent a code once in 30 seconds. */
  .extend('signInOn', { scope: 'file' }, ({ newPerson }) => async (page: Page): Promise<void> => {
    const { email } = await newPerson()
    await enterCode(page, email)
  })
  .extend(
    'signedIn',
    { scope: 'file' },
    async ({ chromium, party, authorizeUrl, signInOn }, { onCleanup }) => {
      const context = await chromium.newContext()
      onCleanup(() => context.close())
      context.setDefaultTimeout(10_000)
      const page = await context.newPage()
      await page.goto(authorizeUrl({}))
      await signInOn(page)
      await page.waitForURL(`${party.origin}/cb?**`)
      await page.close()
      return context
    },
  )
