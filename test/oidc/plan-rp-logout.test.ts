import { decodeJwt, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { newTenant } from '../support/actors.ts'
import { type Plan, startPlan } from './plan.ts'
import { csrfIn, makeUser, type Provider, startProvider } from './provider.ts'

// The plan oidcc-rp-initiated-logout-certification-test-plan of the OpenID Foundation: each test is named after the module
// whose conditions it checks, in the plan's order. Each begins with somebody who has just signed in.

const EMAIL = 'ada@example.com'
const POST_LOGOUT = 'https://rp.example.com/post_logout_redirect'

let provider: Provider
let tenant: string
let plan: Plan
let idToken: string
let state: string

beforeAll(async () => {
  provider = await startProvider()
  tenant = await newTenant()
  await makeUser(tenant, EMAIL)
  plan = await startPlan(provider, tenant, EMAIL, 'query', { allowedLogoutUrls: [POST_LOGOUT] })
})
afterAll(() => provider.close())
beforeEach(async () => {
  plan.browser.cookies.clear()
  const { tokens } = await plan.signIn({ prompt: 'login' })
  idToken = tokens.body.id_token as string
  state = crypto.randomUUID()
})

const complete = () => ({ id_token_hint: idToken, post_logout_redirect_uri: POST_LOGOUT, state })

/** Sends the person to end_session_endpoint, as discovery has it. */
async function endSession(params: Record<string, string>) {
  const metadata = (await (
    await fetch(`${provider.origin}/${tenant}/.well-known/openid-configuration`)
  ).json()) as { end_session_endpoint: string }
  const path = `${new URL(metadata.end_session_endpoint).pathname}?${new URLSearchParams(params)}`
  const response = await plan.browser.fetch(path)
  return {
    path,
    status: response.status,
    location: response.headers.get('location'),
    html: await response.text(),
  }
}

/** Whether an authorization request with prompt=none finds anybody. */
async function isSignedIn(): Promise<boolean> {
  const { answer } = await plan.authorize({ prompt: 'none' })
  if (answer.error) expect(answer.error).toBe('login_required')
  return Boolean(answer.code)
}

/** Neither redirected nor signed out: an error that says so, and offers to sign out. */
async function expectRefusal(params: Record<string, string>): Promise<void> {
  const { status, location, html } = await endSession(params)
  expect([status, location]).toEqual([400, null])
  expect(html).toContain('The application asked for something that cannot be done. You are still signed in.')
  expect(await isSignedIn()).toBe(true)
}

/** Asked first; whoever agrees sees that they are signed out. */
async function expectConfirmation(params: Record<string, string>): Promise<void> {
  const asked = await endSession(params)
  expect([asked.status, asked.location]).toEqual([200, null])
  expect(asked.html).toContain('Sign out?')
  expect(await isSignedIn()).toBe(true)
  const response = await plan.browser.post(asked.path, { csrf: csrfIn(asked.html), step: 'logout' })
  expect([response.status, response.headers.get('location')]).toEqual([200, null])
  expect(await response.text()).toContain('You are signed out')
  expect(await isSignedIn()).toBe(false)
}

describe('oidcc-rp-initiated-logout-certification-test-plan', () => {
  test('oidcc-rp-initiated-logout-discovery-endpoint-verification', async () => {
    const response = await fetch(`${provider.origin}/${tenant}/.well-known/openid-configuration`)
    expect(await response.json()).toMatchObject({ end_session_endpoint: `${plan.issuer}/oidc/logout` })
  })

  test('oidcc-rp-initiated-logout', async () => {
    const { status, location } = await endSession(complete())
    expect([status, location]).toEqual([303, `${POST_LOGOUT}?state=${state}`])
    expect(await isSignedIn()).toBe(false)
  })

  test('oidcc-rp-initiated-logout-bad-post-logout-redirect-uri', () =>
    expectRefusal({ ...complete(), post_logout_redirect_uri: `${POST_LOGOUT}${crypto.randomUUID()}` }))

  test('oidcc-rp-initiated-logout-modified-id-token-hint', async () => {
    await expectRefusal({ ...complete(), id_token_hint: new UnsecuredJWT(decodeJwt(idToken)).encode() })
    const [header, , signature] = idToken.split('.')
    const claims = { ...decodeJwt(idToken), sub: 'user_somebody' }
    const payload = Buffer.from(JSON.stringify(claims)).toString('base64url')
    await expectRefusal({ ...complete(), id_token_hint: `${header}.${payload}.${signature}` })
  })

  test('oidcc-rp-initiated-logout-no-id-token-hint', () =>
    expectRefusal({ post_logout_redirect_uri: POST_LOGOUT, state }))

  test('oidcc-rp-initiated-logout-no-params', () => expectConfirmation({}))

  test('oidcc-rp-initiated-logout-no-post-logout-redirect-uri', async () => {
    const { status, location, html } = await endSession({ id_token_hint: idToken, state })
    expect([status, location]).toEqual([200, null])
    expect(html).toContain('You are signed out')
    expect(await isSignedIn()).toBe(false)
  })

  test('oidcc-rp-initiated-logout-no-state', async () => {
    const { status, location } = await endSession({
      id_token_hint: idToken,
      post_logout_redirect_uri: POST_LOGOUT,
    })
    expect([status, location]).toEqual([303, POST_LOGOUT])
    expect(await isSignedIn()).toBe(false)
  })

  test('oidcc-rp-initiated-logout-only-state', () => expectConfirmation({ state }))

  test('oidcc-rp-initiated-logout-query-added-to-post-logout-redirect-uri', () =>
    expectRefusal({ ...complete(), post_logout_redirect_uri: `${POST_LOGOUT}?foo=bar` }))

  test('oidcc-rp-initiated-logout-bad-id-token-hint', async () => {
    const { privateKey } = await generateKeyPair('ES256')
    const forged = await new SignJWT(decodeJwt(idToken))
      .setProtectedHeader({ alg: 'ES256', typ: 'JWT' })
      .sign(privateKey)
    await expectRefusal({ ...complete(), id_token_hint: forged })
  })
})
