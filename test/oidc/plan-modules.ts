import { createHash } from 'node:crypto'
import { createRemoteJWKSet, type JWTPayload, jwtVerify, UnsecuredJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sha256, sha256Base64url } from '../../src/crypto.ts'
import { dbFor, sql } from '../../src/db.ts'
import type { User } from '../../src/generated/prisma/client.ts'
import type { ResponseMode } from '../../src/oidc/authorize/response-modes.ts'
import { newTenant } from '../support/actors.ts'
import { type Arrival, type Plan, postedAnswer, runAuthorize, startPlan } from './plan.ts'
import {
  authorizePath,
  exchange,
  makeClient,
  makeUser,
  type Provider,
  REDIRECT_URI,
  refreshWith,
  startProvider,
  type TokenAnswer,
  tokenRequest,
  userinfoOf,
  VERIFIER,
} from './provider.ts'

/**
 * The modules of the OpenID Foundation's Basic plan for a provider (oidcc-basic-certification-test-plan), with a client that is
 * registered statically, by one response mode: the plan "Form Post Basic" has the same ones. Each test is named after the
 * module whose conditions it checks, in the plan's order. No request has PKCE but the last one's.
 */
export function describeBasicModules(responseMode: ResponseMode): void {
  let provider: Provider
  let tenant: string
  let plan: Plan
  let user: User
  const EMAIL = 'ada@example.com'
  const SIGNS_IN = ['email', 'code']

  beforeAll(async () => {
    provider = await startProvider()
    tenant = await newTenant()
    user = await makeUser(tenant, EMAIL, {
      name: 'Ada Lovelace',
      givenName: 'Ada',
      familyName: 'Lovelace',
      birthdate: '1815-12-10',
      zoneinfo: 'Europe/London',
      phoneNumber: '+41791234567',
      address: { formatted: 'London\nGB', country: 'GB' },
    })
    plan = await startPlan(provider, tenant, EMAIL, responseMode)
  })
  afterAll(() => provider.close())

  const noPkce = { code_verifier: '' }
  const keys = () => createRemoteJWKSet(new URL(`${provider.origin}/${tenant}/.well-known/jwks.json`))
  const userinfo = async (tokens: TokenAnswer): Promise<Record<string, unknown>> => {
    const response = await userinfoOf(provider, tenant, tokens.body.access_token ?? '')
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json'])
    return (await response.json()) as Record<string, unknown>
  }

  /** What is true of every ID token (OIDC Core, sections 2, 3.1.3.6 and 3.1.3.7); answers its claims. */
  async function checkedIdToken(
    { body }: TokenAnswer,
    { nonce, client = plan.client, alg = 'ES256' }: { nonce?: string; client?: { id: string }; alg?: string },
  ): Promise<JWTPayload> {
    const { payload, protectedHeader } = await jwtVerify(body.id_token ?? '', keys(), {
      issuer: plan.issuer,
      audience: client.id,
      algorithms: [alg],
      requiredClaims: ['sub', 'iat', 'exp', 'auth_time'],
    })
    expect(protectedHeader.kid).toEqual(expect.any(String))
    const hash = createHash('sha256')
      .update(body.access_token ?? '')
      .digest()
    expect(payload).toMatchObject({
      sub: user.id,
      aud: client.id,
      at_hash: hash.subarray(0, 16).toString('base64url'),
    })
    expect(payload.nonce).toBe(nonce)
    expect(payload.auth_time as number).toBeLessThanOrEqual(payload.iat as number)
    return payload
  }

  /** That an answer came the way that was asked for. */
  const expectMode = ({ html, response }: Arrival) => {
    expect(postedAnswer(html) !== null).toBe(responseMode === 'form_post')
    expect(response.headers.has('location')).toBe(responseMode === 'query')
  }

  /** Signs in with the parameters of a module, and checks what is true of every answer. */
  async function succeed(
    more: Record<string, string | null> = {},
    options: Parameters<Plan['signIn']>[1] = {},
  ) {
    const nonce = `nonce-${Math.random()}`
    const signedIn = await plan.signIn({ nonce, ...more }, options)
    const { answer, target } = signedIn.arrival
    expectMode(signedIn.arrival)
    expect([target, answer]).toEqual([
      REDIRECT_URI,
      { code: expect.any(String), state: 'a-state', iss: plan.issuer },
    ])
    expect(signedIn.tokens).toMatchObject({ status: 200, body: { token_type: 'Bearer', expires_in: 3600 } })
    expect(signedIn.tokens.headers.get('cache-control')).toBe('no-store')
    const idToken = await checkedIdToken(signedIn.tokens, { nonce: more.nonce === null ? undefined : nonce })
    return { ...signedIn, idToken, person: await userinfo(signedIn.tokens) }
  }

  /** An error that the client is told of (OIDC Core, section 3.1.2.6). */
  const expectError = (arrival: Arrival, error: string, state: string | null = 'a-state') => {
    const { target, answer } = arrival
    expectMode(arrival)
    expect([target, answer.error, answer.state ?? null, answer.iss]).toEqual([
      REDIRECT_URI,
      error,
      state,
      plan.issuer,
    ])
    expect(answer).not.toHaveProperty('code')
  }

  /** An error that only the person is told of, as it is not proven where else it may go. */
  const expectErrorPage = ({ target, pages, response }: Arrival) => {
    expect([target, pages, response.status]).toEqual([null, ['error'], 400])
    expect(response.headers.get('location')).toBeNull()
  }

  /** Lets the sessions be older than they are. */
  const age = (seconds: number) =>
    sql(
      `UPDATE "Session" SET "authenticatedAt" = "authenticatedAt" - make_interval(secs => $2)
     WHERE "tenantId" = $1 AND "endedAt" IS NULL`,
      [tenant, seconds],
    )

  test('oidcc-server', async () => {
    const { arrival } = await succeed({}, { browser: plan.newBrowser() })
    expect(arrival.pages).toEqual(SIGNS_IN)
  })

  test('oidcc-response-type-missing', async () => {
    expectError(await plan.authorize({ response_type: null }), 'invalid_request')
  })

  test('oidcc-idtoken-signature, of a client that is registered for RS256', async () => {
    const client = await makeClient(tenant, { idTokenSigningAlg: 'RS256' })
    const { tokens } = await plan.signIn({ nonce: 'n' }, { client })
    await checkedIdToken(tokens, { nonce: 'n', client, alg: 'RS256' })
  })

  describe('oidcc-userinfo', () => {
    const url = () => `${provider.origin}/${tenant}/oidc/userinfo`
    const post = async (init: RequestInit) => {
      const response = await fetch(url(), { method: 'POST', ...init })
      expect([response.status, await response.json()]).toEqual([200, { sub: user.id }])
    }

    test('oidcc-userinfo-get', async () => {
      expect((await succeed()).person).toEqual({ sub: user.id })
    })

    test('oidcc-userinfo-post-header', async () => {
      const { tokens } = await succeed()
      await post({ headers: { authorization: `Bearer ${tokens.body.access_token}` } })
    })

    test('oidcc-userinfo-post-body', async () => {
      const { tokens } = await succeed()
      await post({ body: new URLSearchParams({ access_token: tokens.body.access_token ?? '' }) })
    })
  })

  test('oidcc-ensure-request-without-nonce-succeeds-for-code-flow', async () => {
    expect((await succeed({ nonce: null })).idToken).not.toHaveProperty('nonce')
  })

  const PROFILE = {
    name: 'Ada Lovelace',
    given_name: 'Ada',
    family_name: 'Lovelace',
    birthdate: '1815-12-10',
    zoneinfo: 'Europe/London',
    updated_at: expect.any(Number),
  }
  const MAIL = { email: EMAIL, email_verified: true }
  const ADDRESS = { address: { formatted: 'London\nGB', country: 'GB' } }
  const PHONE = { phone_number: '+41791234567', phone_number_verified: expect.any(Boolean) }
  test.each([
    ['oidcc-scope-profile', 'openid profile', PROFILE],
    ['oidcc-scope-email', 'openid email', MAIL],
    ['oidcc-scope-address', 'openid address', ADDRESS],
    ['oidcc-scope-phone', 'openid phone', PHONE],
    ['oidcc-scope-all', 'openid profile email address phone', { ...PROFILE, ...MAIL, ...ADDRESS, ...PHONE }],
    ['oidcc-ensure-other-scope-order-succeeds', 'email openid', MAIL],
  ])('%s', async (_module, scope, claims) => {
    const { person, tokens, idToken } = await succeed({ scope })
    expect(person).toEqual({ sub: idToken.sub, ...claims })
    expect(tokens.body.scope).toBe(scope)
    // What scopes cover is told by userinfo, as there is an access token (section 5.4).
    for (const name of Object.keys(claims)) expect(idToken).not.toHaveProperty(name)
  })

  test.each([
    ['oidcc-display-page', { display: 'page' }],
    ['oidcc-display-popup', { display: 'popup' }],
    ['oidcc-ensure-request-with-unknown-parameter-succeeds', { extra: 'foobar' }],
    ['oidcc-ui-locales', { ui_locales: 'se' }],
    ['oidcc-claims-locales', { claims_locales: 'se' }],
  ])('%s', async (_module, more) => {
    const { arrival } = await succeed(more, { browser: plan.newBrowser() })
    expect(arrival.pages).toEqual(SIGNS_IN)
  })

  describe('who is signed in already', () => {
    test.each([
      ['oidcc-prompt-login', { prompt: 'login' }],
      ['oidcc-max-age-1', { max_age: '1' }],
    ])('%s', async (_module, more) => {
      const browser = plan.newBrowser()
      const first = await succeed({}, { browser })
      await age(2)
      const second = await succeed(more, { browser })
      expect(second.arrival.pages).toEqual(SIGNS_IN)
      // The sign-in before is two seconds older than the first token says.
      expect(second.idToken.auth_time).toBeGreaterThanOrEqual(first.idToken.auth_time as number)
    })

    test('oidcc-prompt-none-not-logged-in', async () => {
      const state = 'abcdefgh'.repeat(16)
      const arrival = await plan.authorize({ prompt: 'none', state }, { browser: plan.newBrowser() })
      expectError(arrival, 'login_required', state)
      expect(arrival.pages).toEqual([])
    })

    const hinted = (idToken: string) => ({ prompt: 'none', id_token_hint: idToken })
    test.each([
      ['oidcc-prompt-none-logged-in', {}, () => ({ prompt: 'none' })],
      ['oidcc-max-age-10000', { max_age: '15000' }, () => ({ max_age: '10000' })],
      ['oidcc-id-token-hint', {}, hinted],
    ])('%s', async (_module, firstMore, secondMore) => {
      const browser = plan.newBrowser()
      const first = await succeed(firstMore, { browser })
      await age(2)
      const second = await succeed(secondMore(first.tokens.body.id_token ?? ''), { browser })
      expect(second.arrival.pages).toEqual([])
      expect(second.idToken).toMatchObject({
        sub: first.idToken.sub,
        auth_time: (first.idToken.auth_time as number) - 2,
      })
    })
  })

  test('oidcc-login-hint', async () => {
    const browser = plan.newBrowser()
    const shown = await plan.authorize({ login_hint: EMAIL }, { browser, stopAt: 'email' })
    expect(shown.html).toMatch(new RegExp(`<input id="address"[^>]* value="${EMAIL}"`))
    await succeed({ login_hint: EMAIL }, { browser })
  })

  test('oidcc-ensure-request-with-acr-values-succeeds', async () => {
    const response = await fetch(`${provider.origin}/${tenant}/.well-known/openid-configuration`)
    const { acr_values_supported: values } = (await response.json()) as { acr_values_supported: string[] }
    expect(values).toContain((await succeed({ acr_values: values.join(' ') })).idToken.acr)
  })

  describe('oidcc-codereuse', () => {
    const reuse = async (code: string) => {
      const { status, body, headers } = await exchange(provider, tenant, plan.client, code, noPkce)
      expect([status, body.error, headers.get('content-type')]).toEqual([
        400,
        'invalid_grant',
        'application/json',
      ])
    }

    test('oidcc-codereuse', async () => {
      await reuse((await succeed()).arrival.answer.code ?? '')
    })

    test('oidcc-codereuse-30seconds', async () => {
      const { arrival, tokens } = await succeed()
      const code = arrival.answer.code ?? ''
      const ago = (seconds: number) => new Date(Date.now() - seconds * 1000)
      const { count } = await dbFor(tenant).authorizationCode.updateMany({
        where: { tenantId: tenant, codeHash: sha256(code) },
        data: { createdAt: ago(31), usedAt: ago(30), expiresAt: ago(-29) },
      })
      expect(count).toBe(1)
      await reuse(code)
      // What was issued for the code ends (RFC 6749, section 4.1.2).
      expect((await userinfoOf(provider, tenant, tokens.body.access_token ?? '')).status).toBe(401)
    })
  })

  test('oidcc-ensure-registered-redirect-uri', async () => {
    expectErrorPage(await plan.authorize({ redirect_uri: 'https://rp.example.com/unregistered' }))
  })

  test('oidcc-ensure-post-request-succeeds', async () => {
    const browser = plan.newBrowser()
    const [path = '', query = ''] = authorizePath(tenant, plan.client, {
      code_challenge: null,
      code_challenge_method: null,
      scope: 'openid',
      nonce: 'posted',
      response_mode: responseMode,
    }).split('?')
    const sent = await browser.fetch(path, { method: 'POST', body: new URLSearchParams(query) })
    const arrival = await runAuthorize(browser, tenant, sent.headers.get('location') ?? '', EMAIL)
    const { answer, pages } = arrival
    expectMode(arrival)
    expect([pages, answer.state]).toEqual([SIGNS_IN, 'a-state'])
    const tokens = await exchange(provider, tenant, plan.client, answer.code ?? '', noPkce)
    await checkedIdToken(tokens, { nonce: 'posted' })
  })

  test('oidcc-server-client-secret-post', async () => {
    const { answer } = await plan.authorize({ nonce: 'n' })
    const tokens = await tokenRequest(provider, tenant, null, {
      grant_type: 'authorization_code',
      code: answer.code ?? '',
      redirect_uri: REDIRECT_URI,
      client_id: plan.client.id,
      client_secret: plan.client.secret,
    })
    await checkedIdToken(tokens, { nonce: 'n' })
    expect(await userinfo(tokens)).toEqual({ sub: user.id })
  })

  describe('requests by object and by reference', () => {
    const requestObject = () =>
      new UnsecuredJWT({
        response_type: 'code',
        client_id: plan.client.id,
        redirect_uri: REDIRECT_URI,
        scope: 'openid',
        state: 'inside',
      })
        .setIssuer(plan.client.id)
        .setAudience(plan.issuer)
        .encode()

    test('oidcc-request-uri-unsigned-supported-correctly-or-rejected-as-unsupported', async () => {
      const arrival = await plan.authorize({ request_uri: 'https://rp.example.com/request.jwt' })
      expectError(arrival, 'request_uri_not_supported')
    })

    test('oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported', async () => {
      const arrival = await plan.authorize({ state: null, request: requestObject() })
      expectError(arrival, 'request_not_supported', null)
    })

    test('oidcc-ensure-request-object-with-redirect-uri', async () => {
      // Nothing in an object that is not read proves where an answer may go.
      const redirectUri = 'https://rp.example.com/unregistered'
      expectErrorPage(await plan.authorize({ redirect_uri: redirectUri, request: requestObject() }))
    })
  })

  test('oidcc-claims-essential', async () => {
    const claims = '{"userinfo":{"name":{"essential":true}}}'
    const { person, idToken } = await succeed({ claims })
    expect(person).toEqual({ sub: user.id, name: 'Ada Lovelace' })
    expect(idToken).not.toHaveProperty('name')
  })

  test('oidcc-refresh-token', async () => {
    const other = await makeClient(tenant)
    const offline = { scope: 'openid offline_access', prompt: 'consent' }
    const { tokens, arrival, idToken } = await succeed(offline, { browser: plan.newBrowser() })
    expect(arrival.pages).toEqual([...SIGNS_IN, 'consent'])
    const { refresh_token: token = '' } = tokens.body
    expect(token).toMatch(/^[\x20-\x7e]{32,}$/)
    const refreshed = await refreshWith(provider, tenant, plan.client, token, { scope: offline.scope })
    expect([refreshed.status, refreshed.headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect(refreshed.body).toMatchObject({ token_type: 'Bearer', expires_in: 3600, scope: offline.scope })
    expect(refreshed.body.access_token).not.toBe(tokens.body.access_token)
    // The new ID token is of the same sign-in (section 12.2), and of no request with a nonce.
    const renewed = await checkedIdToken(refreshed, {})
    const { iss, sub, aud, auth_time } = idToken
    expect(renewed).toMatchObject({ iss, sub, aud, auth_time })
    expect(renewed).not.toHaveProperty('azp')
    expect(await userinfo(refreshed)).toEqual({ sub: user.id })
    // The token is bound to its client.
    const stolen = await refreshWith(provider, tenant, other, refreshed.body.refresh_token ?? '')
    expect(stolen).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
  })

  test('oidcc-ensure-request-with-valid-pkce-succeeds', async () => {
    const { answer } = await plan.authorize({
      nonce: 'n',
      code_challenge: sha256Base64url(VERIFIER),
      code_challenge_method: 'S256',
    })
    const tokens = await exchange(provider, tenant, plan.client, answer.code ?? '')
    await checkedIdToken(tokens, { nonce: 'n' })
  })
}
