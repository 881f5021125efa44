import { decodeJwt, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose'
import { describe, expect } from 'vitest'
import { startPlan } from '../support/conformance-plan.ts'
import { test as base } from '../support/fixtures.ts'
import { csrfIn } from '../support/page-browser.ts'

const POST_LOGOUT = 'https://rp.example.com/post_logout_redirect'

/** `test` with a user who has just signed in, and requests to end the session. */
const test = base
  .extend('plan', { scope: 'file' }, async ({ app, tenant, newPerson }) => {
    const { email } = await newPerson()
    return startPlan(app, tenant, email, 'query', { allowedLogoutUrls: [POST_LOGOUT] })
  })
  .extend('idToken', async ({ plan }) => {
    plan.browser.cookies.clear()
    const { tokens } = await plan.signIn({ prompt: 'login' })
    return tokens.body.id_token as string
  })
  .extend('state', () => crypto.randomUUID() as string)
  /** All parameters of a logout request. */
  .extend('complete', ({ idToken, state }) => ({
    id_token_hint: idToken,
    post_logout_redirect_uri: POST_LOGOUT,
    state,
  }))
  /** Sends the browser to the end_session_endpoint of the metadata. */
  .extend('endSession', ({ app, tenant, plan, idToken }) => async (params: Record<string, string>) => {
    if (!idToken) throw new Error('no user is signed in')
    const response = await app.fetch(`/${tenant}/.well-known/openid-configuration`)
    const metadata = (await response.json()) as { end_session_endpoint: string }
    const path = `${new URL(metadata.end_session_endpoint).pathname}?${new URLSearchParams(params)}`
    const ended = await plan.browser.fetch(path)
    return {
      path,
      status: ended.status,
      location: ended.headers.get('location'),
      html: await ended.text(),
    }
  })
  /** Whether an authorization request with prompt=none finds a session. */
  .extend('isSignedIn', ({ plan }) => async (): Promise<boolean> => {
    const { answer } = await plan.authorize({ prompt: 'none' })
    if (answer.error) expect(answer.error).toBe('login_required')
    return Boolean(answer.code)
  })
  /** Expects an error page that offers to sign out, and no redirect. */
  .extend(
    'expectRejection',
    ({ endSession, isSignedIn }) =>
      async (params: Record<string, string>): Promise<void> => {
        const { status, location, html } = await endSession(params)
        expect([status, location]).toEqual([400, null])
        expect(html).toContain(
          'The application asked for something that cannot be done. You are still signed in.',
        )
        expect(await isSignedIn()).toBe(true)
      },
  )
  /** Expects a question first; confirming it ends the session. */
  .extend(
    'expectConfirmation',
    ({ plan, endSession, isSignedIn }) =>
      async (params: Record<string, string>): Promise<void> => {
        const asked = await endSession(params)
        expect([asked.status, asked.location]).toEqual([200, null])
        expect(asked.html).toContain('Sign out?')
        expect(await isSignedIn()).toBe(true)
        const response = await plan.browser.post(asked.path, { csrf: csrfIn(asked.html), step: 'logout' })
        expect([response.status, response.headers.get('location')]).toEqual([200, null])
        expect(await response.text()).toContain('You are signed out')
        expect(await isSignedIn()).toBe(false)
      },
  )

// Each test has the name of the module of the OpenID Foundation whose conditions it checks, in the plan's
// order.

describe('oidcc-rp-initiated-logout-certification-test-plan', () => {
  test('oidcc-rp-initiated-logout-discovery-endpoint-verification', async ({ app, tenant, plan }) => {
    const response = await app.fetch(`/${tenant}/.well-known/openid-configuration`)
    expect(await response.json()).toMatchObject({ end_session_endpoint: `${plan.issuer}/oidc/logout` })
  })

  test('oidcc-rp-initiated-logout', async ({ state, complete, endSession, isSignedIn }) => {
    const { status, location } = await endSession(complete)
    expect([status, location]).toEqual([303, `${POST_LOGOUT}?state=${state}`])
    expect(await isSignedIn()).toBe(false)
  })

  test('oidcc-rp-initiated-logout-bad-post-logout-redirect-uri', ({ complete, expectRejection }) =>
    expectRejection({ ...complete, post_logout_redirect_uri: `${POST_LOGOUT}${crypto.randomUUID()}` }))

  test('oidcc-rp-initiated-logout-modified-id-token-hint', async ({ idToken, complete, expectRejection }) => {
    await expectRejection({ ...complete, id_token_hint: new UnsecuredJWT(decodeJwt(idToken)).encode() })
    const [header, , signature] = idToken.split('.')
    const claims = { ...decodeJwt(idToken), sub: 'user_other' }
    const payload = Buffer.from(JSON.stringify(claims)).toString('base64url')
    await expectRejection({ ...complete, id_token_hint: `${header}.${payload}.${signature}` })
  })

  test('oidcc-rp-initiated-logout-no-id-token-hint', ({ state, expectRejection }) =>
    expectRejection({ post_logout_redirect_uri: POST_LOGOUT, state }))

  test('oidcc-rp-initiated-logout-no-params', ({ expectConfirmation }) => expectConfirmation({}))

  test('oidcc-rp-initiated-logout-no-post-logout-redirect-uri', async ({
    idToken,
    state,
    endSession,
    isSignedIn,
  }) => {
    const { status, location, html } = await endSession({ id_token_hint: idToken, state })
    expect([status, location]).toEqual([200, null])
    expect(html).toContain('You are signed out')
    expect(await isSignedIn()).toBe(false)
  })

  test('oidcc-rp-initiated-logout-no-state', async ({ idToken, endSession, isSignedIn }) => {
    const { status, location } = await endSession({
      id_token_hint: idToken,
      post_logout_redirect_uri: POST_LOGOUT,
    })
    expect([status, location]).toEqual([303, POST_LOGOUT])
    expect(await isSignedIn()).toBe(false)
  })

  test('oidcc-rp-initiated-logout-only-state', ({ state, expectConfirmation }) =>
    expectConfirmation({ state }))

  test('oidcc-rp-initiated-logout-query-added-to-post-logout-redirect-uri', ({ complete, expectRejection }) =>
    expectRejection({ ...complete, post_logout_redirect_uri: `${POST_LOGOUT}?foo=bar` }))

  test('oidcc-rp-initiated-logout-bad-id-token-hint', async ({ idToken, complete, expectRejection }) => {
    const { privateKey } = await generateKeyPair('ES256')
    const forged = await new SignJWT(decodeJwt(idToken))
      .setProtectedHeader({ alg: 'ES256', typ: 'JWT' })
      .sign(privateKey)
    await expectRejection({ ...complete, id_token_hint: forged })
  })
})
