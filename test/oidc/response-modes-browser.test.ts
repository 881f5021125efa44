import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, BrowserContext, ConsoleMessage, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { launchBrowser, noBrowser } from '../support/browser.ts'
import { freePort } from '../support/process.ts'

// Pages and issuer must name the port that a browser comes to, and src/env.ts reads it once, on import.
process.env.PORT = String(await freePort())
process.env.HOST = '127.0.0.1'
process.env.BASE_URL = `http://127.0.0.1:${process.env.PORT}`
const ORIGIN = process.env.BASE_URL
const { newTenant } = await import('../support/actors.ts')
const { startApp } = await import('../support/app.ts')
const { authorizePath, codeFor, exchange, makeClient, makeUser } = await import('./provider.ts')
const { updateClient } = await import('../../src/clients/client-changes.ts')
const { platformCtx } = await import('../../src/ctx.ts')
const { dbFor } = await import('../../src/db.ts')
const { forgetClient } = await import('../../src/clients/client-cache.ts')

if (noBrowser) process.stderr.write(`skipped: ${noBrowser}\n`)

/** What a page of a site heard, as it tells itself. */
type Heard = { origin: string; data: { type: string; response: Record<string, string> } }
type Site = { origin: string; posted: Record<string, string>[]; redirectTo: string | null; close: () => void }

/** A site of somebody's: its pages listen for messages, and keep what is posted to them. */
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
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    posted: [],
    redirectTo: null,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
  return site
}

describe.skipIf(noBrowser)('in a browser', () => {
  let app: Awaited<ReturnType<typeof startApp>>
  let browser: Browser
  let tenant: string
  let party: Site
  let stranger: Site
  let client: Awaited<ReturnType<typeof makeClient>>
  /** Where somebody is signed in. */
  let signedIn: BrowserContext
  let people = 0

  const authorizeUrl = (more: Record<string, string | null>) =>
    `${ORIGIN}${authorizePath(tenant, client, { redirect_uri: `${party.origin}/cb`, ...more })}`

  async function newContext(more: object = {}): Promise<BrowserContext> {
    const context = await browser.newContext(more)
    context.setDefaultTimeout(10_000)
    return context
  }

  /** Somebody new each time: an address gets one code in 30 seconds. */
  async function enter(page: Page): Promise<void> {
    const email = `person${people++}@example.com`
    await makeUser(tenant, email)
    await page.getByLabel('Email address').fill(email)
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByLabel('6-digit code').waitFor()
    await page.getByLabel('6-digit code').fill(await codeFor(email))
    await page.getByRole('button', { name: 'Sign in' }).click()
  }

  beforeAll(async () => {
    app = await startApp()
    browser = await launchBrowser()
    tenant = await newTenant()
    party = await startSite()
    stranger = await startSite()
    client = await makeClient(tenant, { callbacks: [`${party.origin}/cb`], webOrigins: [party.origin] })
    signedIn = await newContext()
    const page = await signedIn.newPage()
    await page.goto(authorizeUrl({}))
    await enter(page)
    await page.waitForURL(`${party.origin}/cb?**`)
    await page.close()
  })
  afterAll(async () => {
    await browser?.close()
    party?.close()
    stranger?.close()
    await app?.close()
  })

  async function pageAt(site: Site, context: BrowserContext): Promise<Page> {
    const page = await context.newPage()
    await page.goto(site.origin)
    return page
  }
  const heardBy = (page: Page) => page.evaluate(() => (window as unknown as { heard: Heard[] }).heard)
  async function nextHeard(page: Page): Promise<Heard> {
    await page.waitForFunction(() => (window as unknown as { heard: Heard[] }).heard.length > 0)
    return (await heardBy(page))[0] as Heard
  }
  const frame = (page: Page, url: string) =>
    page.evaluate((src) => {
      document.body.append(Object.assign(document.createElement('iframe'), { src }))
    }, url)
  async function popUp(page: Page, url: string): Promise<Page> {
    const [popup] = await Promise.all([
      page.context().waitForEvent('page'),
      page.evaluate((target) => void window.open(target), url),
    ])
    return popup
  }
  const complaint = (context: BrowserContext, words: RegExp): Promise<ConsoleMessage> =>
    context.waitForEvent('console', { predicate: (message) => words.test(message.text()) })

  const code = {
    origin: ORIGIN,
    data: {
      type: 'authorization_response',
      response: { code: expect.any(String), state: 'a-state', iss: expect.stringContaining(ORIGIN) },
    },
  }
  const error = (name: string) => ({
    origin: ORIGIN,
    data: {
      type: 'authorization_response',
      response: {
        error: name,
        error_description: expect.any(String),
        state: 'a-state',
        iss: `${ORIGIN}/${tenant}`,
      },
    },
  })
  const web = (more: Record<string, string | null> = {}) =>
    authorizeUrl({ response_mode: 'web_message', ...more })

  describe('web_message (draft-sakimura-oauth-wmrm)', () => {
    test('tells the page around a frame who is signed in, and its code is good', async () => {
      const page = await pageAt(party, signedIn)
      await frame(page, web({ prompt: 'none' }))
      const heard = await nextHeard(page)
      expect(heard).toEqual(code)
      const redirect = { redirect_uri: `${party.origin}/cb` }
      const provider = { origin: ORIGIN, close: app.close }
      const tokens = await exchange(provider, tenant, client, heard.data.response.code as string, redirect)
      expect(tokens.status).toBe(200)
    })

    test('tells the page around a frame what went wrong', async () => {
      const page = await pageAt(party, await newContext())
      await frame(page, web({ prompt: 'none' }))
      expect(await nextHeard(page)).toEqual(error('login_required'))
    })

    test('tells the opener of a popup, after a sign-in on the hosted pages, and closes', async () => {
      const page = await pageAt(party, await newContext())
      const popup = await popUp(page, web({ prompt: 'login', display: 'popup' }))
      const closed = popup.waitForEvent('close')
      expect(await popup.locator('header').count()).toBe(0)
      await enter(popup)
      await closed
      expect(await nextHeard(page)).toEqual(code)
    })

    test('tells the opener of a popup what went wrong, and closes', async () => {
      const page = await pageAt(party, await newContext())
      const popup = await popUp(page, web({ scope: 'profile' }))
      if (!popup.isClosed()) await popup.waitForEvent('close')
      expect(await nextHeard(page)).toEqual(error('invalid_scope'))
    })

    test('without a window that asked says what to do, and offers a way on', async () => {
      const page = await signedIn.newPage()
      await page.goto(web())
      expect(await page.locator('h1').textContent()).toBe('Back to Relying party')
      await page.getByRole('link', { name: 'Open the application' }).click()
      await page.waitForURL(`${party.origin}/`)
    })

    test('security 10: a page of an origin that is not among the webOrigins may not frame the answer', async () => {
      const page = await pageAt(stranger, signedIn)
      const refused = complaint(signedIn, /frame-ancestors/)
      await frame(page, web({ prompt: 'none' }))
      expect((await refused).text()).toContain(`frame-ancestors ${party.origin}`)
      expect(await heardBy(page)).toEqual([])
    })

    test('security 10: an opener of an origin that is not among the webOrigins is told nothing', async () => {
      const page = await pageAt(stranger, signedIn)
      const dropped = complaint(signedIn, /postMessage/)
      await popUp(page, web({ prompt: 'none' }))
      expect((await dropped).text()).toContain(party.origin)
      expect(await heardBy(page)).toEqual([])
    })

    test('security 10: no other hosted page can be framed, not even by the origin that the answer goes to', async () => {
      const page = await pageAt(party, signedIn)
      const refused = complaint(signedIn, /frame-ancestors/)
      await frame(page, web({ prompt: 'login' }))
      expect((await refused).text()).toContain("frame-ancestors 'none'")
    })

    test('security 10: an origin that the client gave up while the person signed in is told nothing', async () => {
      const context = await newContext()
      const page = await pageAt(party, context)
      const popup = await popUp(page, web({ prompt: 'consent' }))
      await enter(popup)
      await popup.getByRole('button', { name: 'Allow' }).waitFor()
      await updateClient(platformCtx(tenant), client.id, { webOrigins: [] })
      await popup.getByRole('button', { name: 'Allow' }).click()
      await popup.getByText('This request cannot be answered').waitFor()
      await updateClient(platformCtx(tenant), client.id, { webOrigins: [party.origin] })
      expect(await heardBy(page)).toEqual([])
    })
  })

  describe('form_post (OAuth 2.0 Form Post Response Mode)', () => {
    const form = (more: Record<string, string | null> = {}) =>
      authorizeUrl({ response_mode: 'form_post', ...more })

    test('is posted by itself, after a form of a hosted page, and takes no place in the history', async () => {
      const context = await newContext()
      const page = await context.newPage()
      const complaints: string[] = []
      page.on('console', (message) => complaints.push(message.text()))
      await page.goto(party.origin)
      await page.goto(form({ state: `"'<&>` }))
      await enter(page)
      await page.waitForURL(`${party.origin}/cb`)
      expect(party.posted.at(-1)).toEqual({
        code: expect.any(String),
        state: `"'<&>`,
        iss: `${ORIGIN}/${tenant}`,
      })
      // An icon that the site does not have is no concern of ours.
      expect(complaints.filter((text) => /Content Security Policy/.test(text))).toEqual([])
      const sent = party.posted.length
      await page.goBack()
      expect(await page.locator('h1').textContent()).not.toBe('Back to Relying party')
      expect(party.posted.length).toBe(sent)
    })

    test('leads on to another origin that the client has registered, as forms are held to where they end', async () => {
      party.redirectTo = `${stranger.origin}/home`
      await updateClient(platformCtx(tenant), client.id, { allowedOrigins: [stranger.origin] })
      const page = await signedIn.newPage()
      await page.goto(form({ prompt: 'none' }))
      await page.waitForURL(`${stranger.origin}/home`)
      await updateClient(platformCtx(tenant), client.id, { allowedOrigins: [] })
      party.redirectTo = null
    })

    test('waits for a button where scripts do not run, for errors as for codes', async () => {
      const context = await newContext({ javaScriptEnabled: false })
      const page = await context.newPage()
      await page.goto(form({ prompt: 'none' }))
      await page.keyboard.press('Tab')
      await page.keyboard.press('Enter')
      await page.waitForURL(`${party.origin}/cb`)
      expect(party.posted.at(-1)).toMatchObject({ error: 'login_required', state: 'a-state' })
    })
  })

  test('security 6: a script for an address, had it come into the database all the same, runs nowhere', async () => {
    const script = 'javascript:alert(document.domain)'
    const planted = await makeClient(tenant, { callbacks: [`${party.origin}/cb`] })
    await dbFor(tenant).client.updateMany({
      where: { tenantId: tenant, id: planted.id },
      data: { callbacks: [script], webOrigins: ['null', script], logoUrl: script },
    })
    forgetClient(tenant, planted.id)
    const page = await signedIn.newPage()
    const dialogs: string[] = []
    page.on('dialog', (dialog) => {
      dialogs.push(dialog.message())
      return dialog.dismiss()
    })
    for (const response_mode of ['query', 'form_post', 'web_message'])
      for (const prompt of ['none', 'select_account']) {
        const more = { redirect_uri: script, response_mode, prompt }
        await page.goto(`${ORIGIN}${authorizePath(tenant, planted, more)}`).catch(() => null)
        for (const button of await page.getByRole('button').all())
          await button.click({ timeout: 500 }).catch(() => null)
      }
    expect(dialogs).toEqual([])
  })
})
