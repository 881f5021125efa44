import { decodeJwt } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { dbFor } from '../../src/db.ts'
import { signJwt } from '../../src/oidc/keys/keys.ts'
import { newTenant } from '../support/actors.ts'
import { logOf } from '../support/events.ts'
import {
  answerIn,
  authorizePath,
  Browser,
  csrfIn,
  exchange,
  makeClient,
  makeUser,
  type Provider,
  refreshWith,
  signInAt,
  startProvider,
  userinfoOf,
} from './provider.ts'

let provider: Provider
let tenant: string
let client: Awaited<ReturnType<typeof makeClient>>
let browser: Browser
let tokens: Record<string, string>
let count = 0
const AFTER = 'https://rp.example.com/signed-out?a=1'

beforeAll(async () => {
  provider = await startProvider()
  tenant = await newTenant()
  client = await makeClient(tenant, { allowedLogoutUrls: [AFTER] })
})
afterAll(() => provider.close())
beforeEach(async () => {
  const email = `person${count++}@example.com`
  await makeUser(tenant, email)
  browser = new Browser(provider)
  const { location } = await signInAt(
    browser,
    authorizePath(tenant, client, { scope: 'openid offline_access' }),
    email,
  )
  tokens = (await exchange(provider, tenant, client, answerIn(location).code as string)).body
})

const pathOf = (params: Record<string, string>) => `/${tenant}/oidc/logout?${new URLSearchParams(params)}`
const sessionOf = async () => {
  const { sid } = decodeJwt(tokens.id_token as string)
  const where = { tenantId_id: { tenantId: tenant, id: sid as string } }
  const { endedAt, endReason } = await dbFor(tenant).session.findUniqueOrThrow({ where })
  return { isEnded: endedAt !== null, endReason }
}
/** By whom, and from which client, the session was ended, as the log has it. */
const enders = async () => {
  const { sid } = decodeJwt(tokens.id_token as string)
  const log = await logOf(tenant)
  return log
    .filter(({ type, sessionId }) => type === 'session.ended' && sessionId === sid)
    .map(({ actorUserId, actorClientId }) => [actorUserId, actorClientId])
}
const personOf = () => decodeJwt(tokens.id_token as string).sub
const ENDED = { isEnded: true, endReason: 'logout' }
const ACTIVE = { isEnded: false, endReason: null }
const hint = () => ({ id_token_hint: tokens.id_token as string })

describe('logout (RP-Initiated Logout 1.0)', () => {
  test('with an ID token of the session ends it at once, clears the cookie and goes back with state', async () => {
    const response = await browser.fetch(pathOf({ ...hint(), post_logout_redirect_uri: AFTER, state: 's&' }))
    expect([response.status, response.headers.get('location')]).toEqual([303, `${AFTER}&state=s%26`])
    expect(response.headers.getSetCookie()).toEqual([
      `vst_sid=; Path=/${tenant}/; Max-Age=0; HttpOnly; SameSite=Lax`,
    ])
    expect(await sessionOf()).toEqual(ENDED)
    expect(await enders()).toEqual([[personOf(), client.id]])
    const again = await browser.fetch(authorizePath(tenant, client, { prompt: 'none' }))
    expect(answerIn(again.headers.get('location'))).toMatchObject({ error: 'login_required' })
    // What was given for offline use stays (design, section 6).
    expect((await refreshWith(provider, tenant, client, tokens.refresh_token as string)).status).toBe(200)
  })

  test("ends the session's tokens that are not offline", async () => {
    const response = await browser.fetch(authorizePath(tenant, client, { prompt: 'none', scope: 'openid' }))
    const { body } = await exchange(
      provider,
      tenant,
      client,
      answerIn(response.headers.get('location')).code as string,
    )
    await browser.fetch(pathOf(hint()))
    expect((await userinfoOf(provider, tenant, body.access_token as string)).status).toBe(401)
  })

  test('without a place to go to shows that the person is signed out', async () => {
    const response = await browser.fetch(pathOf(hint()))
    expect(response.status).toBe(200)
    expect(await response.text()).toContain('You are signed out')
    expect(await sessionOf()).toEqual(ENDED)
  })

  test('takes an expired ID token (section 2)', async () => {
    const expired = await signJwt(tenant, 'JWT', { ...decodeJwt(tokens.id_token as string), exp: 1 })
    await browser.fetch(pathOf({ id_token_hint: expired }))
    expect(await sessionOf()).toEqual(ENDED)
  })

  test('without proof asks first: any site could link here (section 6)', async () => {
    for (const params of [{}, { client_id: client.id, post_logout_redirect_uri: AFTER }] as Record<
      string,
      string
    >[]) {
      const response = await browser.fetch(pathOf(params))
      expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('Sign out?')])
    }
    expect(await sessionOf()).toEqual(ACTIVE)
  })

  test('with an ID token of another session asks first', async () => {
    const other = await signJwt(tenant, 'JWT', {
      ...decodeJwt(tokens.id_token as string),
      sid: 'session_other',
    })
    const response = await browser.fetch(pathOf({ id_token_hint: other }))
    expect(await response.text()).toContain('Sign out?')
    expect(await sessionOf()).toEqual(ACTIVE)
  })

  test('confirmed ends the session; declined leaves it', async () => {
    const path = pathOf({ client_id: client.id, post_logout_redirect_uri: AFTER, state: 's' })
    const csrf = csrfIn(await (await browser.fetch(path)).text())
    const stayed = await browser.post(path, { csrf, step: 'stay' })
    expect([stayed.status, stayed.headers.getSetCookie()]).toEqual([200, []])
    expect(await stayed.text()).toContain('You are still signed in')
    expect(await sessionOf()).toEqual(ACTIVE)
    const left = await browser.post(path, { csrf, step: 'logout' })
    expect([left.status, left.headers.get('location')]).toEqual([303, `${AFTER}&state=s`])
    expect(await sessionOf()).toEqual(ENDED)
    expect(await enders()).toEqual([[personOf(), client.id]])
  })

  test('is not confirmed by a form of another session', async () => {
    const path = pathOf({ client_id: client.id })
    for (const csrf of ['x', csrfIn(await (await browser.fetch(path)).text()).slice(0, -1)])
      expect((await browser.post(path, { csrf, step: 'logout' })).status).toBe(403)
    expect(await sessionOf()).toEqual(ACTIVE)
  })

  test('by POST from another site, so without cookies, goes on as a GET of ours', async () => {
    const params = { ...hint(), post_logout_redirect_uri: AFTER }
    const response = await new Browser(provider).post(`/${tenant}/oidc/logout`, params)
    expect([response.status, response.headers.get('location')]).toEqual([303, pathOf(params)])
    const end = await browser.open(response.headers.get('location') as string)
    expect(end.location).toBe(AFTER)
    expect(await sessionOf()).toEqual(ENDED)
  })

  test('of nobody goes on to where it was asked to', async () => {
    const response = await new Browser(provider).fetch(pathOf({ ...hint(), post_logout_redirect_uri: AFTER }))
    expect([response.status, response.headers.get('location')]).toEqual([303, AFTER])
  })

  test.each([
    ['an unregistered place', () => ({ ...hint(), post_logout_redirect_uri: 'https://evil.example' })],
    [
      'a registered place with more behind it',
      () => ({ ...hint(), post_logout_redirect_uri: `${AFTER}/..` }),
    ],
    ['a callback instead', () => ({ ...hint(), post_logout_redirect_uri: 'https://rp.example.com/cb' })],
    ['a place, and no client', () => ({ post_logout_redirect_uri: AFTER })],
    ["another client's hint", () => ({ ...hint(), client_id: 'client_other' })],
    ['an unknown client', () => ({ client_id: 'client_other' })],
    ['an access token for a hint', () => ({ id_token_hint: tokens.access_token as string })],
    ['a hint that is none', () => ({ id_token_hint: 'x' })],
    ['U+0000', () => ({ client_id: client.id, post_logout_redirect_uri: '\u0000' })],
  ])(
    'with %s redirects nowhere, ends nothing, and offers to sign out here (security row 5)',
    async (_name, params) => {
      const response = await browser.fetch(pathOf(params()))
      expect([response.status, response.headers.get('location')]).toEqual([400, null])
      const html = await response.text()
      expect(html).toContain('You are still signed in')
      expect(html).toContain(response.headers.get('x-request-id'))
      expect(await sessionOf()).toEqual(ACTIVE)
      const action = /action="([^"]+)"/.exec(html)?.[1] as string
      const left = await browser.post(action, { csrf: csrfIn(html), step: 'logout' })
      expect([left.status, left.headers.get('location')]).toEqual([200, null])
      expect(await left.text()).toContain('You are signed out')
      expect(await sessionOf()).toEqual(ENDED)
      expect(await enders()).toEqual([[personOf(), null]])
    },
  )

  test('names what is wrong, and with nobody signed in only that', async () => {
    const path = pathOf({ ...hint(), post_logout_redirect_uri: 'https://evil.example' })
    const detail = 'The post_logout_redirect_uri is not registered for this client.'
    expect(await (await browser.fetch(path)).text()).toContain(detail)
    const response = await new Browser(provider).fetch(path)
    const html = await response.text()
    expect([response.status, html.includes(detail), html.includes('<form')]).toEqual([400, true, false])
    expect(html).toContain('This request cannot be answered')
  })

  test.each([
    ['who is signed in', () => browser],
    ['nobody', () => new Browser(provider)],
  ])('of %s tells the log which address differs where, by the id on the page', async (_, of) => {
    const refuse = async (params: Record<string, string>) => {
      const response = await of().fetch(pathOf(params))
      const id = response.headers.get('x-request-id') as string
      expect(await response.text()).toContain(id)
      return (await logOf(tenant)).find(({ requestId }) => requestId === id)
    }
    const given = AFTER.replace('a=1', 'a=2')
    expect(await refuse({ ...hint(), post_logout_redirect_uri: given })).toMatchObject({
      type: 'authorize.refused',
      detail: {
        endpoint: 'logout',
        client_id: client.id,
        given,
        expected: AFTER,
        difference: 'query: expected "?a=1", got "?a=2"',
      },
    })
    expect(await refuse({ client_id: client.id, post_logout_redirect_uri: given })).toMatchObject({
      subjectIds: [client.id],
    })
    expect(await refuse({ post_logout_redirect_uri: AFTER })).toMatchObject({
      detail: { reason: 'neither id_token_hint nor client_id says whose address it is', given: AFTER },
    })
  })

  test('of another tenant knows neither the hint nor the session', async () => {
    const other = await newTenant()
    expect((await browser.fetch(`/${other}/oidc/logout?${new URLSearchParams(hint())}`)).status).toBe(400)
    expect(await (await browser.fetch(`/${other}/oidc/logout`)).text()).toContain('You are signed out')
    expect(await sessionOf()).toEqual(ACTIVE)
  })
})
