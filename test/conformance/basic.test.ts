import { createHash } from 'node:crypto'
import { createRemoteJWKSet, type JWTPayload, jwtVerify, UnsecuredJWT } from 'jose'
import { describe, expect } from 'vitest'
import { sha256Base64url } from '../../src/core/crypto.ts'
import type { ResponseMode } from '../../src/oidc/model/authorize-request.ts'
import { alterCode, readCodeContents } from '../support/codes.ts'
import {
  type Arrival,
  type Plan,
  postedAnswer,
  runAuthorize,
  startPlan,
} from '../support/conformance-plan.ts'
import { dbFor, sql } from '../support/database.ts'
import { test as base } from '../support/fixtures.ts'
import {
  authorizePath,
  exchange,
  REDIRECT_URI,
  refreshWith,
  type TokenAnswer,
  VERIFIER,
} from '../support/protocol.ts'

/** The pages of a sign-in. */
const SIGNS_IN = ['email', 'code']
/** No request of the plan has a code_challenge but the one of its PKCE module. */
const NO_PKCE = { code_verifier: '' }

const FIELDS = {
  name: 'Ada Lovelace',
  givenName: 'Ada',
  familyName: 'Lovelace',
  birthdate: '1815-12-10',
  zoneinfo: 'Europe/London',
  phoneNumber: '+41791234567',
  address: { formatted: 'London\nGB', country: 'GB' },
}
type SignInOptions = NonNullable<Parameters<Plan['signIn']>[1]>
type Expected = { nonce?: string; client?: { id: string }; alg?: string }

/**
 * Makes `test` for the modules of the Basic plan: a user, and a relying party that uses one response mode.
 */
const makePlanTest = (mode: ResponseMode) =>
  base
    .extend('responseMode', { scope: 'file' }, async (): Promise<ResponseMode> => mode)
    .extend('user', { scope: 'file' }, ({ newPerson }) => newPerson(FIELDS))
    .extend('plan', { scope: 'file' }, ({ app, tenant, user, responseMode }) =>
      startPlan(app, tenant, user.email, responseMode),
    )
    /** Reads the claims of a user by the access token. */
    .extend(
      'readUserinfo',
      { scope: 'file' },
      ({ oidc }) =>
        async ({ body }: TokenAnswer): Promise<Record<string, unknown>> => {
          const response = await oidc.userinfo(body.access_token ?? '')
          expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json'])
          return (await response.json()) as Record<string, unknown>
        },
    )
    /**
     * Expects what is true of every ID token (OIDC Core, sections 2, 3.1.3.6 and 3.1.3.7); returns its
     * claims.
     */
    .extend(
      'checkIdToken',
      { scope: 'file' },
      ({ app, tenant, plan, user }) =>
        async (
          { body }: TokenAnswer,
          { nonce, client = plan.client, alg = 'ES256' }: Expected,
        ): Promise<JWTPayload> => {
          const keys = createRemoteJWKSet(new URL(`${app.origin}/${tenant}/.well-known/jwks.json`))
          const { payload, protectedHeader } = await jwtVerify(body.id_token ?? '', keys, {
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
        },
    )
    /** Expects that a response was sent by the response mode of the request. */
    .extend('expectMode', { scope: 'file' }, ({ responseMode }) => ({ html, response }: Arrival): void => {
      expect(postedAnswer(html) !== null).toBe(responseMode === 'form_post')
      expect(response.headers.has('location')).toBe(responseMode === 'query')
    })
    /** Signs in with the parameters of a module and expects what is true of every response. */
    .extend(
      'succeed',
      { scope: 'file' },
      ({ plan, expectMode, checkIdToken, readUserinfo }) =>
        async (more: Record<string, string | null> = {}, options: SignInOptions = {}) => {
          const nonce = `nonce-${Math.random()}`
          const signedIn = await plan.signIn({ nonce, ...more }, options)
          const { answer, target } = signedIn.arrival
          expectMode(signedIn.arrival)
          expect([target, answer]).toEqual([
            REDIRECT_URI,
            { code: expect.any(String), state: 'a-state', iss: plan.issuer },
          ])
          const expected = { status: 200, body: { token_type: 'Bearer', expires_in: 3600 } }
          expect(signedIn.tokens).toMatchObject(expected)
          expect(signedIn.tokens.headers.get('cache-control')).toBe('no-store')
          const idToken = await checkIdToken(signedIn.tokens, {
            nonce: more.nonce === null ? undefined : nonce,
          })
          return { ...signedIn, idToken, person: await readUserinfo(signedIn.tokens) }
        },
    )
    /** Expects an error that is sent to the client (OIDC Core, section 3.1.2.6). */
    .extend(
      'expectError',
      { scope: 'file' },
      ({ plan, expectMode }) =>
        (arrival: Arrival, error: string, state: string | null = 'a-state'): void => {
          const { target, answer } = arrival
          expectMode(arrival)
          expect([target, answer.error, answer.state ?? null, answer.iss]).toEqual([
            REDIRECT_URI,
            error,
            state,
            plan.issuer,
          ])
          expect(answer).not.toHaveProperty('code')
        },
    )
    /** Expects an error that is shown to the user, as the redirect_uri is not verified. */
    .extend('expectErrorPage', { scope: 'file' }, () => ({ target, pages, response }: Arrival): void => {
      expect([target, pages, response.status]).toEqual([null, ['error'], 400])
      expect(response.headers.get('location')).toBeNull()
    })
    /** Expects that a code that was redeemed is rejected. */
    .extend(
      'expectReuse',
      { scope: 'file' },
      ({ app, tenant, plan }) =>
        async (code: string): Promise<void> => {
          const { status, body, headers } = await exchange(app, tenant, plan.client, code, NO_PKCE)
          expect([status, body.error, headers.get('content-type')]).toEqual([
            400,
            'invalid_grant',
            'application/json',
          ])
        },
    )
    /** Expects the subject from a POST request to the userinfo endpoint. */
    .extend(
      'expectPost',
      { scope: 'file' },
      ({ app, tenant, user }) =>
        async (init: RequestInit): Promise<void> => {
          const response = await app.fetch(`/${tenant}/oidc/userinfo`, { method: 'POST', ...init })
          expect([response.status, await response.json()]).toEqual([200, { sub: user.id }])
        },
    )
    /** Moves the sign-ins of active sessions into the past. */
    .extend(
      'ageSessions',
      { scope: 'file' },
      ({ tenant }) =>
        (seconds: number) =>
          sql(
            `UPDATE "Session" SET "authenticatedAt" = "authenticatedAt" - make_interval(secs => $2),
               "proofs" = jsonb_set("proofs", '{0,at}', to_jsonb(("proofs"->0->>'at')::timestamptz - make_interval(secs => $2)))
             WHERE "tenantId" = $1 AND "endedAt" IS NULL`,
            [tenant, seconds],
          ),
    )

// The certification test plans oidcc-basic and oidcc-formpost-basic of the OpenID Foundation, for a client that is
// registered statically. Each test has the name of the module whose conditions it checks.

describe.each([
  ['Basic', makePlanTest('query')],
  ['Form Post Basic', makePlanTest('form_post')],
] as const)('the plan %s', (_plan, test) => {
  // Modules that check sign-ins.

  test('oidcc-server', async ({ plan, succeed }) => {
    const { arrival } = await succeed({}, { browser: plan.newBrowser() })
    expect(arrival.pages).toEqual(SIGNS_IN)
  })

  test.for([
    ['oidcc-display-page', { display: 'page' }],
    ['oidcc-display-popup', { display: 'popup' }],
    ['oidcc-ensure-request-with-unknown-parameter-succeeds', { extra: 'foobar' }],
    ['oidcc-ui-locales', { ui_locales: 'se' }],
    ['oidcc-claims-locales', { claims_locales: 'se' }],
  ] as const)('%s', async ([_module, more], { plan, succeed }) => {
    const { arrival } = await succeed(more, { browser: plan.newBrowser() })
    expect(arrival.pages).toEqual(SIGNS_IN)
  })

  describe('a signed-in user', () => {
    test.for([
      ['oidcc-prompt-login', { prompt: 'login' }],
      ['oidcc-max-age-1', { max_age: '1' }],
    ] as const)('%s', async ([_module, more], { plan, succeed, ageSessions }) => {
      const browser = plan.newBrowser()
      const first = await succeed({}, { browser })
      await ageSessions(2)
      const second = await succeed(more, { browser })
      expect(second.arrival.pages).toEqual(SIGNS_IN)
      // The sign-in before is two seconds older than the first token says.
      expect(second.idToken.auth_time).toBeGreaterThanOrEqual(first.idToken.auth_time as number)
    })

    test('oidcc-prompt-none-not-logged-in', async ({ plan, expectError }) => {
      const state = 'abcdefgh'.repeat(16)
      const arrival = await plan.authorize({ prompt: 'none', state }, { browser: plan.newBrowser() })
      expectError(arrival, 'login_required', state)
      expect(arrival.pages).toEqual([])
    })

    const hinted = (idToken: string) => ({ prompt: 'none', id_token_hint: idToken })
    test.for([
      ['oidcc-prompt-none-logged-in', {}, () => ({ prompt: 'none' })],
      ['oidcc-max-age-10000', { max_age: '15000' }, () => ({ max_age: '10000' })],
      ['oidcc-id-token-hint', {}, hinted],
    ] as const)('%s', async ([_module, firstMore, secondMore], { plan, succeed, ageSessions }) => {
      const browser = plan.newBrowser()
      const first = await succeed(firstMore, { browser })
      await ageSessions(2)
      const second = await succeed(secondMore(first.tokens.body.id_token ?? ''), { browser })
      expect(second.arrival.pages).toEqual([])
      expect(second.idToken).toMatchObject({
        sub: first.idToken.sub,
        auth_time: (first.idToken.auth_time as number) - 2,
      })
    })
  })

  test('oidcc-login-hint', async ({ plan, user, succeed }) => {
    const browser = plan.newBrowser()
    const shown = await plan.authorize({ login_hint: user.email }, { browser, stopAt: 'email' })
    expect(shown.html).toMatch(new RegExp(`<input id="address"[^>]* value="${user.email}"`))
    await succeed({ login_hint: user.email }, { browser })
  })

  test('oidcc-ensure-request-with-acr-values-succeeds', async ({ app, tenant, succeed }) => {
    const response = await fetch(`${app.origin}/${tenant}/.well-known/openid-configuration`)
    const { acr_values_supported: values } = (await response.json()) as { acr_values_supported: string[] }
    expect(values).toContain((await succeed({ acr_values: values.join(' ') })).idToken.acr)
  })

  // Modules that check requests.

  test('oidcc-response-type-missing', async ({ plan, expectError }) => {
    expectError(await plan.authorize({ response_type: null }), 'invalid_request')
  })

  test('oidcc-ensure-request-without-nonce-succeeds-for-code-flow', async ({ succeed }) => {
    expect((await succeed({ nonce: null })).idToken).not.toHaveProperty('nonce')
  })

  test('oidcc-ensure-registered-redirect-uri', async ({ plan, expectErrorPage }) => {
    expectErrorPage(await plan.authorize({ redirect_uri: 'https://rp.example.com/unregistered' }))
  })

  test('oidcc-ensure-post-request-succeeds', async ({
    app,
    tenant,
    responseMode,
    plan,
    user,
    expectMode,
    checkIdToken,
  }) => {
    const browser = plan.newBrowser()
    const [path = '', query = ''] = authorizePath(tenant, plan.client, {
      code_challenge: null,
      code_challenge_method: null,
      scope: 'openid',
      nonce: 'posted',
      response_mode: responseMode,
    }).split('?')
    const sent = await browser.fetch(path, { method: 'POST', body: new URLSearchParams(query) })
    const arrival = await runAuthorize(browser, tenant, sent.headers.get('location') ?? '', user.email)
    const { answer, pages } = arrival
    expectMode(arrival)
    expect([pages, answer.state]).toEqual([SIGNS_IN, 'a-state'])
    const tokens = await exchange(app, tenant, plan.client, answer.code ?? '', NO_PKCE)
    await checkIdToken(tokens, { nonce: 'posted' })
  })

  describe('request objects', () => {
    const requestObject = (plan: Plan, more: Record<string, string> = {}) =>
      new UnsecuredJWT({
        response_type: 'code',
        client_id: plan.client.id,
        redirect_uri: REDIRECT_URI,
        scope: 'openid',
        state: 'inside',
        ...more,
      })
        .setIssuer(plan.client.id)
        .setAudience(plan.issuer)
        .encode()

    test('oidcc-request-uri-unsigned-supported-correctly-or-rejected-as-unsupported', async ({
      plan,
      expectError,
    }) => {
      const arrival = await plan.authorize({ request_uri: 'https://rp.example.com/request.jwt' })
      expectError(arrival, 'request_uri_not_supported')
    })

    test('oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported', async ({
      plan,
      responseMode,
      expectError,
    }) => {
      // The module sends response_mode and state inside the object only.
      const request = requestObject(plan, { response_mode: responseMode })
      const arrival = await plan.authorize({ response_mode: null, state: null, request })
      expectError(arrival, 'request_not_supported', 'inside')
    })

    test('oidcc-ensure-request-object-with-redirect-uri', async ({ plan, expectErrorPage }) => {
      // A request object that is not read verifies no redirect_uri.
      const redirectUri = 'https://rp.example.com/unregistered'
      expectErrorPage(await plan.authorize({ redirect_uri: redirectUri, request: requestObject(plan) }))
    })
  })

  // Modules that check tokens.

  test('oidcc-idtoken-signature, of a client that is registered for RS256', async ({
    newClient,
    plan,
    checkIdToken,
  }) => {
    const client = await newClient({ idTokenSigningAlg: 'RS256' })
    const { tokens } = await plan.signIn({ nonce: 'n' }, { client })
    await checkIdToken(tokens, { nonce: 'n', client, alg: 'RS256' })
  })

  describe('oidcc-codereuse', () => {
    test('oidcc-codereuse', async ({ succeed, expectReuse }) => {
      await expectReuse((await succeed()).arrival.answer.code ?? '')
    })

    test('oidcc-codereuse-30seconds', async ({ tenant, oidc, succeed, expectReuse }) => {
      const { arrival, tokens } = await succeed()
      const code = arrival.answer.code ?? ''
      const ago = (seconds: number) => new Date(Date.now() - seconds * 1000)
      const older = await alterCode(tenant, code, { expiresAt: ago(-29) })
      const { count } = await dbFor(tenant).grant.updateMany({
        where: { tenantId: tenant, id: (await readCodeContents(tenant, code)).grantId },
        data: { createdAt: ago(30) },
      })
      expect(count).toBe(1)
      await expectReuse(older)
      // The tokens that were issued for the code are revoked (RFC 6749, section 4.1.2).
      expect((await oidc.userinfo(tokens.body.access_token ?? '')).status).toBe(401)
    })
  })

  test('oidcc-server-client-secret-post', async ({ oidc, plan, user, checkIdToken, readUserinfo }) => {
    const { answer } = await plan.authorize({ nonce: 'n' })
    const tokens = await oidc.token(
      {
        grant_type: 'authorization_code',
        code: answer.code ?? '',
        redirect_uri: REDIRECT_URI,
        client_id: plan.client.id,
        client_secret: plan.client.secret,
      },
      null,
    )
    await checkIdToken(tokens, { nonce: 'n' })
    expect(await readUserinfo(tokens)).toEqual({ sub: user.id })
  })

  test('oidcc-refresh-token', async ({
    app,
    tenant,
    newClient,
    plan,
    user,
    succeed,
    checkIdToken,
    readUserinfo,
  }) => {
    const other = await newClient()
    const offline = { scope: 'openid offline_access', prompt: 'consent' }
    const { tokens, arrival, idToken } = await succeed(offline, { browser: plan.newBrowser() })
    expect(arrival.pages).toEqual([...SIGNS_IN, 'consent'])
    const { refresh_token: refreshToken = '' } = tokens.body
    expect(refreshToken).toMatch(/^[\x20-\x7e]{32,}$/)
    const refreshed = await refreshWith(app, tenant, plan.client, refreshToken, { scope: offline.scope })
    expect([refreshed.status, refreshed.headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect(refreshed.body).toMatchObject({ token_type: 'Bearer', expires_in: 3600, scope: offline.scope })
    expect(refreshed.body.access_token).not.toBe(tokens.body.access_token)
    // The new ID token belongs to the same sign-in (section 12.2), and has no nonce.
    const renewed = await checkIdToken(refreshed, {})
    const { iss, sub, aud, auth_time } = idToken
    expect(renewed).toMatchObject({ iss, sub, aud, auth_time })
    expect(renewed).not.toHaveProperty('azp')
    expect(await readUserinfo(refreshed)).toEqual({ sub: user.id })
    // The token is bound to its client.
    const stolen = await refreshWith(app, tenant, other, refreshed.body.refresh_token ?? '')
    expect(stolen).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
  })

  test('oidcc-ensure-request-with-valid-pkce-succeeds', async ({ app, tenant, plan, checkIdToken }) => {
    const { answer } = await plan.authorize({
      nonce: 'n',
      code_challenge: sha256Base64url(VERIFIER),
      code_challenge_method: 'S256',
    })
    const tokens = await exchange(app, tenant, plan.client, answer.code ?? '')
    await checkIdToken(tokens, { nonce: 'n' })
  })

  // Modules that check claims.

  describe('oidcc-userinfo', () => {
    test('oidcc-userinfo-get', async ({ user, succeed }) => {
      expect((await succeed()).person).toEqual({ sub: user.id })
    })

    test('oidcc-userinfo-post-header', async ({ succeed, expectPost }) => {
      const { tokens } = await succeed()
      await expectPost({ headers: { authorization: `Bearer ${tokens.body.access_token}` } })
    })

    test('oidcc-userinfo-post-body', async ({ succeed, expectPost }) => {
      const { tokens } = await succeed()
      await expectPost({ body: new URLSearchParams({ access_token: tokens.body.access_token ?? '' }) })
    })
  })

  const PROFILE = {
    name: 'Ada Lovelace',
    given_name: 'Ada',
    family_name: 'Lovelace',
    birthdate: '1815-12-10',
    zoneinfo: 'Europe/London',
    updated_at: expect.any(Number),
  }
  const MAIL = { email: expect.stringContaining('@'), email_verified: true }
  const ADDRESS = { address: { formatted: 'London\nGB', country: 'GB' } }
  const PHONE = { phone_number: '+41791234567', phone_number_verified: expect.any(Boolean) }
  test.for([
    ['oidcc-scope-profile', 'openid profile', PROFILE],
    ['oidcc-scope-email', 'openid email', MAIL],
    ['oidcc-scope-address', 'openid address', ADDRESS],
    ['oidcc-scope-phone', 'openid phone', PHONE],
    ['oidcc-scope-all', 'openid profile email address phone', { ...PROFILE, ...MAIL, ...ADDRESS, ...PHONE }],
    ['oidcc-ensure-other-scope-order-succeeds', 'email openid', MAIL],
  ] as const)('%s', async ([_module, scope, claims], { succeed }) => {
    const { person, tokens, idToken } = await succeed({ scope })
    expect(person).toEqual({ sub: idToken.sub, ...claims })
    expect(tokens.body.scope).toBe(scope)
    // Userinfo returns the claims of scopes, as there is an access token (section 5.4).
    for (const name of Object.keys(claims)) expect(idToken).not.toHaveProperty(name)
  })

  test('oidcc-claims-essential', async ({ user, succeed }) => {
    const claims = '{"userinfo":{"name":{"essential":true}}}'
    const { person, idToken } = await succeed({ claims })
    expect(person).toEqual({ sub: user.id, name: 'Ada Lovelace' })
    expect(idToken).not.toHaveProperty('name')
  })
})
