import { describe, expect } from 'vitest'
import { consumeLimit, RATE_LIMITS } from '../../../../src/coordination/rate-limits.ts'
import { test as base } from '../../../support/provider-sign-in.ts'
import { hasServices } from '../../../support/services.ts'

const REJECTED = 'did not work. Try again, or choose another way.'
const UNAVAILABLE = 'does not respond. Try again later, or choose another way.'

const test = base
  .extend(
    'findLastFailure',
    ({ events }) =>
      async () =>
        (await events({ type: 'signin.failed' })).at(-1),
  )
  /** Signs `person` in with an ID token whose claims are changed by `change`. */
  .extend(
    'signInWith',
    ({ browser, person, subject, provider, link, start, choose, signInThere, comeBack }) =>
      async (change: (claims: Record<string, unknown>) => Record<string, unknown>, more: object = {}) => {
        await link(person.id, provider, subject)
        const { upstream } = provider
        const request = await choose(await start(browser, more), provider.id)
        const callback = await signInThere(request, subject)
        const now = Math.floor(Date.now() / 1000)
        const claims = { iss: upstream.issuer, aud: 'vestibule', sub: subject, iat: now, exp: now + 300 }
        const nonce = request.searchParams.get('nonce')
        const id_token = await upstream.sign(change({ ...claims, email: 'ada@upstream.example', nonce }))
        upstream.before.set('/token', (_request, response) => {
          response
            .writeHead(200, { 'content-type': 'application/json' })
            .end(JSON.stringify({ access_token: 'x', token_type: 'bearer', id_token }))
          return true
        })
        return comeBack(callback)
      },
  )

const now = () => Math.floor(Date.now() / 1000)

describe.runIf(hasServices)('a sign-in at an identity provider that fails', () => {
  const answers = {
    canceled: [
      { error: 'access_denied' },
      'You canceled the sign-in with Upstream',
      { reason: 'canceled', error: 'access_denied' },
    ],
    refused: [
      { error: 'server_error', error_description: 'secret words' },
      REJECTED,
      { reason: 'refused', error: 'server_error' },
    ],
    'without code or error': [{}, REJECTED, { reason: 'rejected' }],
    'with an error that is not a code': [
      { error: '<script>' },
      REJECTED,
      { reason: 'refused', error: 'invalid_error' },
    ],
  } as const
  test.for(Object.entries(answers))(
    '%s leads back to the first page with words',
    async ([, [params, words, detail]], { client, provider, start, choose, comeBack, findLastFailure }) => {
      const request = await choose(await start(), provider.id)
      const callback = new URL(provider.callback)
      const state = request.searchParams.get('state') ?? ''
      callback.search = String(new URLSearchParams({ ...params, state, iss: provider.upstream.issuer }))
      const page = await comeBack(callback)
      expect(page.response.status).toBe(200)
      expect(page.html).toContain(words)
      expect(page.html).toContain('id="address"')
      expect(page.html).not.toContain('secret words')
      expect(await findLastFailure()).toMatchObject({
        userId: null,
        subjectIds: [client.id, provider.id],
        detail: { method: 'provider', ...detail },
      })
    },
  )

  test('without state leads back to the first page, and leaves the attempt open', async ({
    person,
    subject,
    provider,
    newBrowser,
    link,
    start,
    choose,
    signInThere,
    comeBack,
    findLastFailure,
  }) => {
    await link(person.id, provider, subject)
    const callback = await signInThere(await choose(await start(), provider.id), subject)
    const canceled = new URL(`${provider.callback}?error=access_denied`)
    const page = await comeBack(canceled)
    expect(page.path).toMatch(/\/signin\/[\w-]+$/)
    expect(page.html).toContain('You canceled the sign-in with Upstream')
    expect(page.html).toContain('id="address"')
    expect(await findLastFailure()).toMatchObject({ detail: { reason: 'canceled', error: 'access_denied' } })
    expect((await comeBack(canceled, newBrowser())).response.status).toBe(410)
    expect((await comeBack(new URL(`${provider.callback}?code=x`))).response.status).toBe(410)
    expect((await comeBack(callback)).location).toContain('code=')
  })

  test('for a person without a link says so, and names no account', async ({
    provider,
    signInBy,
    findLastFailure,
  }) => {
    const { html } = await signInBy(provider.id, 'nobody')
    expect(html).toContain('is not connected to an account here.')
    expect(await findLastFailure()).toMatchObject({ detail: { reason: 'unknown' } })
  })

  const tokens = {
    'another nonce': (claims: object) => ({ ...claims, nonce: 'x' }),
    'another issuer': (claims: object) => ({ ...claims, iss: 'https://evil.example' }),
    'another audience': (claims: object) => ({ ...claims, aud: 'another' }),
    'an expiry in the past': (claims: object) => ({ ...claims, exp: now() - 60 }),
    'no subject': ({ sub: _, ...claims }: Record<string, unknown>) => claims,
  }
  test.for(Object.entries(tokens))(
    'is rejected for an ID token with %s',
    async ([, change], { signInWith, findLastFailure }) => {
      expect((await signInWith(change)).html).toContain(REJECTED)
      expect(await findLastFailure()).toMatchObject({ detail: { reason: 'rejected' } })
    },
  )

  test.for([
    ['ahead by 20 s', 20],
    ['behind by 20 s', -20],
  ])('is accepted from a provider whose clock is %s', async ([, skew], { signInWith }) => {
    const { location } = await signInWith((claims) => ({
      ...claims,
      iat: now() + Number(skew),
      nbf: now() + Number(skew),
      exp: now() + Number(skew) + 10,
    }))
    expect(location).toContain('code=')
  })

  test.for([
    ['an hour ago', 3600, REJECTED],
    ['10 s ago, by a clock that differs', 10, null],
  ] as const)(
    'with prompt=login and a sign-in there %s is judged by auth_time',
    async ([, age, words], { signInWith }) => {
      const change = (claims: object) => ({ ...claims, auth_time: now() - age })
      const { html, location } = await signInWith(change, { prompt: 'login' })
      if (words) expect(html).toContain(words)
      else expect(location).toContain('code=')
    },
  )

  test('shows the other ways within 3 s when the provider is slow or down', async ({
    person,
    subject,
    newProvider,
    link,
    start,
    choose,
    signInThere,
    comeBack,
    findLastFailure,
  }) => {
    const slow = await newProvider()
    await link(person.id, slow, subject)
    const page = await start()
    const callback = await signInThere(await choose(page, slow.id), subject)
    slow.upstream.before.set('/token', () => new Promise(() => {}))
    const begin = performance.now()
    const { html } = await comeBack(callback)
    expect(performance.now() - begin).toBeLessThan(8000)
    expect(html).toContain(UNAVAILABLE)
    expect(html).toContain('id="address"')
    expect(await findLastFailure()).toMatchObject({ detail: { reason: 'unavailable' } })
    const again = await signInThere(await choose(page, slow.id), subject)
    slow.upstream.close()
    expect((await comeBack(again)).html).toContain(UNAVAILABLE)
  })

  test('shows the other ways when the provider cannot be found', async ({ browser, newProvider, start }) => {
    const absent = await newProvider({ issuer: 'http://127.0.0.1:9' })
    const { response } = await browser.submit(await start(), { step: 'provider', idp: absent.id })
    expect(await response.text()).toContain(UNAVAILABLE)
  })

  test('is limited for a network, and the page says when to try again', async ({
    tenant,
    provider,
    signInBy,
  }) => {
    await Promise.all(
      Array.from({ length: RATE_LIMITS.rejectIdentity.points }, () =>
        consumeLimit('rejectIdentity', tenant, '127.0.0.1').catch(() => {}),
      ),
    )
    expect((await signInBy(provider.id, 'nobody')).html).toContain('Too many attempts. Try again in')
  })
})
