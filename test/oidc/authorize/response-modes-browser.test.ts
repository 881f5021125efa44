import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { BrowserContext, ConsoleMessage, Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { invalidateClient } from '../../../src/access/client-cache.ts'
import { updateClient } from '../../../src/clients/client-changes.ts'
import { createPlatformCtx } from '../../../src/context/context.ts'
import { Handle } from '../../../src/database/handle.ts'
import { noBrowser, ORIGIN } from '../../support/browser.ts'
import { test as base, enterCode } from '../../support/browser-sign-in.ts'
import { dbFor } from '../../support/database.ts'
import { authorizePath } from '../../support/protocol.ts'

/** A message that a page of a site has received. */
type Heard = { origin: string; data: { type: string; response: Record<string, string> } }
type Site = {
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
    // A host of the site of ORIGIN: a frame of the program receives its cookies.
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

async function pageAt(site: Site, context: BrowserContext): Promise<Page> {
  const page = await context.newPage()
  await page.goto(site.origin)
  return page
}

const readHeard = (page: Page): Promise<Heard[]> =>
  page.evaluate(() => (window as unknown as { heard: Heard[] }).heard)

async function nextHeard(page: Page): Promise<Heard> {
  await page.waitForFunction(() => (window as unknown as { heard: Heard[] }).heard.length > 0)
  return (await readHeard(page))[0] as Heard
}

/** Embeds a URL in a page. */
const frame = (page: Page, url: string): Promise<void> =>
  page.evaluate((src) => {
    document.body.append(Object.assign(document.createElement('iframe'), { src }))
  }, url)

/** Opens a URL in a window whose opener is the page. */
async function popUp(page: Page, url: string): Promise<Page> {
  const [popup] = await Promise.all([
    page.context().waitForEvent('page'),
    page.evaluate((target) => void window.open(target), url),
  ])
  return popup
}

const nextConsoleMessage = (context: BrowserContext, words: RegExp): Promise<ConsoleMessage> =>
  context.waitForEvent('console', { predicate: (message) => words.test(message.text()) })

const CODE_MESSAGE = {
  origin: ORIGIN,
  data: {
    type: 'authorization_response',
    response: { code: expect.any(String), state: 'a-state', iss: expect.stringContaining(ORIGIN) },
  },
}
const errorMessage = (tenant: string, error: string) => ({
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
const test = base
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

// Starting Chromium and signing in may take longer than a test.
if (!noBrowser) test.beforeAll(({ signedIn: _ }) => {}, 90_000)

describe.skipIf(noBrowser)('a web_message response (draft-sakimura-oauth-wmrm)', () => {
  test('posts a code that can be redeemed to the embedding page of a frame', async ({
    oidc,
    party,
    signedIn,
    authorizeUrl,
  }) => {
    const page = await pageAt(party, signedIn)
    await frame(page, authorizeUrl({ response_mode: 'web_message', prompt: 'none' }))
    const heard = await nextHeard(page)
    expect(heard).toEqual(CODE_MESSAGE)
    const redirect = { redirect_uri: `${party.origin}/cb` }
    const tokens = await oidc.exchange(heard.data.response.code as string, redirect)
    expect(tokens.status).toBe(200)
  })

  test('posts an error to the embedding page of a frame', async ({ tenant, party, authorizeUrl, open }) => {
    const page = await pageAt(party, await open())
    await frame(page, authorizeUrl({ response_mode: 'web_message', prompt: 'none' }))
    expect(await nextHeard(page)).toEqual(errorMessage(tenant, 'login_required'))
  })

  test('posts to the opener of a popup after a sign-in, and closes the popup', async ({
    party,
    authorizeUrl,
    signInOn,
    open,
  }) => {
    const page = await pageAt(party, await open())
    const popup = await popUp(
      page,
      authorizeUrl({ response_mode: 'web_message', prompt: 'login', display: 'popup' }),
    )
    const closed = popup.waitForEvent('close')
    expect(await popup.locator('header').count()).toBe(0)
    await signInOn(popup)
    await closed
    expect(await nextHeard(page)).toEqual(CODE_MESSAGE)
  })

  test('posts an error to the opener of a popup, and closes the popup', async ({
    tenant,
    party,
    authorizeUrl,
    open,
  }) => {
    const page = await pageAt(party, await open())
    const popup = await popUp(page, authorizeUrl({ response_mode: 'web_message', scope: 'nonsense' }))
    if (!popup.isClosed()) await popup.waitForEvent('close')
    expect(await nextHeard(page)).toEqual(errorMessage(tenant, 'invalid_scope'))
  })

  test('links to the application without an opener or embedding page', async ({
    party,
    signedIn,
    authorizeUrl,
  }) => {
    const page = await signedIn.newPage()
    await page.goto(authorizeUrl({ response_mode: 'web_message' }))
    expect(await page.locator('h1').textContent()).toBe('Back to Relying party')
    await page.getByRole('link', { name: 'Open the application' }).click()
    await page.waitForURL(`${party.origin}/`)
  })

  test('cannot be framed by an origin that is not one of the webOrigins', async ({
    party,
    stranger,
    signedIn,
    authorizeUrl,
  }) => {
    const page = await pageAt(stranger, signedIn)
    const rejected = nextConsoleMessage(signedIn, /frame-ancestors/)
    await frame(page, authorizeUrl({ response_mode: 'web_message', prompt: 'none' }))
    expect((await rejected).text()).toContain(`frame-ancestors ${party.origin}`)
    expect(await readHeard(page)).toEqual([])
  })

  test('posts nothing to an opener whose origin is not one of the webOrigins', async ({
    party,
    stranger,
    signedIn,
    authorizeUrl,
  }) => {
    const page = await pageAt(stranger, signedIn)
    const dropped = nextConsoleMessage(signedIn, /postMessage/)
    await popUp(page, authorizeUrl({ response_mode: 'web_message', prompt: 'none' }))
    expect((await dropped).text()).toContain(party.origin)
    expect(await readHeard(page)).toEqual([])
  })

  test('is the only page that the registered origin may frame', async ({ party, signedIn, authorizeUrl }) => {
    const page = await pageAt(party, signedIn)
    const rejected = nextConsoleMessage(signedIn, /frame-ancestors/)
    await frame(page, authorizeUrl({ response_mode: 'web_message', prompt: 'login' }))
    expect((await rejected).text()).toContain("frame-ancestors 'none'")
  })

  test('posts nothing to an origin that is removed during the sign-in', async ({
    tenant,
    client,
    party,
    authorizeUrl,
    signInOn,
    open,
  }) => {
    const context = await open()
    const page = await pageAt(party, context)
    const popup = await popUp(page, authorizeUrl({ response_mode: 'web_message', prompt: 'consent' }))
    await signInOn(popup)
    await popup.getByRole('button', { name: 'Allow' }).waitFor()
    await updateClient(createPlatformCtx(tenant), client.id, { webOrigins: [] })
    await popup.getByRole('button', { name: 'Allow' }).click()
    await popup.getByText('This request cannot be answered').waitFor()
    await updateClient(createPlatformCtx(tenant), client.id, { webOrigins: [party.origin] })
    expect(await readHeard(page)).toEqual([])
  })
})

describe.skipIf(noBrowser)('a form_post response (OAuth 2.0 Form Post Response Mode)', () => {
  test('is posted without a click, and leaves no entry in the history', async ({
    tenant,
    party,
    authorizeUrl,
    signInOn,
    open,
  }) => {
    const context = await open()
    const page = await context.newPage()
    const messages: string[] = []
    page.on('console', (message) => messages.push(message.text()))
    await page.goto(party.origin)
    await page.goto(authorizeUrl({ response_mode: 'form_post', state: `"'<&>` }))
    await signInOn(page)
    await page.waitForURL(`${party.origin}/cb`)
    expect(party.posted.at(-1)).toEqual({
      code: expect.any(String),
      state: `"'<&>`,
      iss: `${ORIGIN}/${tenant}`,
    })
    // Other messages are about the icon that the site does not have.
    expect(messages.filter((text) => /Content Security Policy/.test(text))).toEqual([])
    const sent = party.posted.length
    await page.goBack()
    expect(await page.locator('h1').textContent()).not.toBe('Back to Relying party')
    expect(party.posted.length).toBe(sent)
  })

  test('may redirect to another registered origin of the client', async ({
    tenant,
    client,
    party,
    stranger,
    signedIn,
    authorizeUrl,
  }) => {
    party.redirectTo = `${stranger.origin}/home`
    await updateClient(createPlatformCtx(tenant), client.id, { allowedOrigins: [stranger.origin] })
    const page = await signedIn.newPage()
    await page.goto(authorizeUrl({ response_mode: 'form_post', prompt: 'none' }))
    await page.waitForURL(`${stranger.origin}/home`)
    expect(page.url()).toBe(`${stranger.origin}/home`)
    await updateClient(createPlatformCtx(tenant), client.id, { allowedOrigins: [] })
    party.redirectTo = null
  })

  test('is posted by a button without scripts', async ({ party, authorizeUrl, open }) => {
    const context = await open({ javaScriptEnabled: false })
    const page = await context.newPage()
    await page.goto(authorizeUrl({ response_mode: 'form_post', prompt: 'none' }))
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.waitForURL(`${party.origin}/cb`)
    expect(party.posted.at(-1)).toMatchObject({ error: 'login_required', state: 'a-state' })
  })
})

describe.skipIf(noBrowser)('an authorization response', () => {
  test('runs no script from URLs in the database', async ({ tenant, newClient, party, signedIn }) => {
    const script = 'javascript:alert(document.domain)'
    const planted = await newClient({ callbacks: [`${party.origin}/cb`] })
    await dbFor(tenant).client.updateMany({
      where: { tenantId: tenant, id: planted.id },
      data: { callbacks: [script], webOrigins: ['null', script], logoUrl: script },
    })
    invalidateClient(new Handle({ tenant }), planted.id)
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
