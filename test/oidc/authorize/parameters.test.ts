import { decodeJwt } from 'jose'
import { describe, expect } from 'vitest'
import { signJwt } from '../../../src/keys/keys.ts'
import { newTenant } from '../../support/actors.ts'
import { runAuthorize, startPlan } from '../../support/conformance-plan.ts'
import { dbFor } from '../../support/database.ts'
import { answerIn, authorizePath, exchange, makeUser } from '../../support/protocol.ts'
import { test as base } from '../../support/signed-in-plan.ts'

const [V4, V6, NAME] = ['http://127.0.0.1/cb', 'http://[::1]/cb', 'http://localhost:8000/cb']
const GOOD = { code: expect.any(String), state: 'a-state', iss: expect.any(String) }

/** With authorize requests of a plan whose user is signed in, also at a native client. */
const test = base
  .extend(
    'pageWith',
    { scope: 'file' },
    ({ plan }) =>
      async (more: Record<string, string>) =>
        (await plan.authorize({ prompt: 'login', ...more }, { stopAt: 'email' })).html,
  )
  .extend('native', { scope: 'file' }, ({ newClient }) =>
    newClient({ appType: 'native', callbacks: [V4, V6, NAME] }),
  )
  .extend(
    'arrive',
    { scope: 'file' },
    ({ planUser, plan, native }) =>
      (redirect_uri: string, more = {}) =>
        runAuthorize(
          plan.browser,
          plan.tenant,
          authorizePath(plan.tenant, native, { redirect_uri, ...more }),
          planUser.email,
        ),
  )

describe('prompt (OIDC Core, section 3.1.2.1)', () => {
  test.for<[string, string[]]>([
    ['login', ['email', 'code']],
    ['consent', ['consent']],
    ['select_account', ['select']],
    ['login consent', ['email', 'code', 'consent']],
    ['select_account consent', ['select', 'consent']],
    // The chosen account signs in again.
    ['login select_account', ['select', 'email', 'code']],
    ['consent login select_account', ['select', 'email', 'code', 'consent']],
    ['login login', ['email', 'code']],
  ])('%s shows the pages %j and returns a code', async ([prompt, pages], { plan }) => {
    const arrival = await plan.authorize({ prompt })
    expect(arrival.pages).toEqual(pages)
    expect(arrival.answer).toEqual(GOOD)
  })

  test.for([
    'none login',
    'consent none',
    'none select_account',
    'none register',
    'register',
    'Login',
    'login,consent',
  ])('%s is rejected', async (prompt, { plan }) => {
    const { answer, pages } = await plan.authorize({ prompt })
    expect([answer.error, answer.state, pages]).toEqual(['invalid_request', 'a-state', []])
  })

  test('none without consent returns consent_required', async ({ newClient, authorizeSilently }) => {
    const asking = await newClient({ requireConsent: true })
    expect((await authorizeSilently({}, { client: asking })).answer).toMatchObject({
      error: 'consent_required',
    })
  })
})

describe('max_age and auth_time (OIDC Core, sections 2 and 3.1.2.1)', () => {
  test.for<[string, number, string[]]>([
    ['10000', 100, []],
    ['1', 100, ['email', 'code']],
    ['0', 0, ['email', 'code']],
    ['9999999999', 100, []],
  ])(
    'max_age=%s with a sign-in %i s ago shows the pages %j',
    async ([max_age, seconds, pages], { plan, ageSignIns }) => {
      await ageSignIns(seconds)
      const now = Math.floor(Date.now() / 1000)
      const { arrival, idToken } = await plan.signIn({ max_age })
      expect(arrival.pages).toEqual(pages)
      const authTime = idToken.auth_time as number
      if (pages.length > 0) expect(authTime).toBeGreaterThanOrEqual(now - 1)
      else expect(Math.abs(authTime - (now - seconds))).toBeLessThanOrEqual(2)
    },
  )

  test('with prompt=none a sign-in older than max_age returns login_required', async ({
    authorizeSilently,
    ageSignIns,
  }) => {
    await ageSignIns(100)
    expect((await authorizeSilently({ max_age: '10000' })).answer).toEqual(GOOD)
    for (const max_age of ['1', '0', '99'])
      expect((await authorizeSilently({ max_age })).answer).toMatchObject({ error: 'login_required' })
  })

  test.for(['-1', '1.5', '1e3', 'x', ' 1', '99999999999'])(
    'max_age=%j is rejected as invalid_request',
    async (max_age, { authorizeSilently }) => {
      expect((await authorizeSilently({ max_age })).answer).toMatchObject({ error: 'invalid_request' })
    },
  )
})

describe('id_token_hint (OIDC Core, sections 3.1.2.1 and 3.1.2.2)', () => {
  test('returns a code only for the user that it names', async ({
    newPerson,
    planUser,
    firstSignIn,
    plan,
    authorizeSilently,
  }) => {
    const hint = { id_token_hint: firstSignIn.tokens.body.id_token as string }
    expect((await authorizeSilently(hint)).answer).toEqual(GOOD)
    const browser = plan.newBrowser()
    const eve = await newPerson()
    await runAuthorize(browser, plan.tenant, authorizePath(plan.tenant, plan.client), eve.email)
    expect((await authorizeSilently(hint, { browser })).answer).toMatchObject({ error: 'login_required' })
    const asked = authorizePath(plan.tenant, plan.client, hint)
    const wrong = await runAuthorize(browser, plan.tenant, asked, eve.email)
    expect(wrong.pages).toEqual(['email', 'code'])
    expect(wrong.answer).toMatchObject({ error: 'login_required' })
    const right = await runAuthorize(browser, plan.tenant, asked, planUser.email)
    expect(right.answer).toEqual(GOOD)
  })

  test('may have been issued to another client of the issuer', async ({
    newClient,
    firstSignIn,
    authorizeSilently,
  }) => {
    const other = await newClient()
    expect(
      (
        await authorizeSilently(
          { id_token_hint: firstSignIn.tokens.body.id_token as string },
          { client: other },
        )
      ).answer,
    ).toEqual(GOOD)
  })

  test('may have expired', async ({ firstSignIn, plan, authorizeSilently }) => {
    const issuedAt = Math.floor(Date.now() / 1000) - 86_400
    const hint = await signJwt(plan.tenant, 'JWT', {
      ...firstSignIn.idToken,
      iat: issuedAt,
      exp: issuedAt + 3600,
    })
    expect((await authorizeSilently({ id_token_hint: hint })).answer).toEqual(GOOD)
  })

  test.for<[string, (tokens: Record<string, string>) => string]>([
    ['an access token', (tokens: Record<string, string>) => tokens.access_token as string],
    ['a changed one', (tokens: Record<string, string>) => `${tokens.id_token?.slice(0, -4)}AAAA`],
    ['no token', () => 'x'],
  ])('%s is rejected as invalid_request', async ([_name, of], { plan, authorizeSilently }) => {
    const { tokens } = await plan.signIn({ prompt: 'none' })
    expect((await authorizeSilently({ id_token_hint: of(tokens.body) })).answer).toMatchObject({
      error: 'invalid_request',
    })
  })

  test('an ID token of another tenant is rejected as invalid_request', async ({
    app,
    planUser,
    authorizeSilently,
  }) => {
    const tenant = await newTenant()
    await makeUser(tenant, planUser.email)
    const { tokens } = await (await startPlan(app, tenant, planUser.email, 'query')).signIn()
    expect((await authorizeSilently({ id_token_hint: tokens.body.id_token as string })).answer).toMatchObject(
      {
        error: 'invalid_request',
      },
    )
  })
})

describe('display and locales (OIDC Core, section 3.1.2.1)', () => {
  test('popup shows the card without the header; page, touch and unknown values show the header', async ({
    pageWith,
  }) => {
    for (const display of ['page', 'touch', 'wap', 'hologram', ''])
      expect([display, await pageWith({ display })]).toEqual([display, expect.stringContaining('<header')])
    const html = await pageWith({ display: 'popup' })
    expect(html).not.toContain('<header')
    expect(html).toContain('<main class="card">')
  })

  test('unsupported locales show the page in English with lang=en', async ({ pageWith }) => {
    for (const locales of ['se', 'tlh-CA tlh en', 'x'.repeat(1000), '-- %'])
      expect(await pageWith({ ui_locales: locales, claims_locales: locales })).toContain('<html lang="en"')
  })
})

describe('a parameter', () => {
  test('that is unknown or empty is ignored (RFC 6749, section 3.1)', async ({ plan }) => {
    const more = { extra: 'foobar', nonce: '', max_age: '', display: '', response_mode: '', prompt: '' }
    expect((await plan.authorize(more)).answer).toEqual(GOOD)
  })

  test.for(['scope', 'state', 'response_type', 'response_mode', 'prompt', 'nonce', 'extra', 'display'])(
    '%s sent twice redirects to the client with invalid_request (RFC 6749, section 3.1)',
    async (name, { planUser, plan }) => {
      const path = `${authorizePath(plan.tenant, plan.client)}&${name}=a&${name}=a`
      const { answer, target } = await runAuthorize(plan.browser, plan.tenant, path, planUser.email)
      expect([answer.error, target]).toEqual(['invalid_request', 'https://rp.example.com/cb'])
    },
  )

  test.for(['client_id', 'redirect_uri'])(
    '%s sent twice shows an error page without a redirect',
    async (name, { planUser, plan }) => {
      const path = `${authorizePath(plan.tenant, plan.client)}&${name}=a`
      expect((await runAuthorize(plan.browser, plan.tenant, path, planUser.email)).pages).toEqual(['error'])
    },
  )

  test.for<[Record<string, string | null>, string]>([
    [{ request: 'e30.e30.' }, 'request_not_supported'],
    [{ request_uri: 'https://rp.example.com/r.jwt' }, 'request_uri_not_supported'],
    [{ registration: '{}' }, 'registration_not_supported'],
    [{ response_type: 'none' }, 'unsupported_response_type'],
    [{ response_type: 'id_token' }, 'unsupported_response_type'],
    [{ response_type: 'code id_token' }, 'unsupported_response_type'],
    [{ response_type: 'token code' }, 'unsupported_response_type'],
    [{ response_type: null }, 'invalid_request'],
  ])(
    '%j returns %s in the requested response mode (OIDC Core, section 3.1.2.6)',
    async ([more, error], { plan }) => {
      for (const response_mode of [null, 'form_post']) {
        const { answer, html } = await plan.authorize({ ...more, response_mode })
        expect([answer.error, answer.state, html !== '']).toEqual([error, 'a-state', response_mode !== null])
      }
    },
  )
})

describe('a state or nonce', () => {
  test('of 4 KB is returned in the response and in the ID token after a sign-in', async ({ plan }) => {
    const [state, nonce] = ['s'.repeat(4096), 'n'.repeat(4096)]
    const { arrival, idToken } = await plan.signIn({ state, nonce, prompt: 'login' })
    expect(arrival.answer.state).toBe(state)
    expect(idToken.nonce).toBe(nonce)
  })

  test('of 15 KB is returned by form_post; a request above 16 KB is rejected with 413', async ({
    planUser,
    plan,
  }) => {
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
      planUser.email,
    )
    expect(answer).toEqual({ ...GOOD, state })
    expect((await plan.browser.post(path, form('s'.repeat(17_000)))).status).toBe(413)
  })
})

describe('a native client (RFC 8252, section 7.3)', () => {
  test.for<[string]>([
    ['http://127.0.0.1:51234/cb'],
    ['http://[::1]:51234/cb'],
    ['http://localhost:51234/cb'],
    [V4],
    [V6],
    [NAME],
  ])(
    'receives the code at %s by query and by form_post and redeems it only with that redirect_uri',
    async ([uri], { app, plan, native, arrive }) => {
      for (const response_mode of ['query', 'form_post']) {
        const { target, answer } = await arrive(uri, { response_mode })
        expect([target, answer]).toEqual([uri, GOOD])
        const wrong = await exchange(app, plan.tenant, native, answer.code as string, {
          redirect_uri: 'http://127.0.0.1:51235/cb',
        })
        expect(wrong.body.error).toBe('invalid_grant')
      }
      const { answer } = await arrive(uri)
      const right = await exchange(app, plan.tenant, native, answer.code as string, {
        redirect_uri: uri,
      })
      expect(right.status).toBe(200)
    },
  )

  test.for([
    'http://localhost:8001/other',
    'http://localhost.:8001/cb',
    'http://127.0.0.1:51234/other',
    'http://127.0.0.1:51234/cb?x=1',
    'https://127.0.0.1:51234/cb',
    'http://[::2]:51234/cb',
    'http://[0:0:0:0:0:0:0:1]:51234/cb',
    'http://127.1:51234/cb',
    'http://127.0.0.1:99999/cb',
  ])('receives no response at %s', async (uri, { arrive }) => {
    expect((await arrive(uri)).pages).toEqual(['error'])
  })
})

test('an interaction that an older version stored is completed after an upgrade', async ({
  app,
  planUser,
  plan,
}) => {
  const by = plan.newBrowser()
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
  const { answer } = await runAuthorize(by, plan.tenant, start.path, planUser.email)
  expect(answer).toEqual(GOOD)
  const { body } = await exchange(app, plan.tenant, plan.client, answer.code as string)
  expect(body.token_type).toBe('Bearer')
  const grant = await dbFor(plan.tenant).grant.findUniqueOrThrow({
    where: {
      tenantId_id: { tenantId: plan.tenant, id: String(decodeJwt(body.access_token as string).gid) },
    },
  })
  expect(grant.resources).toEqual([resource])
})

test('a Referer or Origin header does not change the redirect target', async ({ plan }) => {
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

test('every authorization response names its issuer (RFC 9207)', async ({
  app,
  planUser,
  plan,
  authorizeSilently,
}) => {
  const other = await startPlan(app, await newTenant(), planUser.email, 'query')
  const answers = [
    (await authorizeSilently()).answer,
    (await authorizeSilently({ response_mode: 'form_post' })).answer,
    (await authorizeSilently({ scope: 'profile' })).answer,
    (await plan.authorize({ prompt: 'none' }, { browser: plan.newBrowser() })).answer,
  ]
  expect(answers.map(({ iss }) => iss)).toEqual(answers.map(() => plan.issuer))
  expect((await other.authorize({ prompt: 'none' })).answer.iss).toBe(other.issuer)
})

test('a code or an interaction is rejected at another tenant and in another browser', async ({
  app,
  planUser,
  plan,
  authorizeSilently,
}) => {
  const other = await startPlan(app, await newTenant(), planUser.email, 'query')
  const { answer } = await authorizeSilently()
  const elsewhere = await exchange(app, other.tenant, other.client, answer.code as string)
  expect(elsewhere.body.error).toBe('invalid_grant')
  const by = plan.newBrowser()
  const { path } = await by.open(authorizePath(plan.tenant, plan.client))
  expect((await by.fetch(path.replace(plan.tenant, other.tenant))).status).toBe(410)
  expect(answerIn((await by.fetch(path)).headers.get('location'))).toEqual({})
})
