import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { updateClient } from '../../src/clients/client-changes.ts'
import { platformCtx } from '../../src/ctx.ts'
import { messageOriginOf } from '../../src/oidc/authorize/response-modes.ts'
import { newTenant } from '../support/actors.ts'
import { logOf } from '../support/events.ts'
import { tagsOf } from '../support/pages.tsx'
import { type Plan, postedAnswer, startPlan } from './plan.ts'
import {
  answerIn,
  authorizePath,
  Browser,
  makeUser,
  type Provider,
  REDIRECT_URI,
  startProvider,
} from './provider.ts'

const EMAIL = 'ada@example.com'
const CUSTOM = 'com.example.app:/cb'
let provider: Provider
let plan: Plan
let native: Plan

beforeAll(async () => {
  provider = await startProvider()
  const tenant = await newTenant()
  await makeUser(tenant, EMAIL)
  plan = await startPlan(provider, tenant, EMAIL, 'form_post', {
    webOrigins: ['https://rp.example.com'],
    callbacks: [REDIRECT_URI, 'https://elsewhere.example.com/cb'],
  })
  native = await startPlan(provider, tenant, EMAIL, 'query', { appType: 'native', callbacks: [CUSTOM] })
  await plan.authorize()
})
afterAll(() => provider.close())

const none = { prompt: 'none' }
const visit = (more: Record<string, string | null>, by = plan.browser, of = plan) =>
  by.fetch(authorizePath(of.tenant, of.client, more))
const policyOf = (response: Response): Record<string, string> =>
  Object.fromEntries(
    (response.headers.get('content-security-policy') ?? '').split('; ').map((directive) => {
      const [name = '', ...sources] = directive.split(' ')
      return [name, sources.join(' ')]
    }),
  )

describe('response_mode=form_post (OAuth 2.0 Form Post Response Mode)', () => {
  test('section 2: answers with a form that goes to the redirect_uri and nowhere else, and that nobody keeps', async () => {
    const { response, target, answer, pages } = await plan.authorize(none)
    expect([response.status, target, pages]).toEqual([200, REDIRECT_URI, []])
    expect(answer).toEqual({ code: expect.any(String), state: 'a-state', iss: plan.issuer })
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('referrer-policy')).toBe('no-referrer')
    expect(response.headers.get('x-frame-options')).toBe('DENY')
    expect(policyOf(response)).toMatchObject({
      'default-src': "'none'",
      'script-src': "'self'",
      'frame-ancestors': "'none'",
      'form-action': "'self' https://rp.example.com https://elsewhere.example.com",
    })
  })

  test('section 2: also after the hosted pages, and what it brings is as good', async () => {
    const { arrival, tokens } = await plan.signIn({ prompt: 'login' })
    expect(arrival.pages).toEqual(['email', 'code'])
    expect(tokens.status).toBe(200)
  })

  test('section 2: says errors as it says codes', async () => {
    const found = (await plan.authorize(none, { browser: plan.newBrowser() })).answer
    expect(found).toEqual({
      error: 'login_required',
      error_description: expect.any(String),
      state: 'a-state',
      iss: plan.issuer,
    })
    for (const [more, error] of [
      [{ scope: 'profile' }, 'invalid_scope'],
      [{ response_type: 'token' }, 'unsupported_response_type'],
      [{ response_type: null }, 'invalid_request'],
      [{ id_token_hint: 'x' }, 'invalid_request'],
    ] as const)
      expect((await plan.authorize(more)).answer).toMatchObject({ error, state: 'a-state' })
  })

  test('section 2: says that the person refused', async () => {
    const { html, response } = await plan.authorize({ prompt: 'consent' }, { stopAt: 'consent' })
    const handle = /action="([^"]*\/consent)"/.exec(html)?.[1] ?? ''
    expect(policyOf(response)['form-action']).toContain("'self'")
    const denied = await plan.browser.submit({ html, path: handle }, { step: 'deny' })
    expect(postedAnswer(await denied.response.text())?.answer).toMatchObject({ error: 'access_denied' })
  })

  test('a value is text in its field, whatever is in it', async () => {
    const state = `"><script>alert(1)</script>'&amp;é😀`
    const { html, answer } = await plan.authorize({ ...none, state })
    expect(answer.state).toBe(state)
    const names = tagsOf(html).filter(({ name }) => name === 'input' || name === 'script')
    expect(names.map(({ name, attributes }) => attributes.name ?? name)).toEqual([
      'code',
      'state',
      'iss',
      'script',
    ])
  })

  test.each(['fragment', 'Form_post', 'query.jwt'])(
    'a mode that there is not, %s, is told of by the default one (OAuth Multiple Response Types, section 2.1)',
    async (response_mode) => {
      const location = (await visit({ ...none, response_mode })).headers.get('location')
      expect(answerIn(location)).toMatchObject({ error: 'invalid_request', state: 'a-state' })
    },
  )

  test('is not for a native application, whose redirect_uri takes no form', async () => {
    const response = await visit({ redirect_uri: CUSTOM, response_mode: 'form_post' }, undefined, native)
    expect(response.headers.get('location')).toMatch(/^com\.example\.app:\/cb\?error=invalid_request&/)
  })
})

describe('response_mode=web_message (draft-sakimura-oauth-wmrm)', () => {
  const web = { response_mode: 'web_message' }
  const messageIn = async (response: Response) => {
    const html = await response.text()
    const { attributes } = tagsOf(html).find((tag) => tag.attributes.id === 'answer') ?? { attributes: {} }
    const data = attributes as Record<string, string>
    return {
      origin: data['data-origin'],
      ...JSON.parse((data['data-message'] ?? '{}').replaceAll('&quot;', '"')),
    }
  }

  test('security 10: names the one origin that may hear it and frame it', async () => {
    const response = await visit({ ...web, ...none })
    expect(policyOf(response)).toMatchObject({
      'frame-ancestors': 'https://rp.example.com',
      'script-src': "'self'",
      'form-action': "'self'",
    })
    const headers = ['x-frame-options', 'cross-origin-opener-policy', 'location']
    expect(headers.map((name) => response.headers.get(name))).toEqual([null, null, null])
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(await messageIn(response)).toEqual({
      origin: 'https://rp.example.com',
      type: 'authorization_response',
      response: { code: expect.any(String), state: 'a-state', iss: plan.issuer },
    })
  })

  test('says errors, and leaves out a state that there was not', async () => {
    const response = await visit({ ...web, ...none, state: null }, new Browser(provider))
    expect(await messageIn(response)).toMatchObject({
      response: { error: 'login_required', error_description: expect.any(String), iss: plan.issuer },
    })
    expect((await messageIn(await visit({ ...web, ...none, state: null }))).response).not.toHaveProperty(
      'state',
    )
  })

  test('security 10: an origin that is not among the webOrigins gets a page of ours, whatever else is wrong', async () => {
    for (const more of [none, { scope: 'profile' }, { response_type: 'token' }] as Record<string, string>[]) {
      const response = await visit({ ...web, ...more, redirect_uri: 'https://elsewhere.example.com/cb' })
      expect([response.status, response.headers.get('location')]).toEqual([400, null])
      expect(policyOf(response)['frame-ancestors']).toBe("'none'")
      const html = await response.text()
      expect(html).toContain('is not one of the webOrigins')
      expect(html).not.toContain('authorization_response')
      const id = response.headers.get('x-request-id')
      expect((await logOf(plan.tenant)).find(({ requestId }) => requestId === id)).toMatchObject({
        type: 'authorize.refused',
        detail: { given: 'https://elsewhere.example.com/cb', webOrigins: 'https://rp.example.com' },
      })
    }
  })

  test('security 10: nor does a native application, which has no origin', async () => {
    expect((await visit({ ...web, redirect_uri: CUSTOM }, undefined, native)).status).toBe(400)
  })

  test('security 10: a code is not told to an origin that the client gave up meanwhile', async () => {
    const { html, response } = await plan.authorize({ ...web, prompt: 'consent' }, { stopAt: 'consent' })
    expect(response.status).toBe(200)
    await updateClient(platformCtx(plan.tenant), plan.client.id, { webOrigins: [] })
    const path = /action="([^"]*\/consent)"/.exec(html)?.[1] ?? ''
    const allowed = await plan.browser.submit({ html, path }, { step: 'allow' })
    expect(allowed.response.status).toBe(400)
    expect(await allowed.response.text()).not.toContain('authorization_response')
    await updateClient(platformCtx(plan.tenant), plan.client.id, { webOrigins: ['https://rp.example.com'] })
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
  ])('security 10: of %s the message goes to %s', (uri, origin) => {
    expect(messageOriginOf({ webOrigins: ['https://rp.example.com', 'null', '*'] }, uri)).toBe(origin)
  })
})
