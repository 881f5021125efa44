import { describe, expect } from 'vitest'
import { unlinkIdpUser } from '../../../../src/idps/idp-links.ts'
import { updateIdentityProvider } from '../../../../src/idps/idps.ts'
import { updateSettings } from '../../../../src/tenants/settings.ts'
import { dbFor } from '../../../support/database.ts'
import { GONE, openPage } from '../../../support/hosted-pages.ts'
import { answerIn } from '../../../support/protocol.ts'
import { test as base } from '../../../support/provider-sign-in.ts'

const REJECTED = 'did not work. Try again, or choose another way.'

const test = base
  /** The callback of a sign-in of a linked user. */
  .extend('callbackOf', ({ person, subject, provider, link, start, choose, signInThere }) => async () => {
    await link(person.id, provider, subject)
    return signInThere(await choose(await start(), provider.id), subject)
  })
  .extend(
    'findLastFailure',
    ({ events }) =>
      async () =>
        (await events({ type: 'signin.failed' })).at(-1),
  )
  .extend(
    'countSessions',
    ({ tenant, person }) =>
      () =>
        dbFor(tenant).session.count({ where: { tenantId: tenant, userId: person.id } }),
  )

describe('the answer of an identity provider', () => {
  test('is accepted once, also of 20 at a time', async ({ browser, callbackOf, countSessions }) => {
    const { pathname, search } = await callbackOf()
    const path = `${pathname}${search}`
    const answers = await Promise.all(Array.from({ length: 20 }, () => browser.fetch(path)))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 303))
    // Each gets the response of the first: a browser drops all but one.
    const tokens = answers.map(
      ({ headers }) => /vst_sid_[\w-]+=([\w-]+)/.exec(headers.get('set-cookie') ?? '')?.[1],
    )
    expect([...new Set(tokens)]).toEqual([browser.sessionToken])
    expect(await countSessions()).toBe(1)
  })

  test('leads where it led before when it is opened again, and does nothing', async ({
    callbackOf,
    comeBack,
    countSessions,
  }) => {
    const callback = await callbackOf()
    const { location } = await comeBack(callback)
    expect(answerIn(location).code).toMatch(/./)
    expect((await comeBack(callback)).location).toBe(location)
    expect(await countSessions()).toBe(1)
  })

  test('is of no use in another browser, with or without a sign-in of its own', async ({
    provider,
    newBrowser,
    callbackOf,
    start,
    choose,
    comeBack,
    countSessions,
  }) => {
    const callback = await callbackOf()
    const stranger = newBrowser()
    for (const prepare of [
      async () => {},
      async () => choose(await start(stranger), provider.id, stranger),
    ]) {
      await prepare()
      const page = await comeBack(callback, stranger)
      expect(page.response.status).toBe(410)
      expect(page.html).toContain(GONE)
    }
    expect(await countSessions()).toBe(0)
    // The browser that began it can still use it.
    expect(answerIn((await comeBack(callback)).location).code).toMatch(/./)
  })

  test('of an attacker cannot be put into the sign-in of a victim', async ({
    provider,
    browser,
    newBrowser,
    callbackOf,
    start,
    choose,
    comeBack,
    countSessions,
  }) => {
    const stolen = await callbackOf()
    const victim = newBrowser()
    const request = await choose(await start(victim), provider.id, victim)
    const forged = new URL(stolen)
    forged.searchParams.set('state', request.searchParams.get('state') ?? '')
    const { html } = await comeBack(forged, victim)
    // The code is bound to the verifier of the attacker's browser.
    expect(html).toContain(REJECTED)
    expect(await countSessions()).toBe(0)
    expect(browser.sessionToken).toBeUndefined()
  })

  test.for([
    ['of another provider', 'B'],
    ['of the same provider, sent on by another', 'A'],
  ])(
    '%s is rejected at the callback of a provider',
    async ([, from], {
      person,
      subject,
      provider,
      providerB,
      link,
      start,
      choose,
      signInThere,
      comeBack,
      findLastFailure,
      countSessions,
    }) => {
      await link(person.id, provider, subject)
      await link(person.id, providerB, subject)
      const [begun, other] = from === 'A' ? [provider, providerB] : [providerB, provider]
      const callback = await signInThere(await choose(await start(), begun.id), subject)
      callback.pathname = new URL(other.callback).pathname
      const { html } = await comeBack(callback)
      expect(html).toContain(REJECTED)
      expect(await findLastFailure()).toMatchObject({ detail: { method: 'provider', reason: 'rejected' } })
      expect(await countSessions()).toBe(0)
    },
  )

  test('is rejected with the issuer of another provider, or without the issuer that it announces', async ({
    providerB,
    callbackOf,
    comeBack,
  }) => {
    const foreign = await callbackOf()
    foreign.searchParams.set('iss', providerB.upstream.issuer)
    expect((await comeBack(foreign)).html).toContain(REJECTED)
    const silent = await callbackOf()
    silent.searchParams.delete('iss')
    expect((await comeBack(silent)).html).toContain(REJECTED)
  })

  test.for([
    ['another', 'x'],
    ['no', ''],
    ['a repeated', null],
  ])(
    'with %s state is answered with a page, and leaves the sign-in open',
    async ([, state], { callbackOf, comeBack }) => {
      const callback = await callbackOf()
      const changed = new URL(callback)
      if (state === null) changed.searchParams.append('state', 'x')
      else changed.searchParams.set('state', state as string)
      const { response, html } = await comeBack(changed)
      expect([400, 410]).toContain(response.status)
      expect(html).toContain('</html>')
      expect(answerIn((await comeBack(callback)).location).code).toMatch(/./)
    },
  )

  test('with a changed MAC in its state leads to the first page, and leaves the sign-in open', async ({
    callbackOf,
    comeBack,
    countSessions,
  }) => {
    const callback = await callbackOf()
    const changed = new URL(callback)
    const [handle] = (callback.searchParams.get('state') ?? '').split('.')
    changed.searchParams.set('state', `${handle}.${'A'.repeat(43)}`)
    expect((await comeBack(changed)).path).toMatch(/\/signin\/[\w-]+$/)
    expect(await countSessions()).toBe(0)
    expect(answerIn((await comeBack(callback)).location).code).toMatch(/./)
  })

  test('to an earlier attempt is not accepted', async ({
    browser,
    person,
    subject,
    provider,
    link,
    start,
    choose,
    signInThere,
    comeBack,
    countSessions,
  }) => {
    await link(person.id, provider, subject)
    const page = await start()
    const first = await signInThere(await choose(page, provider.id), subject)
    await choose(await openPage(browser, page.path), provider.id)
    expect((await comeBack(first)).path).toMatch(/\/signin\/[\w-]+$/)
    expect(await countSessions()).toBe(0)
  })

  test('is not accepted after the tenant switched the method off', async ({
    ctx,
    callbackOf,
    comeBack,
    countSessions,
  }) => {
    const callback = await callbackOf()
    await updateSettings(ctx, { signInMethods: ['passcode'] })
    expect((await comeBack(callback)).path).toMatch(/\/signin\/[\w-]+$/)
    expect(await countSessions()).toBe(0)
    await updateSettings(ctx, { signInMethods: null })
  })

  test('starts no session after the link was removed', async ({
    ctx,
    person,
    provider,
    callbackOf,
    comeBack,
    findLastFailure,
  }) => {
    const callback = await callbackOf()
    await unlinkIdpUser(ctx, person.id, provider.id)
    expect((await comeBack(callback)).html).toContain('is not connected to an account here.')
    expect(await findLastFailure()).toMatchObject({ userId: null, detail: { reason: 'unknown' } })
  })

  test('starts no session when the provider was changed while it was verified', async ({
    ctx,
    provider,
    callbackOf,
    comeBack,
    countSessions,
  }) => {
    const callback = await callbackOf()
    provider.upstream.before.set('/token', async () => {
      await updateIdentityProvider(ctx, provider.id, { scopes: 'openid email' })
      return false
    })
    await comeBack(callback)
    expect(await countSessions()).toBe(0)
    await updateIdentityProvider(ctx, provider.id, { scopes: null })
  })

  test.for(['POST', 'GET'])(
    'by %s with arguments of any kind is never a 5xx',
    async (method, { provider, browser }) => {
      const path = new URL(provider.callback).pathname
      const forms = [
        {},
        { answer: 'x' },
        { answer: 'a.b.c.d' },
        { code: 'x'.repeat(30_000) },
        { state: '%00', error: '\u0000' },
      ]
      for (const form of forms) {
        const query = new URLSearchParams(form as Record<string, string>)
        const response =
          method === 'POST'
            ? await browser.post(path, form as never)
            : await browser.fetch(`${path}?${query}`.slice(0, 8000))
        expect(response.status).toBeLessThan(500)
      }
    },
  )
})
