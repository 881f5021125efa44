import { expect } from 'vitest'
import { startPlan } from './conformance-plan.ts'
import { test as base } from './fixtures.ts'
import { csrfIn } from './page-browser.ts'

export const POST_LOGOUT = 'https://rp.example.com/post_logout_redirect'

/** `test` with a user who has just signed in, and requests to end the session. */
export const test = base
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
