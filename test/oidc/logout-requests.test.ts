import { decodeJwt } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { dbFor } from '../../src/db.ts'
import { signJwt } from '../../src/oidc/keys/keys.ts'
import { newTenant } from '../support/actors.ts'
import {
  answerIn,
  authorizePath,
  Browser,
  csrfIn,
  exchange,
  makeClient,
  makeUser,
  type Provider,
  signInAt,
  startProvider,
} from './provider.ts'

// RP-Initiated Logout 1.0, section 2: what a request may hold, alone and together. logout.test.ts has what it does.

const AFTER = 'https://rp.example.com/signed-out?a=1'
const OTHER_AFTER = 'https://other.example.com/bye'
const NATIVE_AFTER = 'http://127.0.0.1/signed-out'

let provider: Provider
let tenant: string
let clients: Record<'web' | 'other' | 'native', Awaited<ReturnType<typeof makeClient>>>
let browser: Browser
let idTokens: Record<keyof typeof clients, string>
let count = 0

beforeAll(async () => {
  provider = await startProvider()
  tenant = await newTenant()
  clients = {
    web: await makeClient(tenant, { allowedLogoutUrls: [AFTER, 'http://127.0.0.1/signed-out'] }),
    other: await makeClient(tenant, { allowedLogoutUrls: [OTHER_AFTER] }),
    native: await makeClient(tenant, { appType: 'native', allowedLogoutUrls: [NATIVE_AFTER] }),
  }
})
afterAll(() => provider.close())

async function idTokenOf(name: keyof typeof clients): Promise<string> {
  const answer = await browser.fetch(authorizePath(tenant, clients[name], { prompt: 'none' }))
  const { code = '' } = answerIn(answer.headers.get('location'))
  return (await exchange(provider, tenant, clients[name], code)).body.id_token as string
}

async function signIn(): Promise<void> {
  const email = `person${count++}@example.com`
  await makeUser(tenant, email)
  await signInAt(browser, authorizePath(tenant, clients.web, { prompt: 'login' }), email)
  idTokens = {
    web: await idTokenOf('web'),
    other: await idTokenOf('other'),
    native: await idTokenOf('native'),
  }
}
beforeEach(async () => {
  browser = new Browser(provider)
  await signIn()
})

const endpoint = () => `/${tenant}/oidc/logout`
const logout = (params: Record<string, string>) =>
  browser.fetch(`${endpoint()}?${new URLSearchParams(params)}`)
/** What the answer is: where it leads, or which page it shows. */
async function outcomeOf(response: Response): Promise<string> {
  const location = response.headers.get('location')
  if (location) return location
  const html = await response.text()
  const [, title = ''] = /<h1[^>]*>([^<]+)</.exec(html) ?? []
  return `${response.status} ${title}`
}
const isActive = async (idToken: string): Promise<boolean> => {
  const id = decodeJwt(idToken).sid as string
  const session = await dbFor(tenant).session.findUniqueOrThrow({
    where: { tenantId_id: { tenantId: tenant, id } },
  })
  return session.endedAt === null
}

const ASKED = '200 Sign out?'
const REFUSED = '400 Sign out?'
const SIGNED_OUT = '200 You are signed out'

describe('a logout request (RP-Initiated Logout 1.0, section 2)', () => {
  test.each<[string, () => Record<string, string>, string]>([
    ['id_token_hint alone', () => ({ id_token_hint: idTokens.web }), SIGNED_OUT],
    [
      'id_token_hint and its client_id',
      () => ({ id_token_hint: idTokens.web, client_id: clients.web.id }),
      SIGNED_OUT,
    ],
    [
      'id_token_hint, client_id, place and state',
      () => ({
        id_token_hint: idTokens.web,
        client_id: clients.web.id,
        post_logout_redirect_uri: AFTER,
        state: 'ä&=',
      }),
      `${AFTER}&state=%C3%A4%26%3D`,
    ],
    [
      "the ID token of any of the session's clients",
      () => ({ id_token_hint: idTokens.other, post_logout_redirect_uri: OTHER_AFTER }),
      OTHER_AFTER,
    ],
    [
      'logout_hint and ui_locales, which change nothing',
      () => ({ id_token_hint: idTokens.web, logout_hint: 'ada@example.com', ui_locales: 'de-CH fr' }),
      SIGNED_OUT,
    ],
    [
      'parameters that nobody knows',
      () => ({ id_token_hint: idTokens.web, foo: 'bar', response_type: 'code' }),
      SIGNED_OUT,
    ],
    [
      'empty parameters, which count as omitted',
      () => ({ id_token_hint: idTokens.web, client_id: '', post_logout_redirect_uri: '', state: '' }),
      SIGNED_OUT,
    ],
    [
      'state without a place, which goes nowhere',
      () => ({ id_token_hint: idTokens.web, state: 's' }),
      SIGNED_OUT,
    ],
    [
      'a loopback place of a native application on any port (RFC 8252, section 7.3)',
      () => ({
        id_token_hint: idTokens.native,
        post_logout_redirect_uri: 'http://127.0.0.1:49152/signed-out',
      }),
      'http://127.0.0.1:49152/signed-out',
    ],
  ])('with %s ends the session', async (_name, params, outcome) => {
    expect(await outcomeOf(await logout(params()))).toBe(outcome)
    expect(await isActive(idTokens.web)).toBe(false)
  })

  const claims = () => decodeJwt(idTokens.web)
  test.each<[string, () => Promise<Record<string, string>> | Record<string, string>]>([
    ['client_id alone', () => ({ client_id: clients.web.id })],
    [
      'client_id, place and state',
      () => ({ client_id: clients.web.id, post_logout_redirect_uri: AFTER, state: 's' }),
    ],
    ['logout_hint, which anybody may know', () => ({ logout_hint: claims().sid as string })],
    [
      'an ID token without a session',
      async () => {
        const { sid: _, ...rest } = claims()
        return { id_token_hint: await signJwt(tenant, 'JWT', rest) }
      },
    ],
    [
      'an ID token of another person',
      async () => ({
        id_token_hint: await signJwt(tenant, 'JWT', { ...claims(), sub: 'user_x', sid: 'session_x' }),
      }),
    ],
  ])('with %s asks first', async (_name, params) => {
    expect(await outcomeOf(await logout(await params()))).toBe(ASKED)
    expect(await isActive(idTokens.web)).toBe(true)
  })

  test.each<[string, () => Record<string, string>]>([
    [
      "another client's place",
      () => ({ id_token_hint: idTokens.web, post_logout_redirect_uri: OTHER_AFTER }),
    ],
    [
      "another client's client_id",
      () => ({
        id_token_hint: idTokens.web,
        client_id: clients.other.id,
        post_logout_redirect_uri: OTHER_AFTER,
      }),
    ],
    [
      'its place without the query that it was registered with',
      () => ({ id_token_hint: idTokens.web, post_logout_redirect_uri: 'https://rp.example.com/signed-out' }),
    ],
    [
      'its place in another spelling',
      () => ({
        id_token_hint: idTokens.web,
        post_logout_redirect_uri: 'https://RP.example.com/signed-out?a=1',
      }),
    ],
    [
      'a loopback place on another port, of what is no native application',
      () => ({ id_token_hint: idTokens.web, post_logout_redirect_uri: 'http://127.0.0.1:49152/signed-out' }),
    ],
    [
      'another loopback place of a native application',
      () => ({
        id_token_hint: idTokens.native,
        post_logout_redirect_uri: 'http://127.0.0.1:49152/elsewhere',
      }),
    ],
    ['an ID token of which a letter is missing', () => ({ id_token_hint: idTokens.web.slice(0, -1) })],
  ])('with %s is refused (security row 5)', async (_name, params) => {
    expect(await outcomeOf(await logout(params()))).toBe(REFUSED)
    expect(await isActive(idTokens.web)).toBe(true)
  })

  test('with an ID token of the session before asks first, and leaves the present one', async () => {
    const before = idTokens.web
    await signIn()
    expect([await isActive(before), await isActive(idTokens.web)]).toEqual([false, true])
    const params = { id_token_hint: before, post_logout_redirect_uri: AFTER }
    expect(await outcomeOf(await logout(params))).toBe(ASKED)
    expect(await isActive(idTokens.web)).toBe(true)
    browser.cookies.clear()
    expect(await outcomeOf(await logout(params))).toBe(AFTER)
    expect(await isActive(idTokens.web)).toBe(true)
  })

  test('by POST is the same (section 2: GET and POST)', async () => {
    const params = { id_token_hint: idTokens.web, post_logout_redirect_uri: AFTER, state: 's' }
    const { location } = await browser.follow(await browser.post(endpoint(), params))
    expect(location).toBe(`${AFTER}&state=s`)
    expect(await isActive(idTokens.web)).toBe(false)
  })

  test.each(['state', 'id_token_hint', 'client_id', 'post_logout_redirect_uri'])(
    'with %s twice is refused, by GET and by POST',
    async (name) => {
      const params = new URLSearchParams({ id_token_hint: idTokens.web, client_id: clients.web.id })
      params.append('post_logout_redirect_uri', AFTER)
      params.append('state', 's')
      params.append(name, params.get(name) as string)
      expect(await outcomeOf(await browser.fetch(`${endpoint()}?${params}`))).toBe(REFUSED)
      const posted = await browser.fetch(endpoint(), { method: 'POST', body: params })
      expect([posted.status, posted.headers.get('location')]).toEqual([400, null])
      expect(await isActive(idTokens.web)).toBe(true)
    },
  )

  test('in another encoding or by another method is refused', async () => {
    const json = { 'content-type': 'application/json' }
    const body = JSON.stringify({ id_token_hint: idTokens.web })
    expect((await browser.fetch(endpoint(), { method: 'POST', headers: json, body })).status).toBe(400)
    expect((await browser.fetch(endpoint(), { method: 'DELETE' })).status).toBe(405)
    expect(await isActive(idTokens.web)).toBe(true)
  })

  test('that is confirmed twice, as by an impatient click, leads to the same place, which the form may lead to', async () => {
    const path = `${endpoint()}?${new URLSearchParams({ client_id: clients.web.id, post_logout_redirect_uri: AFTER })}`
    const asked = await browser.fetch(path)
    const [, targets = ''] =
      /form-action ([^;]+)/.exec(asked.headers.get('content-security-policy') ?? '') ?? []
    expect(targets.split(' ')).toEqual(["'self'", 'https://rp.example.com'])
    const form = { csrf: csrfIn(await asked.text()), step: 'logout' }
    const answers = [await browser.post(path, form), await browser.post(path, form)]
    expect(answers.map(({ headers }) => headers.get('location'))).toEqual([AFTER, AFTER])
    expect(await isActive(idTokens.web)).toBe(false)
  })
})
