import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { linkIdpUser } from '../../src/idps/idp-links.ts'
import { noBrowser, ORIGIN } from '../support/browser.ts'
import { fillCode } from '../support/fill-code.ts'
import { test as base } from '../support/journey-provider.ts'
import { withoutOffer } from '../support/passkey-journey.ts'
import { authorizePath, codeFor, makeClient } from '../support/protocol.ts'

const APP = 'com.example.app:/signed-in'

/** Listens on a free loopback port and answers every request as `answer` says. */
async function listen(answer: (path: string) => { location?: string }) {
  const server = createServer((request, response) => {
    const { location } = answer(request.url ?? '/')
    if (location) response.writeHead(302, { location }).end()
    else response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Arrived</title>')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { origin: `http://localhost:${port}`, close: () => server.close() }
}

/** `test` with a client whose callbacks redirect on: to another origin, and to an app. */
const test = base
  .extend('party', { scope: 'file' }, async ({ acme }, { onCleanup }) => {
    const second = await listen(() => ({}))
    const first = await listen((path) => ({
      location: path.startsWith('/app') ? APP : `${second.origin}/arrived`,
    }))
    onCleanup(() => {
      first.close()
      second.close()
    })
    const callbacks = [`${first.origin}/web`, `${first.origin}/app`]
    const client = await makeClient(acme, { callbacks, requireConsent: true })
    const plain = await makeClient(acme, { callbacks })
    const buildUrl = (name: string, more: object, { id } = client) =>
      `${ORIGIN}${authorizePath(acme, { id }, { redirect_uri: `${first.origin}/${name}`, ...more })}`
    return { arrived: `${second.origin}/arrived`, plain, buildUrl }
  })
  /** Waits until the browser follows the redirect of a callback. */
  .extend('expectArrival', ({ party }) => async (page: Page, name: string, act: () => Promise<unknown>) => {
    const session = await page.context().newCDPSession(page)
    await session.send('Page.enable')
    const blocked: string[] = []
    page.on('console', (message) => {
      if (/Content Security Policy|form-action/.test(message.text())) blocked.push(message.text())
    })
    const target = name === 'app' ? APP : party.arrived
    const arrival = new Promise<void>((resolve) => {
      session.on('Page.frameRequestedNavigation', ({ url }) => url.startsWith(target) && resolve())
      session.on('Page.frameNavigated', ({ frame }) => frame.url.startsWith(target) && resolve())
      session.on('Network.requestWillBeSent', ({ request }) => request.url.startsWith(target) && resolve())
      page.on('request', (request) => request.url().startsWith(target) && resolve())
    })
    await session.send('Network.enable')
    await act()
    await Promise.race([
      arrival,
      page.waitForTimeout(8000).then(() => {
        throw new Error(`the browser stays at ${page.url()}: ${blocked.join()}`)
      }),
    ])
    expect(blocked).toEqual([])
  })

const CALLBACKS = ['web', 'app'] as const
const MODES = ['query', 'form_post'] as const
const CASES = CALLBACKS.flatMap((name) => MODES.map((mode) => [name, mode] as const))

describe.skipIf(noBrowser)('a client whose callback redirects on', () => {
  test.for(CASES)(
    'is reached at %s after a code (%s), and after consent',
    async ([name, mode], { newPerson, open, party, expectArrival }) => {
      const person = await newPerson()
      const context = await open()
      const page = await context.newPage()
      await withoutOffer(page)
      const signIn = async (url: string) => {
        await page.goto(url)
        await page.getByLabel('Email address').fill(person.email)
        await page.getByRole('button', { name: 'Continue', exact: true }).click()
        await page.waitForURL('**/code')
      }
      await signIn(party.buildUrl(name, { response_mode: mode }, party.plain))
      const code = await codeFor(person.email)
      await expectArrival(page, name, () => fillCode(page, code))
      const other = await context.newPage()
      await other.goto(party.buildUrl(name, { response_mode: mode }))
      await expectArrival(other, name, () => other.getByRole('button', { name: 'Allow' }).click())
    },
  )

  test.for(CALLBACKS)(
    'is reached at %s after a sign-in at a provider',
    async (name, { ctx, newPerson, open, party, upstream, expectArrival }) => {
      const person = await newPerson()
      const subject = `far-${person.id}`
      await linkIdpUser(ctx, person.id, 'partner', { idToken: (await upstream.tokensFor(subject)).idToken })
      const page = await (await open()).newPage()
      await withoutOffer(page)
      await page.route(`${upstream.issuer}/auth?*`, (route) =>
        route.continue({ url: `${route.request().url()}&login_hint=${subject}` }),
      )
      await page.goto(party.buildUrl(name, {}, party.plain))
      await expectArrival(page, name, () => page.getByRole('button', { name: /Partner/ }).click())
    },
  )
})
