import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as oidc from 'openid-client'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { launchBrowser, noBrowser } from '../support/browser.ts'
import { freePort } from '../support/process.ts'

// OpenID Connect Core 1.0, section 4: the plan of the OpenID Foundation for logins that a third party initiates, its module in
// each of its forms, at a relying party that is built on openid-client and starts the sign-in itself.

// The issuer must be where the provider listens: the environment is read with the first import of src.
const port = await freePort()
process.env.BASE_URL = `http://localhost:${port}`
process.env.PORT = String(port)
const { newTenant } = await import('../support/actors.ts')
const { startApp } = await import('../support/app.ts')
const { dbFor } = await import('../../src/db.ts')
const { logOf } = await import('../support/events.ts')
const { Browser, codeFor, makeClient, makeUser, signInAt } = await import('./provider.ts')

const EMAIL = 'ada@example.com'

/** A relying party with a page that starts sign-ins, such as section 4 wants it. */
async function startParty() {
  let config: oidc.Configuration
  const pending = new Map<string, { checks: oidc.AuthorizationCodeGrantChecks; target: string }>()
  /** The parameters of each request that asked it to start a sign-in. */
  const asked: Record<string, string>[] = []
  const refuse = (response: ServerResponse, why: string) => response.writeHead(400).end(why)
  const go = (response: ServerResponse, to: string) => response.writeHead(302, { location: to }).end()

  async function start(url: URL, response: ServerResponse): Promise<void> {
    const given = Object.fromEntries(url.searchParams)
    asked.push(given)
    if (given.iss !== config.serverMetadata().issuer) return void refuse(response, 'not our provider')
    const target = new URL(given.target_link_uri ?? '/home', origin)
    // "RPs MUST verify the value of the target_link_uri to prevent being used as an open redirector."
    if (target.origin !== origin) return void refuse(response, 'not our page')
    const checks = {
      pkceCodeVerifier: oidc.randomPKCECodeVerifier(),
      expectedState: oidc.randomState(),
      expectedNonce: oidc.randomNonce(),
      idTokenExpected: true,
    }
    pending.set(checks.expectedState, { checks, target: target.href })
    const location = oidc.buildAuthorizationUrl(config, {
      scope: 'openid email',
      redirect_uri: `${origin}/callback`,
      state: checks.expectedState,
      nonce: checks.expectedNonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(checks.pkceCodeVerifier),
      code_challenge_method: 'S256',
      ...(given.login_hint !== undefined && { login_hint: given.login_hint }),
    })
    go(response, location.href)
  }

  async function finish(url: URL, response: ServerResponse): Promise<void> {
    const sent = pending.get(url.searchParams.get('state') ?? '')
    if (!sent) return void refuse(response, 'nothing was asked')
    try {
      const tokens = await oidc.authorizationCodeGrant(config, url, sent.checks)
      subjects.push(tokens.claims()?.sub ?? '')
      go(response, sent.target)
    } catch (error) {
      refuse(response, String(error))
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
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    origin,
    asked,
    /** Who was signed in, in order. */
    subjects,
    connect: async (issuer: string, clientId: string, secret: string) => {
      const insecure = { execute: [oidc.allowInsecureRequests] }
      config = await oidc.discovery(new URL(issuer), clientId, secret, undefined, insecure)
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

let app: Awaited<ReturnType<typeof startApp>>
let party: Awaited<ReturnType<typeof startParty>>
let tenant: string
let issuer: string
let client: Awaited<ReturnType<typeof makeClient>>
let userId: string
beforeAll(async () => {
  ;[app, party] = await Promise.all([startApp(), startParty()])
  tenant = await newTenant()
  issuer = `http://localhost:${port}/${tenant}`
  userId = (await makeUser(tenant, EMAIL)).id
  client = await makeClient(tenant, {
    name: 'Shop',
    callbacks: [`${party.origin}/callback`, 'https://shop.example.com/callback'],
    allowedOrigins: ['https://app.shop.example.com'],
    allowedLogoutUrls: [`${party.origin}/bye`],
    initiateLoginUrl: `${party.origin}/start?from=vestibule&x=%20y`,
  })
  await party.connect(issuer, client.id, client.secret)
})
afterAll(async () => {
  party.close()
  await app.close()
})
beforeEach(() => {
  party.asked.length = 0
  party.subjects.length = 0
})

const initiate = (more: Record<string, string> = {}) =>
  `/${tenant}/oidc/initiate?${new URLSearchParams({ client_id: client.id, ...more })}`
type Page = InstanceType<typeof Browser>

/** Where a page elsewhere sends the browser. */
const sentTo = async (browser: Page, url: string | null): Promise<string> => {
  const response = await browser.fetch(url ?? '')
  const location = response.headers.get('location')
  if (location === null) throw new Error(`${url}: ${response.status} ${await response.text()}`)
  return location
}

/** The request as section 4 has it, to the relying party's page; answers where that sends the browser. */
async function toParty(browser: Page, more: Record<string, string> = {}): Promise<string> {
  const response = await browser.fetch(initiate(more))
  expect([response.status, response.headers.get('cache-control')]).toEqual([303, 'no-store'])
  return sentTo(browser, response.headers.get('location'))
}

describe('oidcc-3rd-party-init-login (OIDC Core, section 4)', () => {
  test('a person who comes by the provider is signed in at the client', async () => {
    const browser = new Browser(app)
    const authorize = await toParty(browser)
    expect(party.asked).toEqual([{ from: 'vestibule', x: ' y', iss: issuer }])
    const { location } = await signInAt(browser, authorize, EMAIL)
    expect(await sentTo(browser, location)).toBe(`${party.origin}/home`)
    expect(party.subjects).toEqual([userId])
    // The iss is the issuer as the provider's own metadata has it.
    const metadata = await (await fetch(`${issuer}/.well-known/openid-configuration`)).json()
    expect(party.asked[0]?.iss).toBe((metadata as { issuer: string }).issuer)
  })

  test('login_hint says who is expected, target_link_uri where they wanted to go', async () => {
    const email = 'grace+orders@example.com'
    const grace = await makeUser(tenant, email)
    const target = `${party.origin}/orders/7?tab=a%26b&sort=1#items`
    const browser = new Browser(app)
    const authorize = await toParty(browser, { login_hint: email, target_link_uri: target })
    expect(party.asked).toEqual([
      { from: 'vestibule', x: ' y', iss: issuer, login_hint: email, target_link_uri: target },
    ])
    const page = await browser.open(authorize)
    expect(await page.response.text()).toContain(`value="${email}"`)
    const { location } = await signInAt(browser, authorize, email)
    expect(await sentTo(browser, location)).toBe(target)
    expect(party.subjects).toEqual([grace.id])
  })

  test('whoever is signed in already sees no page', async () => {
    const browser = new Browser(app)
    const email = 'linus@example.com'
    const linus = await makeUser(tenant, email)
    const first = await signInAt(browser, await toParty(browser), email)
    await sentTo(browser, first.location)
    const { location, path } = await browser.open(await toParty(browser))
    expect(path).toBe('')
    expect(await sentTo(browser, location)).toBe(`${party.origin}/home`)
    expect(party.subjects).toEqual([linus.id, linus.id])
  })

  test('a target may be at any of the origins that the client registered', async () => {
    for (const target of [
      `${party.origin}/`,
      'https://shop.example.com/deep?x=1',
      'https://SHOP.example.com:443/',
      'https://app.shop.example.com/#/orders',
    ]) {
      const response = await fetch(`${app.origin}${initiate({ target_link_uri: target })}`, {
        redirect: 'manual',
      })
      expect([target, response.status]).toEqual([target, 303])
      const to = new URL(response.headers.get('location') ?? '')
      expect([to.origin, to.pathname]).toEqual([party.origin, '/start'])
      expect(to.searchParams.get('target_link_uri')).toBe(target)
    }
  })

  test('empty parameters are none (RFC 6749, section 3.1), unknown ones are ignored', async () => {
    await toParty(new Browser(app), {
      login_hint: '',
      target_link_uri: '',
      iss: 'https://evil.example',
      state: 'x',
    })
    expect(party.asked).toEqual([{ from: 'vestibule', x: ' y', iss: issuer }])
  })
})

const refusalOf = async (path: string) => {
  const response = await fetch(`${app.origin}${path}`, { redirect: 'manual' })
  const html = await response.text()
  expect([path, response.headers.get('location')]).toEqual([path, null])
  return { status: response.status, html, requestId: response.headers.get('x-request-id') ?? '' }
}

describe('security 3: nobody is led anywhere but to the client', () => {
  test.each([
    'https://evil.example/',
    'https://shop.example.com.evil.example/',
    'https://evil.example/https://shop.example.com/',
    'https://shop.example.com@evil.example/',
    'https://user:secret@shop.example.com/',
    'https://shop.example.com:8443/',
    'http://shop.example.com/',
    'https://shop.example.com\\@evil.example/',
    '//evil.example',
    '/orders',
    'javascript:alert(1)',
    'data:text/html,x',
    'com.example.shop:/orders',
    'null',
  ])('target_link_uri=%s stays here', async (target) => {
    const { status, html, requestId } = await refusalOf(initiate({ target_link_uri: target }))
    expect(status).toBe(400)
    expect(html).toContain('The target_link_uri is not the client’s own.')
    expect(html).not.toContain('evil.example')
    expect(party.asked).toEqual([])
    const entry = (await logOf(tenant)).find((event) => event.requestId === requestId)
    expect(entry).toMatchObject({
      type: 'authorize.refused',
      subjectIds: [client.id],
      detail: {
        error: 'invalid_request',
        endpoint: 'initiate',
        target_link_uri: target,
        fault: expect.any(String),
      },
    })
  })

  test('an unknown client, one of another tenant, one without such a page, and a request that is unclear stay here', async () => {
    const plain = await makeClient(tenant)
    const other = await newTenant()
    const theirs = await makeClient(other, { initiateLoginUrl: 'https://theirs.example/start' })
    const at = (query: string) => refusalOf(`/${tenant}/oidc/initiate${query}`)
    for (const [query, why] of [
      ['', 'client_id is missing.'],
      ['?client_id=', 'client_id is missing.'],
      ['?client_id=nobody', 'The client_id is not known.'],
      ['?client_id=%00', 'The client_id is not known.'],
      [`?client_id=${theirs.id}`, 'The client_id is not known.'],
      [`?client_id=${plain.id}`, 'The client has no page that starts a sign-in.'],
      [`?client_id=${client.id}&client_id=${client.id}`, 'Repeated parameters: client_id.'],
      [`?client_id=${client.id}&login_hint=a&login_hint=b`, 'Repeated parameters: login_hint.'],
    ] as const) {
      const { status, html } = await at(query)
      expect([query, status, html.includes(why)]).toEqual([query, 400, true])
    }
    expect(party.asked).toEqual([])
  })

  test('what a hint holds adds no header and no parameter', async () => {
    await toParty(new Browser(app), {
      login_hint: 'a\r\nset-cookie: x=y&iss=https://evil.example#&target_link_uri=x',
    })
    expect(party.asked).toEqual([
      {
        from: 'vestibule',
        x: ' y',
        iss: issuer,
        login_hint: 'a\r\nset-cookie: x=y&iss=https://evil.example#&target_link_uri=x',
      },
    ])
  })

  test('other methods are none', async () => {
    const response = await fetch(`${app.origin}${initiate()}`, { method: 'POST', redirect: 'manual' })
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET'])
  })
})

/** The link that a page offers as the way on; null when there is none. */
const onwardIn = (html: string): { to: string; text: string } | null => {
  const [, to, text] = /<a class="button primary" href="([^"]*)"><span>(.*?)<\/span><\/a>/.exec(html) ?? []
  return to === undefined
    ? null
    : { to: to.replaceAll('&amp;', '&'), text: (text ?? '').replaceAll(/<[^>]*>/g, '') }
}

describe('our own pages lead back to the client by it', () => {
  test('who is signed out may sign in again', async () => {
    const browser = new Browser(app)
    const { html } = await pageAfterLogout(browser, `?client_id=${client.id}`)
    expect(onwardIn(html)).toEqual({
      to: `${issuer}/oidc/initiate?client_id=${client.id}`,
      text: 'Sign in again',
    })
    await signInAt(browser, await sentTo(browser, await sentTo(browser, onwardIn(html)?.to ?? '')), EMAIL)
    expect(party.asked).toEqual([{ from: 'vestibule', x: ' y', iss: issuer }])
  })

  test('whose request cannot be answered may start again at the application', async () => {
    for (const query of [
      `response_type=code&scope=openid&client_id=${client.id}&redirect_uri=https%3A%2F%2Fevil.example`,
      `client_id=${client.id}`,
    ]) {
      const { html } = await refusalOf(`/${tenant}/oidc/authorize?${query}`)
      expect(onwardIn(html)).toEqual({
        to: `${issuer}/oidc/initiate?client_id=${client.id}`,
        text: 'Go to Shop',
      })
    }
    const { html } = await refusalOf(initiate({ target_link_uri: 'https://evil.example' }))
    expect(onwardIn(html)?.to).toBe(`${issuer}/oidc/initiate?client_id=${client.id}`)
  })

  test('of a client without such a page, or of nobody known, there is no way on', async () => {
    const plain = await makeClient(tenant)
    for (const id of [plain.id, 'nobody', 'client_01m7xeb1sbendby702xerkqv3p']) {
      const { html } = await refusalOf(`/${tenant}/oidc/authorize?client_id=${id}`)
      expect([id, onwardIn(html)]).toEqual([id, null])
    }
    const browser = new Browser(app)
    expect(onwardIn((await pageAfterLogout(browser, `?client_id=${plain.id}`)).html)).toBeNull()
    expect(onwardIn((await pageAfterLogout(browser, '')).html)).toBeNull()
  })
})

describe.skipIf(noBrowser)('in a real browser', () => {
  test('a person signs in from elsewhere, signs out, and signs in again by the page’s link', async () => {
    const browser = await launchBrowser()
    onTestFinished(() => browser.close())
    const page = await browser.newPage()
    const enter = async (email: string) => {
      await page.fill('input[name=address]', email)
      await page.keyboard.press('Enter')
      await page.waitForURL('**/code')
      await page.fill('input[name=code]', await codeFor(email))
      await page.keyboard.press('Enter')
      await page.waitForURL(`${party.origin}/**`)
    }
    const email = 'hedy@example.com'
    const hedy = await makeUser(tenant, email)
    const target = `${party.origin}/orders/7#items`
    await page.goto(`http://localhost:${port}${initiate({ login_hint: email, target_link_uri: target })}`)
    expect(await page.inputValue('input[name=address]')).toBe(email)
    await enter(email)
    expect(page.url()).toBe(target)

    await page.goto(`${issuer}/oidc/logout?client_id=${client.id}`)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('link', { name: 'Sign in again' }).focus()
    await page.keyboard.press('Enter')
    await page.waitForURL('**/signin/**')
    await dbFor(tenant).passcode.deleteMany({ where: { tenantId: tenant } }) // 30 s between codes are for people
    await enter(email)
    expect(page.url()).toBe(`${party.origin}/home`)
    expect(party.subjects).toEqual([hedy.id, hedy.id])
  })
})

const pageAfterLogout = async (browser: Page, query: string) => {
  const { response } = await browser.open(`/${tenant}/oidc/logout${query}`)
  return { html: await response.text() }
}
