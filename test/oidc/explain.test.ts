import { decodeProtectedHeader } from 'jose'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { sha256Base64url } from '../../src/crypto.ts'
import { platformCtx } from '../../src/ctx.ts'
import { sql } from '../../src/db.ts'
import { signJwt } from '../../src/oidc/keys/keys.ts'
import { lockUser } from '../../src/users/users.ts'
import { newTenant, tokenFor } from '../support/actors.ts'
import { startApp, type TestApp } from '../support/app.ts'
import {
  answerIn,
  authorizePath,
  Browser,
  exchange,
  makeClient,
  makeUser,
  REDIRECT_URI,
  refreshWith,
  signInAt,
  tokenRequest,
  VERIFIER,
} from './provider.ts'

// Issue 4, "Explain": who runs a client finds why a request was refused by the id of the request, while the answer stays as
// terse as the RFC wants it.

let app: TestApp
let tenant: string
let auditor: string
let client: Awaited<ReturnType<typeof makeClient>>
beforeAll(async () => {
  app = await startApp()
  tenant = await newTenant()
  auditor = await tokenFor(tenant, ['events:read'])
  client = await makeClient(tenant)
})
afterAll(() => app.close())

const WAIT = { timeout: 10_000, interval: 50 }
type Told = {
  type: string
  actor: { clientId: string | null }
  subjectIds: string[]
  detail: Record<string, unknown>
}

/** What the log tells of a request, over both surfaces. Entries show once older transactions of the cluster have ended. */
function toldOf(requestId: string | null): Promise<Told[]> {
  const query = `query($id: String!) { events(filter: { requestId: $id }) { nodes { type ... on AuditEvent { detail } } } }`
  return vi.waitFor(async () => {
    const rest = await app.rest(tenant, auditor, 'GET', `/events?requestId=${requestId}`)
    const events = (rest.body.events as Told[]).filter(({ type }) => type.endsWith('.refused'))
    expect(events).toHaveLength(1)
    const graphql = await app.gql(tenant, auditor, query, { id: requestId })
    const { nodes } = graphql.body.data.events
    expect(nodes).toContainEqual({ type: events[0]?.type, detail: events[0]?.detail })
    return events
  }, WAIT)
}
const idOf = (answer: { headers: Headers }) => answer.headers.get('x-request-id')

describe('a refused authorize request', () => {
  test.each([
    ['path', `${REDIRECT_URI}/`, { difference: 'path: expected "/cb", got "/cb/"' }],
    [
      'host',
      'https://rp.example.org/cb',
      { difference: 'host: expected "rp.example.com", got "rp.example.org"' },
    ],
    ['scheme', 'http://rp.example.com/cb', { difference: 'scheme: expected "https:", got "http:"' }],
    ['query', `${REDIRECT_URI}?a=1`, { difference: 'query: expected "", got "?a=1"' }],
    [
      'spelling',
      'https://RP.example.com/cb',
      { difference: 'the same address in another spelling: it differs from character 9 on' },
    ],
    ['form', '/cb', { difference: 'it is no absolute URL; it differs from character 1 on' }],
  ])(
    'whose redirect_uri differs in its %s says where, by the id on the error page',
    async (_, given, why) => {
      const answer = await app.fetch(authorizePath(tenant, client, { redirect_uri: given }))
      const page = await answer.text()
      expect(answer.status).toBe(400)
      expect(page).toContain(idOf(answer) as string)
      expect(page).not.toContain('expected')
      expect(await toldOf(idOf(answer))).toEqual([
        expect.objectContaining({
          type: 'authorize.refused',
          subjectIds: [client.id],
          detail: {
            error: 'invalid_request',
            description: 'The redirect_uri is not registered for this client.',
            given,
            expected: REDIRECT_URI,
            registered: 1,
            ...why,
          },
        }),
      ])
    },
  )

  test('of an unknown client names what it said it was', async () => {
    const answer = await app.fetch(authorizePath(tenant, { id: 'client_nobody' }))
    expect(await toldOf(idOf(answer))).toMatchObject([
      { type: 'authorize.refused', subjectIds: [], detail: { client_id: 'client_nobody' } },
    ])
  })

  test('that is answered to the client leaves its entry too', async () => {
    const answer = await app.fetch(authorizePath(tenant, client, { response_type: 'token' }))
    expect(answer.headers.get('location')).toContain('error=unsupported_response_type')
    expect(await toldOf(idOf(answer))).toMatchObject([
      { type: 'authorize.refused', subjectIds: [client.id], detail: { error: 'unsupported_response_type' } },
    ])
  })

  test('with prompt=none says what of the session is missing', async () => {
    const silent = (more = {}) => authorizePath(tenant, client, { prompt: 'none', ...more })
    const nobody = await app.fetch(silent())
    expect(await toldOf(idOf(nobody))).toMatchObject([
      { detail: { error: 'login_required', reason: expect.stringContaining('sent no session') } },
    ])
    const ada = await makeUser(tenant, 'ada.silent@example.com')
    const browser = new Browser(app)
    await signInAt(browser, authorizePath(tenant, client), 'ada.silent@example.com')
    const old = await browser.fetch(silent({ max_age: '0' }))
    expect(await toldOf(idOf(old))).toMatchObject([
      { detail: { error: 'login_required', reason: 'the sign-in is older than max_age', max_age: 0 } },
    ])
    const consenting = await makeClient(tenant, { requireConsent: true })
    const unasked = await browser.fetch(authorizePath(tenant, consenting, { prompt: 'none' }))
    expect(await toldOf(idOf(unasked))).toMatchObject([
      {
        subjectIds: [consenting.id],
        detail: { error: 'consent_required', signed_in: ada.id, not_agreed_to: 'openid profile email' },
      },
    ])
    await lockUser(platformCtx(tenant), ada.id)
    const locked = await browser.fetch(silent())
    expect(await toldOf(idOf(locked))).toMatchObject([
      { detail: { error: 'login_required', reason: expect.stringContaining('has ended') } },
    ])
  })

  test('says which rule it failed by: whose, whose address, which class, which claims', async () => {
    const ada = await makeUser(tenant, 'ada.rules@example.com')
    const browser = new Browser(app)
    await signInAt(browser, authorizePath(tenant, client), 'ada.rules@example.com')
    const asking = await makeClient(tenant, { requireConsent: true })
    const whyOf = async (more: Record<string, string>, of = client) => {
      const answer = await browser.fetch(authorizePath(tenant, of, { prompt: 'none', ...more }))
      return (await toldOf(idOf(answer)))[0]?.detail
    }
    const claims = (request: object) => ({ claims: JSON.stringify(request) })
    expect(await whyOf({ login_hint: 'eve@example.com' })).toMatchObject({
      error: 'login_required',
      reason: 'the login_hint is no address of who is signed in',
      signed_in: ada.id,
    })
    expect(await whyOf(claims({ id_token: { sub: { value: 'user_other' } } }))).toMatchObject({
      error: 'login_required',
      reason: expect.stringContaining('somebody else'),
      signed_in: ada.id,
    })
    const acr = { essential: true, values: ['urn:vestibule:phishing-resistant'] }
    expect(await whyOf(claims({ id_token: { acr } }))).toMatchObject({
      error: 'unmet_authentication_requirements',
      demanded: JSON.stringify(acr),
      supported: 'urn:vestibule:otp',
    })
    const phone = { scope: 'openid', ...claims({ userinfo: { phone_number: null } }) }
    expect(await whyOf(phone, asking)).toMatchObject({
      error: 'consent_required',
      not_agreed_to: 'openid phone_number',
    })
  })

  test.each(['authorize', 'logout'])(
    'at %s says what its id_token_hint is instead of an ID token of the tenant',
    async (endpoint) => {
      const whyOf = async (hint: string) => {
        const params = { id_token_hint: hint, prompt: 'none' }
        const logout = `/${tenant}/oidc/logout?${new URLSearchParams(params)}`
        const answer = await app.fetch(endpoint === 'logout' ? logout : authorizePath(tenant, client, params))
        const [told] = await toldOf(idOf(answer))
        expect(told?.detail.description).toBe('The id_token_hint is not an ID token of this issuer.')
        expect(JSON.stringify(told)).not.toContain(hint)
        return told?.detail
      }
      const claims = { iss: `http://localhost:3000/${tenant}`, sub: 'user_x', aud: client.id, exp: 1 }
      const good = await signJwt(tenant, 'JWT', claims)
      const [header = '', payload = '', signature = ''] = good.split('.')
      const altered = `${signature[0] === 'A' ? 'B' : 'A'}${signature.slice(1)}`
      const { kid } = decodeProtectedHeader(good)
      const unknown = Buffer.from(JSON.stringify({ alg: 'ES256', typ: 'JWT', kid: 'nobody' }))
      expect(await whyOf('no-jwt-at-all')).toMatchObject({ reason: 'it is no JWT, or was cut' })
      const elsewhere = await newTenant()
      const foreign = await signJwt(elsewhere, 'JWT', {
        ...claims,
        iss: `http://localhost:3000/${elsewhere}`,
      })
      expect(await whyOf(foreign)).toMatchObject({
        reason: 'it is of another issuer',
        given: `http://localhost:3000/${elsewhere}`,
        expected: `http://localhost:3000/${tenant}`,
      })
      expect(await whyOf(`${unknown.toString('base64url')}.${payload}.${signature}`)).toMatchObject({
        reason: expect.stringContaining('its key is none'),
        kid: 'nobody',
      })
      expect(await whyOf(`${header}.${payload}.${altered}`)).toMatchObject({
        reason: expect.stringContaining('its signature is wrong'),
        kid,
      })
      for (const other of [
        await signJwt(tenant, 'at+jwt', claims),
        await signJwt(tenant, 'JWT', { ...claims, exp: undefined }),
      ])
        expect(await whyOf(other)).toMatchObject({ reason: expect.stringContaining('another kind') })
    },
  )

  test('is told also when the person declines', async () => {
    await makeUser(tenant, 'ada.declines@example.com')
    const asking = await makeClient(tenant, { requireConsent: true })
    const browser = new Browser(app)
    const consent = await signInAt(browser, authorizePath(tenant, asking), 'ada.declines@example.com')
    const html = await consent.response.text()
    const { response } = await browser.submit({ html, path: consent.path }, { step: 'deny' })
    expect(await toldOf(idOf(response))).toMatchObject([
      { type: 'authorize.refused', subjectIds: [asking.id], detail: { error: 'access_denied' } },
    ])
  })
})

describe('a refused token request', () => {
  const EMAIL = 'ada.tokens@example.com'
  let browser: Browser
  beforeAll(async () => {
    await makeUser(tenant, EMAIL)
    browser = new Browser(app)
    await signInAt(browser, authorizePath(tenant, client), EMAIL)
  })

  async function newCode(more: Record<string, string | null> = {}): Promise<string> {
    const { headers } = await browser.fetch(authorizePath(tenant, client, more))
    return answerIn(headers.get('location')).code as string
  }

  /** What the log says of a code that was refused; the caller learns no more than ever. */
  async function whyRefused(code: string, more: Record<string, string> = {}, by = client) {
    const answer = await exchange(app, tenant, by, code, more)
    expect(answer).toMatchObject({
      status: 400,
      body: {
        error: 'invalid_grant',
        error_description: 'The code is invalid, expired, or was used before.',
      },
    })
    const [refusal] = await toldOf(idOf(answer))
    expect(JSON.stringify(refusal)).not.toContain(code)
    expect(refusal).toMatchObject({ type: 'token.refused', actor: { clientId: by.id }, subjectIds: [by.id] })
    return refusal?.detail
  }

  test('says which clock: when the code expired and how late it came', async () => {
    const code = await newCode()
    await sql(
      `UPDATE "AuthorizationCode" SET "expiresAt" = now() - interval '40 seconds' WHERE "tenantId" = $1`,
      [tenant],
    )
    expect(await whyRefused(code)).toMatchObject({
      endpoint: 'token',
      reason: 'the code has expired',
      expired_at: expect.stringMatching(/^\d{4}-/),
      seconds_late: expect.any(Number),
    })
  })

  test('says that the code was used before, and when', async () => {
    const code = await newCode()
    expect((await exchange(app, tenant, client, code)).status).toBe(200)
    expect(await whyRefused(code)).toMatchObject({
      reason: expect.stringContaining('used before'),
      used_at: expect.stringMatching(/^\d{4}-/),
    })
  })

  test("says that it is another client's, or nobody's", async () => {
    const other = await makeClient(tenant)
    expect(await whyRefused(await newCode(), {}, other)).toMatchObject({ issued_to: client.id })
    expect(await whyRefused('x'.repeat(43))).toMatchObject({
      reason: expect.stringContaining('no such code'),
    })
  })

  test('says where the redirect_uri differs', async () => {
    expect(await whyRefused(await newCode(), { redirect_uri: `${REDIRECT_URI}/` })).toMatchObject({
      expected: REDIRECT_URI,
      given: `${REDIRECT_URI}/`,
      difference: 'path: expected "/cb", got "/cb/"',
    })
  })

  test('says which challenge the verifier came to, never the verifier', async () => {
    const why = await whyRefused(await newCode(), { code_verifier: `${VERIFIER}-other` })
    expect(why).toMatchObject({
      expected_challenge: sha256Base64url(VERIFIER),
      computed_challenge: sha256Base64url(`${VERIFIER}-other`),
    })
    expect(JSON.stringify(why)).not.toContain(VERIFIER)
    expect(
      await whyRefused(await newCode({ code_challenge: null, code_challenge_method: null })),
    ).toMatchObject({
      reason: expect.stringContaining('no code_challenge'),
    })
  })

  test('says what became of a refresh token', async () => {
    const tokens = await exchange(app, tenant, client, await newCode({ scope: 'openid offline_access' }))
    const first = tokens.body.refresh_token as string
    const whyOf = async (answer: Awaited<ReturnType<typeof refreshWith>>) => {
      expect(answer.status).toBe(400)
      const [refusal] = await toldOf(idOf(answer))
      expect(JSON.stringify(refusal)).not.toContain(first)
      return refusal?.detail
    }
    const other = await makeClient(tenant)
    expect(await whyOf(await refreshWith(app, tenant, other, first))).toMatchObject({ issued_to: client.id })
    expect(await whyOf(await refreshWith(app, tenant, client, `${first}x`))).toMatchObject({
      reason: expect.stringContaining('cut or altered'),
    })
    expect(
      await whyOf(await refreshWith(app, tenant, client, first, { scope: 'openid phone' })),
    ).toMatchObject({
      error: 'invalid_scope',
      granted: 'openid offline_access',
      asked: 'openid phone',
    })
    const second = await refreshWith(app, tenant, client, first)
    await refreshWith(app, tenant, client, second.body.refresh_token as string)
    expect(await whyOf(await refreshWith(app, tenant, client, first))).toMatchObject({
      reason: expect.stringContaining('an older refresh token was used again'),
      generation: 0,
    })
    expect(await whyOf(await refreshWith(app, tenant, client, first))).toMatchObject({
      reason: 'the grant was revoked',
      revoked_at: expect.stringMatching(/^\d{4}-/),
    })
  })

  test('of a client that could not authenticate says how that failed, and no secret', async () => {
    const secret = 'not-the-secret-of-this-client'
    const answer = await tokenRequest(
      app,
      tenant,
      { id: client.id, secret },
      { grant_type: 'authorization_code' },
    )
    expect(answer.body.error).toBe('invalid_client')
    const [told] = await toldOf(idOf(answer))
    expect(told).toMatchObject({ type: 'token.refused', subjectIds: [client.id] })
    expect(told?.detail.reason).toMatch(/secret/)
    expect(JSON.stringify(told)).not.toContain(secret)
  })

  test('of a client that swaps id and secret, or assertion and type, tells neither', async () => {
    const swapped = await tokenRequest(
      app,
      tenant,
      { id: client.secret, secret: client.id },
      { grant_type: 'authorization_code' },
    )
    expect(swapped.body.error).toBe('invalid_client')
    const assertion = 'eyJhbGciOiJFUzI1NiJ9.e30.c2lnbmF0dXJl'
    const misplaced = await tokenRequest(app, tenant, null, {
      grant_type: 'authorization_code',
      client_id: client.id,
      client_assertion_type: assertion,
      client_assertion: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    })
    expect(misplaced.body.error).toBe('invalid_client')
    const told = JSON.stringify([await toldOf(idOf(swapped)), await toldOf(idOf(misplaced))])
    expect(told).not.toContain(client.secret)
    expect(told).not.toContain(assertion)
  })
})

test('of a grant_type that there is not, the log says which', async () => {
  const answer = await tokenRequest(app, tenant, client, { grant_type: 'password' })
  expect(answer.body.error_description).not.toContain('password')
  expect(await toldOf(idOf(answer))).toMatchObject([
    { detail: { error: 'unsupported_grant_type', given: 'password' } },
  ])
})

test('a step of a protocol that is told as an error is no refusal: a device that waits leaves no entries', async () => {
  const device = await makeClient(tenant, { appType: 'native', callbacks: ['com.example.tv:/cb'] })
  const form = new URLSearchParams({ client_id: device.id, scope: 'openid' })
  const started = await app.fetch(`/${tenant}/oidc/device`, { method: 'POST', body: form })
  const { device_code } = (await started.json()) as { device_code: string }
  const poll = () =>
    tokenRequest(app, tenant, device, {
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      device_code,
    })
  expect((await poll()).body.error).toBe('authorization_pending')
  expect((await poll()).body.error).toBe('slow_down')
  const [row] = await sql<{ count: number }>(
    `SELECT count(*)::int AS "count" FROM "Event" WHERE "tenantId" = $1 AND "actorClientId" = $2 AND "type" LIKE '%.refused'`,
    [tenant, device.id],
  )
  expect(row?.count).toBe(0)
})

test('a flood of refusals writes no more than its share of the log, and is answered all the same', async () => {
  const flooded = await newTenant()
  const answers = await Promise.all(
    Array.from({ length: 300 }, () => app.fetch(authorizePath(flooded, { id: 'client_nobody' }))),
  )
  expect(answers.every(({ status }) => status === 400)).toBe(true)
  const [row] = await sql<{ count: number }>(
    `SELECT count(*)::int AS "count" FROM "Event" WHERE "tenantId" = $1 AND "type" = 'authorize.refused'`,
    [flooded],
  )
  expect(row?.count).toBe(120)
})
