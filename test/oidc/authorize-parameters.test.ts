import { decodeJwt, type JWTPayload } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { dbFor } from '../../src/db.ts'
import { signJwt } from '../../src/oidc/keys/keys.ts'
import { newTenant } from '../support/actors.ts'
import { type Plan, runAuthorize, startPlan } from './plan.ts'
import {
  answerIn,
  authorizePath,
  Browser,
  exchange,
  makeClient,
  makeUser,
  type Provider,
  startProvider,
} from './provider.ts'

const EMAIL = 'ada@example.com'
let provider: Provider
let plan: Plan
let idToken: JWTPayload
let rawIdToken: string

beforeAll(async () => {
  provider = await startProvider()
  const tenant = await newTenant()
  await makeUser(tenant, EMAIL)
  plan = await startPlan(provider, tenant, EMAIL, 'query')
  const first = await plan.signIn()
  idToken = first.idToken
  rawIdToken = first.tokens.body.id_token as string
})
afterAll(() => provider.close())

const quietly = (more: Record<string, string | null> = {}, options = {}) =>
  plan.authorize({ prompt: 'none', ...more }, options)
const GOOD = { code: expect.any(String), state: 'a-state', iss: expect.any(String) }
/** Makes every sign-in of the tenant this long ago. */
const age = (seconds: number) =>
  dbFor(plan.tenant).session.updateMany({
    where: { tenantId: plan.tenant, endedAt: null },
    data: { authenticatedAt: new Date(Date.now() - seconds * 1000) },
  })

describe('prompt (OIDC Core, section 3.1.2.1)', () => {
  test.each([
    ['login', ['email', 'code']],
    ['consent', ['consent']],
    ['select_account', ['select']],
    ['login consent', ['email', 'code', 'consent']],
    ['select_account consent', ['select', 'consent']],
    // Where an address is asked for, there is nothing left to select.
    ['login select_account', ['email', 'code']],
    ['consent login select_account', ['email', 'code', 'consent']],
    ['login login', ['email', 'code']],
  ])('%s shows %j, and then there is a code', async (prompt, pages) => {
    const arrival = await plan.authorize({ prompt })
    expect(arrival.pages).toEqual(pages)
    expect(arrival.answer).toEqual(GOOD)
  })

  test.each([
    'none login',
    'consent none',
    'none select_account',
    'none create',
    'create',
    'Login',
    'login,consent',
  ])('%s is refused', async (prompt) => {
    const { answer, pages } = await plan.authorize({ prompt })
    expect([answer.error, answer.state, pages]).toEqual(['invalid_request', 'a-state', []])
  })

  test('none with a consent that is missing is consent_required', async () => {
    const asking = await makeClient(plan.tenant, { requireConsent: true })
    expect((await quietly({}, { client: asking })).answer).toMatchObject({ error: 'consent_required' })
  })
})

describe('max_age and auth_time (OIDC Core, sections 2 and 3.1.2.1)', () => {
  test.each([
    ['10000', 100, []],
    ['1', 100, ['email', 'code']],
    ['0', 0, ['email', 'code']],
    ['9999999999', 100, []],
  ])('max_age=%s, %i s after the sign-in, shows %j', async (max_age, seconds, pages) => {
    await age(seconds)
    const now = Math.floor(Date.now() / 1000)
    const { arrival, idToken } = await plan.signIn({ max_age })
    expect(arrival.pages).toEqual(pages)
    const authTime = idToken.auth_time as number
    if (pages.length > 0) expect(authTime).toBeGreaterThanOrEqual(now - 1)
    else expect(Math.abs(authTime - (now - seconds))).toBeLessThanOrEqual(2)
  })

  test('with prompt=none a sign-in that is too old is login_required', async () => {
    await age(100)
    expect((await quietly({ max_age: '10000' })).answer).toEqual(GOOD)
    for (const max_age of ['1', '0', '99'])
      expect((await quietly({ max_age })).answer).toMatchObject({ error: 'login_required' })
  })

  test.each(['-1', '1.5', '1e3', 'x', ' 1', '99999999999'])('max_age=%j is refused', async (max_age) => {
    expect((await quietly({ max_age })).answer).toMatchObject({ error: 'invalid_request' })
  })
})

describe('id_token_hint (OIDC Core, sections 3.1.2.1 and 3.1.2.2)', () => {
  test('names who is to be signed in: nobody else is answered about', async () => {
    const hint = { id_token_hint: rawIdToken }
    expect((await quietly(hint)).answer).toEqual(GOOD)
    const eve = new Browser(provider)
    await makeUser(plan.tenant, 'eve@example.com')
    await runAuthorize(eve, plan.tenant, authorizePath(plan.tenant, plan.client), 'eve@example.com')
    expect((await quietly(hint, { browser: eve })).answer).toMatchObject({ error: 'login_required' })
    const asked = authorizePath(plan.tenant, plan.client, hint)
    const wrong = await runAuthorize(eve, plan.tenant, asked, 'eve@example.com')
    expect(wrong.pages).toEqual(['email', 'code'])
    expect(wrong.answer).toMatchObject({ error: 'login_required' })
    const right = await runAuthorize(eve, plan.tenant, asked, EMAIL)
    expect(right.answer).toEqual(GOOD)
  })

  test('may be of another client of this issuer: it says who, and gives nothing', async () => {
    const other = await makeClient(plan.tenant)
    expect((await quietly({ id_token_hint: rawIdToken }, { client: other })).answer).toEqual(GOOD)
  })

  test('may have expired', async () => {
    const issuedAt = Math.floor(Date.now() / 1000) - 86_400
    const hint = await signJwt(plan.tenant, 'JWT', { ...idToken, iat: issuedAt, exp: issuedAt + 3600 })
    expect((await quietly({ id_token_hint: hint })).answer).toEqual(GOOD)
  })

  test.each([
    ['an access token', (tokens: Record<string, string>) => tokens.access_token as string],
    ['a changed one', (tokens: Record<string, string>) => `${tokens.id_token?.slice(0, -4)}AAAA`],
    ['no token', () => 'x'],
  ])('%s is refused', async (_name, of) => {
    const { tokens } = await plan.signIn({ prompt: 'none' })
    expect((await quietly({ id_token_hint: of(tokens.body) })).answer).toMatchObject({
      error: 'invalid_request',
    })
  })

  test("another tenant's is refused", async () => {
    const tenant = await newTenant()
    await makeUser(tenant, EMAIL)
    const { tokens } = await (await startPlan(provider, tenant, EMAIL, 'query')).signIn()
    expect((await quietly({ id_token_hint: tokens.body.id_token as string })).answer).toMatchObject({
      error: 'invalid_request',
    })
  })
})

describe('display and locales (OIDC Core, section 3.1.2.1)', () => {
  const pageWith = async (more: Record<string, string>) =>
    (await plan.authorize({ prompt: 'login', ...more }, { stopAt: 'email' })).html

  test('popup leaves off what stands around the card; page, touch, and what is not understood do not', async () => {
    for (const display of ['page', 'touch', 'wap', 'hologram', ''])
      expect([display, await pageWith({ display })]).toEqual([display, expect.stringContaining('<header')])
    const html = await pageWith({ display: 'popup' })
    expect(html).not.toContain('<header')
    expect(html).toContain('<main class="card">')
  })

  test('a locale is never an error: there is English, and the page says so', async () => {
    for (const locales of ['se', 'fr-CA fr en', 'x'.repeat(1000), '-- %'])
      expect(await pageWith({ ui_locales: locales, claims_locales: locales })).toContain('<html lang="en">')
  })
})

describe('a parameter', () => {
  test('that is not known, or empty, is ignored (RFC 6749, section 3.1)', async () => {
    const more = { extra: 'foobar', nonce: '', max_age: '', display: '', response_mode: '', prompt: '' }
    expect((await plan.authorize(more)).answer).toEqual(GOOD)
  })

  test.each(['scope', 'state', 'response_type', 'response_mode', 'prompt', 'nonce', 'extra', 'display'])(
    '%s given twice goes back to the client as invalid_request (RFC 6749, section 3.1)',
    async (name) => {
      const path = `${authorizePath(plan.tenant, plan.client)}&${name}=a&${name}=a`
      const { answer, target } = await runAuthorize(plan.browser, plan.tenant, path, EMAIL)
      expect([answer.error, target]).toEqual(['invalid_request', 'https://rp.example.com/cb'])
    },
  )

  test.each(['client_id', 'redirect_uri'])('%s given twice stays on a page of ours', async (name) => {
    const path = `${authorizePath(plan.tenant, plan.client)}&${name}=a`
    expect((await runAuthorize(plan.browser, plan.tenant, path, EMAIL)).pages).toEqual(['error'])
  })

  test.each([
    [{ request: 'e30.e30.' }, 'request_not_supported'],
    [{ request_uri: 'https://rp.example.com/r.jwt' }, 'request_uri_not_supported'],
    [{ registration: '{}' }, 'registration_not_supported'],
    [{ response_type: 'none' }, 'unsupported_response_type'],
    [{ response_type: 'id_token' }, 'unsupported_response_type'],
    [{ response_type: 'code id_token' }, 'unsupported_response_type'],
    [{ response_type: 'token code' }, 'unsupported_response_type'],
    [{ response_type: null }, 'invalid_request'],
  ])(
    '%j is %s, in the response mode that was asked for (OIDC Core, section 3.1.2.6)',
    async (more, error) => {
      for (const response_mode of [null, 'form_post']) {
        const { answer, html } = await plan.authorize({ ...more, response_mode })
        expect([answer.error, answer.state, html !== '']).toEqual([error, 'a-state', response_mode !== null])
      }
    },
  )
})

describe('the size of state and nonce', () => {
  test('4 KB each come back through the pages, in the answer and in the ID token', async () => {
    const [state, nonce] = ['s'.repeat(4096), 'n'.repeat(4096)]
    const { arrival, idToken } = await plan.signIn({ state, nonce, prompt: 'login' })
    expect(arrival.answer.state).toBe(state)
    expect(idToken.nonce).toBe(nonce)
  })

  test('15 KB of state come back where the answer is a form, and requests above 16 KB are refused', async () => {
    const path = `/${plan.tenant}/oidc/authorize`
    const form = (state: string) =>
      Object.fromEntries(
        new URLSearchParams(
          authorizePath(plan.tenant, plan.client, { state, response_mode: 'form_post' }).split('?')[1],
        ),
      )
    const state = 's'.repeat(15_000)
    const sent = await plan.browser.post(path, form(state))
    const { answer } = await runAuthorize(
      plan.browser,
      plan.tenant,
      sent.headers.get('location') ?? '',
      EMAIL,
    )
    expect(answer).toEqual({ ...GOOD, state })
    expect((await plan.browser.post(path, form('s'.repeat(17_000)))).status).toBe(413)
  })
})

describe('a native application (RFC 8252, section 7.3)', () => {
  const V4 = 'http://127.0.0.1/cb'
  const V6 = 'http://[::1]/cb'
  const NAME = 'http://localhost:8000/cb'
  let client: Awaited<ReturnType<typeof makeClient>>
  beforeAll(async () => {
    client = await makeClient(plan.tenant, { appType: 'native', callbacks: [V4, V6, NAME] })
  })
  const arrive = (redirect_uri: string, more = {}) =>
    runAuthorize(
      plan.browser,
      plan.tenant,
      authorizePath(plan.tenant, client, { redirect_uri, ...more }),
      EMAIL,
    )

  test.each([['http://127.0.0.1:51234/cb'], ['http://[::1]:51234/cb'], [V4], [V6], [NAME]])(
    'is answered at %s by redirect and by form, and exchanges the code for that address alone',
    async (uri) => {
      for (const response_mode of ['query', 'form_post']) {
        const { target, answer } = await arrive(uri, { response_mode })
        expect([target, answer]).toEqual([uri, GOOD])
        const wrong = await exchange(provider, plan.tenant, client, answer.code as string, {
          redirect_uri: 'http://127.0.0.1:51235/cb',
        })
        expect(wrong.body.error).toBe('invalid_grant')
      }
      const { answer } = await arrive(uri)
      const right = await exchange(provider, plan.tenant, client, answer.code as string, {
        redirect_uri: uri,
      })
      expect(right.status).toBe(200)
    },
  )

  test.each([
    'http://localhost:8001/cb',
    'http://localhost/cb',
    'http://127.0.0.1:51234/other',
    'http://127.0.0.1:51234/cb?x=1',
    'https://127.0.0.1:51234/cb',
    'http://[::2]:51234/cb',
    'http://[0:0:0:0:0:0:0:1]:51234/cb',
    'http://127.1:51234/cb',
    'http://127.0.0.1:99999/cb',
  ])('is not answered at %s', async (uri) => {
    expect((await arrive(uri)).pages).toEqual(['error'])
  })
})

test('a sign-in that an older version began goes on after an upgrade', async () => {
  const by = new Browser(provider)
  const resource = `${plan.issuer}/api`
  const path = authorizePath(plan.tenant, plan.client, { resource })
  const start = await by.open(path)
  const kept = await dbFor(plan.tenant).interaction.findFirstOrThrow({
    where: { tenantId: plan.tenant },
    orderBy: { expiresAt: 'desc' },
  })
  const { responseMode, display, resources, claims, dpopJkt, ...request } = kept.request as {
    [member: string]: string | null
  }
  expect(resources).toEqual([resource])
  await dbFor(plan.tenant).interaction.updateMany({
    where: { tenantId: plan.tenant, handleHash: kept.handleHash },
    data: { request: { ...request, resource } },
  })
  const { answer } = await runAuthorize(by, plan.tenant, start.path, EMAIL)
  expect(answer).toEqual(GOOD)
  const { body } = await exchange(provider, plan.tenant, plan.client, answer.code as string)
  expect(decodeJwt(body.access_token as string).aud).toEqual([resource, `${plan.issuer}/oidc/userinfo`])
})

test('security 4: no header of the request says where the browser goes', async () => {
  const referer = `http://localhost:3000//evil.example/${plan.tenant}`
  for (const [name, value] of [
    ['prompt', 'none'],
    ['prompt', 'login'],
    ['redirect_uri', 'https://evil.example'],
  ] as const) {
    const path = authorizePath(plan.tenant, plan.client, { [name]: value })
    const response = await plan.browser.fetch(path, { headers: { referer, origin: 'https://evil.example' } })
    expect(response.headers.get('location') ?? '').not.toContain('evil.example')
  }
})

test('security 7: every answer says who it is from, so that another provider’s is known (RFC 9207)', async () => {
  const other = await startPlan(provider, await newTenant(), EMAIL, 'query')
  const answers = [
    (await quietly()).answer,
    (await quietly({ response_mode: 'form_post' })).answer,
    (await quietly({ scope: 'profile' })).answer,
    (await plan.authorize({ prompt: 'none' }, { browser: plan.newBrowser() })).answer,
  ]
  expect(answers.map(({ iss }) => iss)).toEqual(answers.map(() => plan.issuer))
  expect((await other.authorize({ prompt: 'none' })).answer.iss).toBe(other.issuer)
})

test('security 7, 8: a code or an interaction of one tenant or browser is nothing to another', async () => {
  const other = await startPlan(provider, await newTenant(), EMAIL, 'query')
  const { answer } = await quietly()
  const elsewhere = await exchange(provider, other.tenant, other.client, answer.code as string)
  expect(elsewhere.body.error).toBe('invalid_grant')
  const by = new Browser(provider)
  const { path } = await by.open(authorizePath(plan.tenant, plan.client))
  expect((await by.fetch(path.replace(plan.tenant, other.tenant))).status).toBe(410)
  expect(answerIn((await by.fetch(path)).headers.get('location'))).toEqual({})
})
