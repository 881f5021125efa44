import { describe, expect } from 'vitest'
import { env } from '../../src/core/env.ts'
import { newTenant } from '../support/actors.ts'
import { test as base } from '../support/openid-client.ts'
import type { PageBrowser } from '../support/page-browser.ts'
import { makeClient, signInAt } from '../support/protocol.ts'
import { startParty } from '../support/third-party-login.ts'

/** The primary link of a page, or null. */
const onwardLinkIn = (html: string): { to: string; text: string } | null => {
  const [, to, text] = /<a class="button primary" href="([^"]*)"><span>(.*?)<\/span><\/a>/.exec(html) ?? []
  return to === undefined
    ? null
    : { to: to.replaceAll('&amp;', '&'), text: (text ?? '').replaceAll(/<[^>]*>/g, '') }
}

/** `test` with a relying party that starts sign-ins, and requests to initiate a login there. */
const test = base
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

// The plan of the OpenID Foundation for logins that a third party initiates, its module in each of its forms.

describe('oidcc-3rd-party-init-login (OIDC Core, section 4)', () => {
  test('signs a user in at the client', async ({
    app,
    tenant,
    newBrowser,
    party,
    user,
    readRedirect,
    sendToParty,
    issuer,
  }) => {
    const browser = newBrowser()
    const authorize = await sendToParty(browser)
    expect(party.asked).toEqual([{ from: 'vestibule', x: ' y', iss: issuer }])
    const { location } = await signInAt(browser, authorize, user.email)
    expect(await readRedirect(browser, location)).toBe(`${party.origin}/home`)
    expect(party.subjects).toEqual([user.id])
    // The iss is the issuer as the provider's own metadata has it.
    const metadata = await (await app.fetch(`/${tenant}/.well-known/openid-configuration`)).json()
    expect(party.asked[0]?.iss).toBe((metadata as { issuer: string }).issuer)
  })

  test('passes login_hint and target_link_uri on to the client', async ({
    email,
    newPerson,
    newBrowser,
    party,
    readRedirect,
    sendToParty,
    issuer,
  }) => {
    const address = email('grace+orders')
    const grace = await newPerson({ email: address })
    const target = `${party.origin}/orders/7?tab=a%26b&sort=1#items`
    const browser = newBrowser()
    const authorize = await sendToParty(browser, { login_hint: address, target_link_uri: target })
    expect(party.asked).toEqual([
      { from: 'vestibule', x: ' y', iss: issuer, login_hint: address, target_link_uri: target },
    ])
    const page = await browser.open(authorize)
    expect(await page.response.text()).toContain(`value="${address}"`)
    const { location } = await signInAt(browser, authorize, address)
    expect(await readRedirect(browser, location)).toBe(target)
    expect(party.subjects).toEqual([grace.id])
  })

  test('shows no page to a signed-in user', async ({
    newPerson,
    newBrowser,
    party,
    readRedirect,
    sendToParty,
  }) => {
    const browser = newBrowser()
    const linus = await newPerson()
    const first = await signInAt(browser, await sendToParty(browser), linus.email)
    await readRedirect(browser, first.location)
    const { location, path } = await browser.open(await sendToParty(browser))
    expect(path).toBe('')
    expect(await readRedirect(browser, location)).toBe(`${party.origin}/home`)
    expect(party.subjects).toEqual([linus.id, linus.id])
  })

  test('accepts a target_link_uri of every registered origin', async ({ app, party, initiate }) => {
    for (const target of [
      `${party.origin}/`,
      'https://shop.example.com/deep?x=1',
      'https://SHOP.example.com:443/',
      'https://app.shop.example.com/#/orders',
    ]) {
      const response = await app.fetch(initiate({ target_link_uri: target }))
      expect([target, response.status]).toEqual([target, 303])
      const to = new URL(response.headers.get('location') ?? '')
      expect([to.origin, to.pathname]).toEqual([party.origin, '/start'])
      expect(to.searchParams.get('target_link_uri')).toBe(target)
    }
  })

  test('ignores empty and unknown parameters (RFC 6749, section 3.1)', async ({
    newBrowser,
    party,
    sendToParty,
    issuer,
  }) => {
    await sendToParty(newBrowser(), {
      login_hint: '',
      target_link_uri: '',
      iss: 'https://evil.example',
      state: 'x',
    })
    expect(party.asked).toEqual([{ from: 'vestibule', x: ' y', iss: issuer }])
  })

  test('encodes the login_hint, so that it adds neither header nor parameter', async ({
    newBrowser,
    party,
    sendToParty,
    issuer,
  }) => {
    await sendToParty(newBrowser(), {
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
})

describe('a rejected request to initiate a login', () => {
  test.for([
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
  ])(
    'shows an error page for the target_link_uri %s',
    async (target, { events, client, party, initiate, expectRejection }) => {
      const { status, html, requestId } = await expectRejection(initiate({ target_link_uri: target }))
      expect(status).toBe(400)
      expect(html).toContain('The target_link_uri does not belong to the client.')
      // In development, the page names the URL to the developer.
      expect(html).not.toMatch(/="[^"]*evil\.example/)
      expect(party.asked).toEqual([])
      const entry = (await events()).find((event) => event.requestId === requestId)
      expect(entry).toMatchObject({
        type: 'authorize.refused',
        subjectIds: [client.id],
        detail: {
          error: 'invalid_request',
          endpoint: 'initiate',
          target_link_uri: target,
          reason: expect.any(String),
        },
      })
    },
  )

  test('shows an error page for a client that is missing, unknown or repeated, or has no initiateLoginUrl', async ({
    tenant,
    newClient,
    client,
    party,
    expectRejection,
  }) => {
    const plain = await newClient()
    const other = await newTenant()
    const theirs = await makeClient(other, { initiateLoginUrl: 'https://theirs.example/start' })
    const at = (query: string) => expectRejection(`/${tenant}/oidc/initiate${query}`)
    for (const [query, why] of [
      ['', 'client_id is missing.'],
      ['?client_id=', 'client_id is missing.'],
      ['?client_id=unknown', 'The client_id is unknown.'],
      ['?client_id=%00', 'The client_id is unknown.'],
      [`?client_id=${theirs.id}`, 'The client_id is unknown.'],
      [`?client_id=${plain.id}`, 'The client has no page that starts a sign-in.'],
      [`?client_id=${client.id}&client_id=${client.id}`, 'Repeated parameters: client_id.'],
      [`?client_id=${client.id}&login_hint=a&login_hint=b`, 'Repeated parameters: login_hint.'],
    ] as const) {
      const { status, html } = await at(query)
      expect([query, status, html.includes(why)]).toEqual([query, 400, true])
    }
    expect(party.asked).toEqual([])
  })

  test('answers 405 to other methods', async ({ app, initiate }) => {
    const response = await app.fetch(initiate(), { method: 'POST' })
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  })
})

describe('hosted pages with the initiateLoginUrl of a client', () => {
  test('link to a new sign-in after a logout', async ({
    client,
    newBrowser,
    party,
    user,
    readRedirect,
    openAfterLogout,
    issuer,
  }) => {
    const browser = newBrowser()
    const { html } = await openAfterLogout(browser, `?client_id=${client.id}`)
    expect(onwardLinkIn(html)).toEqual({
      to: `${issuer}/oidc/initiate?client_id=${client.id}`,
      text: 'Sign in again',
    })
    await signInAt(
      browser,
      await readRedirect(browser, await readRedirect(browser, onwardLinkIn(html)?.to ?? '')),
      user.email,
    )
    expect(party.asked).toEqual([{ from: 'vestibule', x: ' y', iss: issuer }])
  })

  test('link to the application after a request that is rejected', async ({
    tenant,
    client,
    initiate,
    expectRejection,
    issuer,
  }) => {
    for (const query of [
      `response_type=code&scope=openid&client_id=${client.id}&redirect_uri=https%3A%2F%2Fevil.example`,
      `client_id=${client.id}`,
    ]) {
      const { html } = await expectRejection(`/${tenant}/oidc/authorize?${query}`)
      expect(onwardLinkIn(html)).toEqual({
        to: `${issuer}/oidc/initiate?client_id=${client.id}`,
        text: 'Go to Shop',
      })
    }
    const { html } = await expectRejection(initiate({ target_link_uri: 'https://evil.example' }))
    expect(onwardLinkIn(html)?.to).toBe(`${issuer}/oidc/initiate?client_id=${client.id}`)
  })

  test('have no link for an unknown client or one without an initiateLoginUrl', async ({
    tenant,
    newClient,
    newBrowser,
    expectRejection,
    openAfterLogout,
  }) => {
    const plain = await newClient()
    for (const id of [plain.id, 'unknown', 'client_01m7xeb1sbendby702xerkqv3p']) {
      const { html } = await expectRejection(`/${tenant}/oidc/authorize?client_id=${id}`)
      expect([id, onwardLinkIn(html)]).toEqual([id, null])
    }
    const browser = newBrowser()
    expect(onwardLinkIn((await openAfterLogout(browser, `?client_id=${plain.id}`)).html)).toBeNull()
    expect(onwardLinkIn((await openAfterLogout(browser, '')).html)).toBeNull()
  })
})
