import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as openid from 'openid-client'
import { expect } from 'vitest'
import { env } from '../../src/core/env.ts'
import { test as base, newRequest, optionsAt } from './openid-client.ts'
import type { PageBrowser } from './page-browser.ts'
import type { Origin } from './protocol.ts'

/** Starts a relying party with a page that starts sign-ins (OIDC Core, section 4). */
export async function startParty(app: Origin) {
  let config: openid.Configuration
  const pending = new Map<string, { checks: openid.AuthorizationCodeGrantChecks; target: string }>()
  /** The parameters of each request that asked it to start a sign-in. */
  const asked: Record<string, string>[] = []
  const reject = (response: ServerResponse, message: string) => response.writeHead(400).end(message)
  const go = (response: ServerResponse, to: string) => response.writeHead(302, { location: to }).end()

  async function start(url: URL, response: ServerResponse): Promise<void> {
    const given = Object.fromEntries(url.searchParams)
    asked.push(given)
    if (given.iss !== config.serverMetadata().issuer) return void reject(response, 'unknown issuer')
    const target = new URL(given.target_link_uri ?? '/home', origin)
    // An unverified target_link_uri would make it an open redirector (section 4).
    if (target.origin !== origin) return void reject(response, 'foreign target')
    const { login_hint: hint } = given
    const { checks, parameters } = await newRequest({
      redirect_uri: `${origin}/callback`,
      ...(hint !== undefined && { login_hint: hint }),
    })
    pending.set(checks.expectedState, { checks, target: target.href })
    const location = openid.buildAuthorizationUrl(config, parameters)
    go(response, location.href)
  }

  async function finish(url: URL, response: ServerResponse): Promise<void> {
    const sent = pending.get(url.searchParams.get('state') ?? '')
    if (!sent) return void reject(response, 'unknown state')
    try {
      const tokens = await openid.authorizationCodeGrant(config, url, sent.checks)
      subjects.push(tokens.claims()?.sub ?? '')
      go(response, sent.target)
    } catch (error) {
      reject(response, String(error))
    }
  }

  const subjects: string[] = []
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', origin)
    if (url.pathname === '/start') void start(url, response)
    else if (url.pathname === '/callback') void finish(url, response)
    else
      response
        .writeHead(200, { 'content-type': 'text/html' })
        .end('<!doctype html><title>In</title><h1>In</h1>')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://localhost:${(server.address() as AddressInfo).port}`
  return {
    origin,
    asked,
    /** The subjects of its ID tokens, in order. */
    subjects,
    connect: async (issuer: string, clientId: string, secret: string) => {
      config = await openid.discovery(new URL(issuer), clientId, secret, undefined, optionsAt(app))
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** The primary link of a page, or null. */
export const onwardLinkIn = (html: string): { to: string; text: string } | null => {
  const [, to, text] = /<a class="button primary" href="([^"]*)"><span>(.*?)<\/span><\/a>/.exec(html) ?? []
  return to === undefined
    ? null
    : { to: to.replaceAll('&amp;', '&'), text: (text ?? '').replaceAll(/<[^>]*>/g, '') }
}

/** `test` with a relying party that starts sign-ins, and requests to initiate a login there. */
export const test = base
  .extend('startedParty', { scope: 'file' }, async ({ app }, { onCleanup }) => {
    const party = await startParty(app)
    onCleanup(party.close)
    return party
  })
  .extend('user', { scope: 'file' }, ({ newPerson }) => newPerson())
  .extend('client', { scope: 'file' }, async ({ newClient, startedParty, issuer }) => {
    const { origin, connect } = startedParty
    const client = await newClient({
      name: 'Shop',
      callbacks: [`${origin}/callback`, 'https://shop.example.com/callback'],
      allowedOrigins: ['https://app.shop.example.com'],
      allowedLogoutUrls: [`${origin}/bye`],
      initiateLoginUrl: `${origin}/start?from=vestibule&x=%20y`,
    })
    await connect(issuer, client.id, client.secret)
    return client
  })
  /** The relying party, which has seen no request. */
  .extend('party', ({ startedParty, client }) => {
    if (!client) throw new Error('the client is not registered')
    startedParty.asked.length = 0
    startedParty.subjects.length = 0
    return startedParty
  })
  /** The path of a request to initiate a login. */
  .extend(
    'initiate',
    { scope: 'file' },
    ({ tenant, client }) =>
      (more: Record<string, string> = {}) =>
        `/${tenant}/oidc/initiate?${new URLSearchParams({ client_id: client.id, ...more })}`,
  )
  /** Where a page redirects the browser; a path if that is a page of the provider. */
  .extend(
    'readRedirect',
    { scope: 'file' },
    () =>
      async (browser: PageBrowser, url: string | null): Promise<string> => {
        const response = await browser.fetch((url ?? '').replace(env.baseUrl, ''))
        const location = response.headers.get('location')
        if (location === null) throw new Error(`${url}: ${response.status} ${await response.text()}`)
        return location.replace(env.baseUrl, '')
      },
  )
  /** Initiates a login; returns where the relying party sends the browser. */
  .extend(
    'sendToParty',
    { scope: 'file' },
    ({ initiate, readRedirect }) =>
      async (browser: PageBrowser, more: Record<string, string> = {}): Promise<string> => {
        const response = await browser.fetch(initiate(more))
        expect([response.status, response.headers.get('cache-control')]).toEqual([303, 'no-store'])
        return readRedirect(browser, response.headers.get('location'))
      },
  )
  /** Expects no redirect; returns the error page. */
  .extend('expectRejection', { scope: 'file' }, ({ app }) => async (path: string) => {
    const response = await app.fetch(path)
    const html = await response.text()
    expect([path, response.headers.get('location')]).toEqual([path, null])
    return { status: response.status, html, requestId: response.headers.get('x-request-id') ?? '' }
  })
  .extend(
    'openAfterLogout',
    { scope: 'file' },
    ({ tenant }) =>
      async (browser: PageBrowser, query: string) => {
        const { response } = await browser.open(`/${tenant}/oidc/logout${query}`)
        return { html: await response.text() }
      },
  )
