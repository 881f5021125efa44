import { describe, expect } from 'vitest'
import { updateClient } from '../../../src/clients/client-changes.ts'
import { createPlatformCtx } from '../../../src/context/context.ts'
import { selectMessageOrigin } from '../../../src/oidc/authorize/response-modes.ts'
import { postedAnswer } from '../../support/conformance-plan.ts'
import { listTags } from '../../support/pages.tsx'
import { answerIn, REDIRECT_URI } from '../../support/protocol.ts'
import { CUSTOM, ELSEWHERE, readMessage, test } from '../../support/response-modes.ts'

const silent = { prompt: 'none' }

/** The Content-Security-Policy of a response by directive. */
const readPolicy = (response: Response): Record<string, string> =>
  Object.fromEntries(
    (response.headers.get('content-security-policy') ?? '').split('; ').map((directive) => {
      const [name = '', ...sources] = directive.split(' ')
      return [name, sources.join(' ')]
    }),
  )

describe('response_mode=form_post (OAuth 2.0 Form Post Response Mode)', () => {
  test('returns an uncacheable form that leads to the redirect_uri only (section 2)', async ({ plan }) => {
    const { response, target, answer, pages } = await plan.authorize(silent)
    expect([response.status, target, pages]).toEqual([200, REDIRECT_URI, []])
    expect(answer).toEqual({ code: expect.any(String), state: 'a-state', iss: plan.issuer })
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('referrer-policy')).toBe('no-referrer')
    expect(response.headers.get('x-frame-options')).toBe('DENY')
    expect(readPolicy(response)).toMatchObject({
      'default-src': "'none'",
      'script-src': "'self'",
      'frame-ancestors': "'none'",
    })
    expect(readPolicy(response)).not.toHaveProperty('form-action')
  })

  test('returns a code that can be redeemed after a sign-in (section 2)', async ({ plan }) => {
    const { arrival, tokens } = await plan.signIn({ prompt: 'login' })
    expect(arrival.pages).toEqual(['email', 'code'])
    expect(tokens.status).toBe(200)
  })

  test('returns errors in a form (section 2)', async ({ plan }) => {
    const found = (await plan.authorize(silent, { browser: plan.newBrowser() })).answer
    expect(found).toEqual({
      error: 'login_required',
      error_description: expect.any(String),
      state: 'a-state',
      iss: plan.issuer,
    })
    for (const [more, error] of [
      [{ scope: 'nonsense' }, 'invalid_scope'],
      [{ response_type: 'token' }, 'unsupported_response_type'],
      [{ response_type: null }, 'invalid_request'],
      [{ id_token_hint: 'x' }, 'invalid_request'],
    ] as const)
      expect((await plan.authorize(more)).answer).toMatchObject({ error, state: 'a-state' })
  })

  test('returns access_denied when the user denies consent (section 2)', async ({ plan }) => {
    const { html } = await plan.authorize({ prompt: 'consent' }, { stopAt: 'consent' })
    const handle = /action="([^"]*\/consent)"/.exec(html)?.[1] ?? ''
    const denied = await plan.browser.submit({ html, path: handle }, { step: 'deny' })
    expect(postedAnswer(await denied.response.text())?.answer).toMatchObject({ error: 'access_denied' })
  })

  test('escapes every value', async ({ plan }) => {
    const state = `"><script>alert(1)</script>'&amp;é😀`
    const { html, answer } = await plan.authorize({ ...silent, state })
    expect(answer.state).toBe(state)
    const names = listTags(html).filter(({ name }) => name === 'input' || name === 'script')
    expect(names.map(({ name, attributes }) => attributes.name ?? name)).toEqual([
      'code',
      'state',
      'iss',
      'script',
    ])
  })

  test.for(['fragment', 'Form_post', 'query.jwt'])(
    'is replaced by the default mode for the error about the unknown mode %s (OAuth Multiple Response Types, section 2.1)',
    async (response_mode, { visit }) => {
      const location = (await visit({ ...silent, response_mode })).headers.get('location')
      expect(answerIn(location)).toMatchObject({ error: 'invalid_request', state: 'a-state' })
    },
  )

  test('is rejected for a native application', async ({ native, visit }) => {
    const response = await visit({ redirect_uri: CUSTOM, response_mode: 'form_post' }, undefined, native)
    expect(response.headers.get('location')).toMatch(/^com\.example\.app:\/cb\?error=invalid_request&/)
  })
})

describe('response_mode=web_message (draft-sakimura-oauth-wmrm)', () => {
  const web = { response_mode: 'web_message' }
  test('is sent to one origin, which alone may frame it', async ({ plan, visit }) => {
    const response = await visit({ ...web, ...silent })
    expect(readPolicy(response)).toMatchObject({
      'frame-ancestors': 'https://rp.example.com',
      'script-src': "'self'",
      'form-action': "'self'",
    })
    const headers = ['x-frame-options', 'cross-origin-opener-policy', 'location']
    expect(headers.map((name) => response.headers.get(name))).toEqual([null, null, null])
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(await readMessage(response)).toEqual({
      origin: 'https://rp.example.com',
      type: 'authorization_response',
      response: { code: expect.any(String), state: 'a-state', iss: plan.issuer },
    })
  })

  test('returns errors, and state only if the request had one', async ({ newBrowser, plan, visit }) => {
    const response = await visit({ ...web, ...silent, state: null }, newBrowser())
    expect(await readMessage(response)).toMatchObject({
      response: { error: 'login_required', error_description: expect.any(String), iss: plan.issuer },
    })
    expect((await readMessage(await visit({ ...web, ...silent, state: null }))).response).not.toHaveProperty(
      'state',
    )
  })

  test('is rejected on an error page for an origin that is not one of the webOrigins', async ({
    events,
    visit,
  }) => {
    for (const more of [silent, { scope: 'nonsense' }, { response_type: 'token' }] as Record<
      string,
      string
    >[]) {
      const response = await visit({ ...web, ...more, redirect_uri: ELSEWHERE })
      expect([response.status, response.headers.get('location')]).toEqual([400, null])
      expect(readPolicy(response)['frame-ancestors']).toBe("'none'")
      const html = await response.text()
      expect(html).toContain('is not one of the webOrigins')
      expect(html).not.toContain('authorization_response')
      const id = response.headers.get('x-request-id')
      expect((await events()).find(({ requestId }) => requestId === id)).toMatchObject({
        type: 'authorize.refused',
        detail: { given: ELSEWHERE, webOrigins: 'https://rp.example.com' },
      })
    }
  })

  test('is rejected for a native application, which has no origin', async ({ native, visit }) => {
    expect((await visit({ ...web, redirect_uri: CUSTOM }, undefined, native)).status).toBe(400)
  })

  test('is rejected when the origin was removed during the sign-in', async ({ plan }) => {
    const { html, response } = await plan.authorize({ ...web, prompt: 'consent' }, { stopAt: 'consent' })
    expect(response.status).toBe(200)
    await updateClient(createPlatformCtx(plan.tenant), plan.client.id, { webOrigins: [] })
    const path = /action="([^"]*\/consent)"/.exec(html)?.[1] ?? ''
    const allowed = await plan.browser.submit({ html, path }, { step: 'allow' })
    expect(allowed.response.status).toBe(400)
    expect(await allowed.response.text()).not.toContain('authorization_response')
    await updateClient(createPlatformCtx(plan.tenant), plan.client.id, {
      webOrigins: ['https://rp.example.com'],
    })
  })

  test.each([
    ['https://rp.example.com/cb', 'https://rp.example.com'],
    ['https://rp.example.com:443/cb', 'https://rp.example.com'],
    ['https://rp.example.com:8443/cb', null],
    ['http://rp.example.com/cb', null],
    ['https://rp.example.com.evil.example/cb', null],
    ['https://evil.example/https://rp.example.com', null],
    ['https://rp.example.com@evil.example/', null],
    ['com.example.app:/cb', null],
    ['javascript:alert(1)', null],
    ['data:text/html,x', null],
    ['no address', null],
  ])('has for the redirect_uri %s the target origin %s', (uri, origin) => {
    expect(selectMessageOrigin({ webOrigins: ['https://rp.example.com', 'null', '*'] }, uri)).toBe(origin)
  })
})
