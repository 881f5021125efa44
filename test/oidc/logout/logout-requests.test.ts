import { decodeJwt } from 'jose'
import { describe, expect } from 'vitest'
import { signJwt } from '../../../src/keys/keys.ts'
import { startSessionIn } from '../../support/browser-session.ts'
import { dbFor } from '../../support/database.ts'
import { answerIn, csrfIn } from '../../support/protocol.ts'
import { test as base } from '../../support/visitor.ts'

/** A registered post_logout_redirect_uri. */
const AFTER = 'https://rp.example.com/signed-out?a=1'

const OTHER_AFTER = 'https://other.example.com/bye'
const NATIVE_AFTER = 'http://127.0.0.1/signed-out'

/** Outcomes of a logout request, as `readOutcome` returns them. */
const ASKED = '200 Sign out?'
const REJECTED = '400 Sign out?'
const SIGNED_OUT = '200 You are signed out'

type ClientName = 'web' | 'other' | 'native'
type TestClient = { id: string; secret: string }
type Own = { tenant: string; clients: Record<ClientName, TestClient>; idTokens: Record<ClientName, string> }
/** Builds the parameters of a logout request. */
type Parameters = (own: Own) => Record<string, string> | Promise<Record<string, string>>

/** The location that a response redirects to, or the status and heading of its page. */
async function readOutcome(response: Response): Promise<string> {
  const location = response.headers.get('location')
  if (location) return location
  const html = await response.text()
  const [, title = ''] = /<h1[^>]*>([^<]+)</.exec(html) ?? []
  return `${response.status} ${title}`
}

/** `test` with a user who is signed in at three clients, for each test. */
const test = base
  .extend('clients', { scope: 'file' }, async ({ newClient }) => ({
    web: await newClient({ allowedLogoutUrls: [AFTER, NATIVE_AFTER] }),
    other: await newClient({ allowedLogoutUrls: [OTHER_AFTER] }),
    native: await newClient({ appType: 'native', allowedLogoutUrls: [NATIVE_AFTER] }),
  }))
  /** Issues an ID token to each client for the session of the browser. */
  .extend('issueIdTokens', ({ browser, clients, oidc }) => async (more: Record<string, string> = {}) => {
    const issueFor = async (client: TestClient): Promise<string> => {
      const answer = await browser.fetch(oidc.authorizePath({ prompt: 'none', ...more }, client))
      const { code = '' } = answerIn(answer.headers.get('location'))
      return (await oidc.exchange(code, {}, client)).body.id_token as string
    }
    return {
      web: await issueFor(clients.web),
      other: await issueFor(clients.other),
      native: await issueFor(clients.native),
    }
  })
  /** Signs another user in with the browser; returns the ID tokens of the clients. */
  .extend('signInAgain', ({ browser, clients, newPerson, oidc, issueIdTokens }) => async () => {
    const { email } = await newPerson()
    await oidc.signIn(browser, email, { prompt: 'login' }, clients.web)
    return issueIdTokens({ login_hint: email })
  })
  .extend('idTokens', async ({ browser, tenant, newPerson, issueIdTokens }) => {
    await startSessionIn(browser, tenant, (await newPerson()).id)
    return issueIdTokens()
  })
  .extend('endpoint', { scope: 'file' }, ({ tenant }) => `/${tenant}/oidc/logout`)
  /** Sends a logout request with the browser. */
  .extend(
    'logout',
    ({ browser, endpoint }) =>
      (params: Record<string, string>) =>
        browser.fetch(`${endpoint}?${new URLSearchParams(params)}`),
  )
  /** Whether the session of an ID token is active. */
  .extend('isActive', { scope: 'file' }, ({ tenant }) => async (idToken: string): Promise<boolean> => {
    const id = decodeJwt(idToken).sid as string
    const session = await dbFor(tenant).session.findUniqueOrThrow({
      where: { tenantId_id: { tenantId: tenant, id } },
    })
    return session.endedAt === null
  })

describe('a logout request (RP-Initiated Logout 1.0, section 2)', () => {
  test.for<[name: string, params: Parameters, outcome: string]>([
    ['id_token_hint alone', ({ idTokens }) => ({ id_token_hint: idTokens.web }), SIGNED_OUT],
    [
      'id_token_hint and its client_id',
      ({ idTokens, clients }) => ({ id_token_hint: idTokens.web, client_id: clients.web.id }),
      SIGNED_OUT,
    ],
    [
      'id_token_hint, client_id, post_logout_redirect_uri and state',
      ({ idTokens, clients }) => ({
        id_token_hint: idTokens.web,
        client_id: clients.web.id,
        post_logout_redirect_uri: AFTER,
        state: 'ä&=',
      }),
      `${AFTER}&state=%C3%A4%26%3D`,
    ],
    [
      "the ID token of any of the session's clients",
      ({ idTokens }) => ({ id_token_hint: idTokens.other, post_logout_redirect_uri: OTHER_AFTER }),
      OTHER_AFTER,
    ],
    [
      'logout_hint and ui_locales',
      ({ idTokens }) => ({
        id_token_hint: idTokens.web,
        logout_hint: 'ada@example.com',
        ui_locales: 'rm-CH tlh',
      }),
      SIGNED_OUT,
    ],
    [
      'unknown parameters',
      ({ idTokens }) => ({ id_token_hint: idTokens.web, foo: 'bar', response_type: 'code' }),
      SIGNED_OUT,
    ],
    [
      'empty parameters',
      ({ idTokens }) => ({
        id_token_hint: idTokens.web,
        client_id: '',
        post_logout_redirect_uri: '',
        state: '',
      }),
      SIGNED_OUT,
    ],
    [
      'state without a post_logout_redirect_uri',
      ({ idTokens }) => ({ id_token_hint: idTokens.web, state: 's' }),
      SIGNED_OUT,
    ],
    [
      'a loopback URI of a native application on any port (RFC 8252, section 7.3)',
      ({ idTokens }) => ({
        id_token_hint: idTokens.native,
        post_logout_redirect_uri: 'http://127.0.0.1:49152/signed-out',
      }),
      'http://127.0.0.1:49152/signed-out',
    ],
  ])(
    'ends the session with %s',
    async ([_name, params, outcome], { tenant, clients, idTokens, logout, isActive }) => {
      expect(await readOutcome(await logout(await params({ tenant, clients, idTokens })))).toBe(outcome)
      expect(await isActive(idTokens.web)).toBe(false)
    },
  )

  test.for<[name: string, params: Parameters]>([
    ['client_id alone', ({ clients }) => ({ client_id: clients.web.id })],
    [
      'client_id, post_logout_redirect_uri and state',
      ({ clients }) => ({ client_id: clients.web.id, post_logout_redirect_uri: AFTER, state: 's' }),
    ],
    [
      'logout_hint, which is not secret',
      ({ idTokens }) => ({ logout_hint: decodeJwt(idTokens.web).sid as string }),
    ],
    [
      'an ID token without a session',
      async ({ tenant, idTokens }) => {
        const { sid: _, ...rest } = decodeJwt(idTokens.web)
        return { id_token_hint: await signJwt(tenant, 'JWT', rest) }
      },
    ],
    [
      'an ID token of another user',
      async ({ tenant, idTokens }) => ({
        id_token_hint: await signJwt(tenant, 'JWT', {
          ...decodeJwt(idTokens.web),
          sub: 'user_x',
          sid: 'session_x',
        }),
      }),
    ],
  ])(
    'asks for confirmation with %s',
    async ([_name, params], { tenant, clients, idTokens, logout, isActive }) => {
      expect(await readOutcome(await logout(await params({ tenant, clients, idTokens })))).toBe(ASKED)
      expect(await isActive(idTokens.web)).toBe(true)
    },
  )

  test.for<[name: string, params: Parameters]>([
    [
      'the post_logout_redirect_uri of another client',
      ({ idTokens }) => ({ id_token_hint: idTokens.web, post_logout_redirect_uri: OTHER_AFTER }),
    ],
    [
      "another client's client_id",
      ({ idTokens, clients }) => ({
        id_token_hint: idTokens.web,
        client_id: clients.other.id,
        post_logout_redirect_uri: OTHER_AFTER,
      }),
    ],
    [
      'the registered URI without its query',
      ({ idTokens }) => ({
        id_token_hint: idTokens.web,
        post_logout_redirect_uri: 'https://rp.example.com/signed-out',
      }),
    ],
    [
      'the registered URI in another spelling',
      ({ idTokens }) => ({
        id_token_hint: idTokens.web,
        post_logout_redirect_uri: 'https://RP.example.com/signed-out?a=1',
      }),
    ],
    [
      'a loopback URI on another port, for a client that is not a native application',
      ({ idTokens }) => ({
        id_token_hint: idTokens.web,
        post_logout_redirect_uri: 'http://127.0.0.1:49152/signed-out',
      }),
    ],
    [
      'another loopback URI of a native application',
      ({ idTokens }) => ({
        id_token_hint: idTokens.native,
        post_logout_redirect_uri: 'http://127.0.0.1:49152/elsewhere',
      }),
    ],
    ['an ID token without its last letter', ({ idTokens }) => ({ id_token_hint: idTokens.web.slice(0, -1) })],
  ])('is rejected with %s', async ([_name, params], { tenant, clients, idTokens, logout, isActive }) => {
    expect(await readOutcome(await logout(await params({ tenant, clients, idTokens })))).toBe(REJECTED)
    expect(await isActive(idTokens.web)).toBe(true)
  })

  test('ends the session of the ID token, and no other account of the browser', async ({
    browser,
    idTokens,
    logout,
    isActive,
    signInAgain,
  }) => {
    const before = idTokens.web
    const { web } = await signInAgain()
    expect([await isActive(before), await isActive(web)]).toEqual([true, true])
    const params = { id_token_hint: before, post_logout_redirect_uri: AFTER }
    expect(await readOutcome(await logout(params))).toBe(AFTER)
    expect([await isActive(before), await isActive(web)]).toEqual([false, true])
    expect(await readOutcome(await logout(params))).toBe(ASKED)
    expect(await isActive(web)).toBe(true)
    browser.cookies.clear()
    expect(await readOutcome(await logout(params))).toBe(AFTER)
    expect(await isActive(web)).toBe(true)
  })

  test('is accepted as a POST request (section 2)', async ({ browser, idTokens, endpoint, isActive }) => {
    const params = { id_token_hint: idTokens.web, post_logout_redirect_uri: AFTER, state: 's' }
    const { location } = await browser.follow(await browser.post(endpoint, params))
    expect(location).toBe(`${AFTER}&state=s`)
    expect(await isActive(idTokens.web)).toBe(false)
  })

  test.for(['state', 'id_token_hint', 'client_id', 'post_logout_redirect_uri'])(
    'is rejected with %s twice, as a GET and as a POST request',
    async (name, { browser, clients, idTokens, endpoint, isActive }) => {
      const params = new URLSearchParams({ id_token_hint: idTokens.web, client_id: clients.web.id })
      params.append('post_logout_redirect_uri', AFTER)
      params.append('state', 's')
      params.append(name, params.get(name) as string)
      expect(await readOutcome(await browser.fetch(`${endpoint}?${params}`))).toBe(REJECTED)
      const posted = await browser.fetch(endpoint, { method: 'POST', body: params })
      expect([posted.status, posted.headers.get('location')]).toEqual([400, null])
      expect(await isActive(idTokens.web)).toBe(true)
    },
  )

  test('is rejected in another encoding and with another method', async ({
    browser,
    idTokens,
    endpoint,
    isActive,
  }) => {
    const json = { 'content-type': 'application/json' }
    const body = JSON.stringify({ id_token_hint: idTokens.web })
    expect((await browser.fetch(endpoint, { method: 'POST', headers: json, body })).status).toBe(400)
    expect((await browser.fetch(endpoint, { method: 'DELETE' })).status).toBe(405)
    expect(await isActive(idTokens.web)).toBe(true)
  })

  test('redirects to the same registered URI when it is confirmed twice', async ({
    browser,
    clients,
    idTokens,
    endpoint,
    isActive,
  }) => {
    const path = `${endpoint}?${new URLSearchParams({ client_id: clients.web.id, post_logout_redirect_uri: AFTER })}`
    const asked = await browser.fetch(path)
    expect(asked.headers.get('content-security-policy')).not.toContain('form-action')
    const form = { csrf: csrfIn(await asked.text()), step: 'logout' }
    const answers = [await browser.post(path, form), await browser.post(path, form)]
    expect(answers.map(({ headers }) => headers.get('location'))).toEqual([AFTER, AFTER])
    expect(await isActive(idTokens.web)).toBe(false)
  })
})
