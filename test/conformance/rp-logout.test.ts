import { decodeJwt, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose'
import { describe, expect } from 'vitest'
import { POST_LOGOUT, test } from '../support/conformance-logout.ts'

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
