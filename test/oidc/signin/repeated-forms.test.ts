import { describe, expect } from 'vitest'
import { readSignInSegment } from '../../../src/oidc/interactions/sign-in-path.ts'
import { answerOnce } from '../../../src/pages/form-answers.ts'
import { updateSettings } from '../../../src/tenants/settings.ts'
import { createAssertion } from '../../support/authenticator.ts'
import type { SecretClient } from '../../support/calls.ts'
import { dbFor } from '../../support/database.ts'
import { openPage, type Page } from '../../support/hosted-pages.ts'
import { accountIn, csrfIn, type PageBrowser } from '../../support/page-browser.ts'
import { enrollPasskey, readPasskeyOptions } from '../../support/passkeys.ts'
import { answerIn, codeFor, makeClient } from '../../support/protocol.ts'
import { test as base } from '../../support/provider-sign-in.ts'
import { repeat, repeatForm } from '../../support/repeated-forms.ts'
import { equipOwner, type Landing, readSetupSecret, toLanding } from '../../support/second-factor.ts'
import { computeTotp } from '../../support/totp.ts'

type Form = Record<string, string>

/** The requests that end a sign-in. */
const LAST_REQUESTS = [
  'code',
  'passkey',
  'consent',
  'consent by form_post',
  'callback of a provider',
] as const

const test = base
  .extend('open', { scope: 'file', auto: true }, ({ ctx }) => updateSettings(ctx, { signUp: 'open' }))
  .extend('consenting', { scope: 'file' }, ({ newClient }) => newClient({ requireConsent: true }))
  .extend('strict', { scope: 'file' }, ({ newClient }) => newClient({ requireSecondFactor: true }))
  .extend('atCodeOf', ({ browser, start }) => async (address: string, more: Form = {}): Promise<Page> => {
    const first = await start(browser, more)
    return toLanding(await browser.submit(first, { step: 'email', address }))
  })
  .extend('afterCode', ({ browser, atCodeOf }) => async (address: string, more: Form = {}) => {
    const page = await atCodeOf(address, more)
    return toLanding(await browser.submit(page, { step: 'code', code: await codeFor(address) }))
  })
  /** The types of the events that `work` records. */
  .extend('listNew', ({ events }) => async (work: () => Promise<unknown>) => {
    const before = (await events()).length
    await work()
    return (await events()).slice(before).map(({ type }) => type)
  })
  /** Repeats a form; expects one outcome, and the events of one form. Returns what follows. */
  .extend(
    'expectOnce',
    ({ browser, listNew }) =>
      async (send: () => ReturnType<typeof repeat>, types: string[]) => {
        const sent: { value?: Awaited<ReturnType<typeof repeat>> } = {}
        expect(
          await listNew(async () => {
            sent.value = await send()
          }),
        ).toEqual(types)
        const { outcomes, last } = sent.value as Awaited<ReturnType<typeof repeat>>
        for (const outcome of outcomes) expect(outcome).toEqual(outcomes[0])
        expect(outcomes[0]?.status).toBeLessThan(400)
        return toLanding(await browser.follow(last))
      },
  )
  .extend(
    'expectFormOnce',
    ({ browser, expectOnce }) =>
      (page: Page, form: Form, types: string[], by: PageBrowser = browser) =>
        expectOnce(() => repeatForm(by, page, form), types),
  )

type LastRequest = { client: SecretClient; send: () => Promise<Landing> }

const returning = test
  /** Clients with a page that starts a sign-in; the second one asks for consent. */
  .extend('apps', { scope: 'file' }, ({ newClient }) => {
    const common = { name: 'Acme Mail', initiateLoginUrl: 'https://rp.example.com/start' }
    return Promise.all([newClient(common), newClient({ ...common, requireConsent: true })])
  })
  .extend(
    'postTo',
    ({ browser }) =>
      (client: SecretClient, page: Page, form: Form): LastRequest => ({
        client,
        send: async () => toLanding(await browser.submit(page, form)),
      }),
  )
  /** Each leads to the last request of a sign-in. */
  .extend(
    'leadTo',
    ({
      ctx,
      browser,
      person,
      subject,
      provider,
      link,
      apps: [plain, asking],
      start,
      choose,
      signInThere,
      atCodeOf,
      postTo,
    }) => {
      const enterCode = async (client: SecretClient, more: Form = {}) => {
        const page = await atCodeOf(person.email, { client_id: client.id, ...more })
        return postTo(client, page, { step: 'code', code: await codeFor(person.email) })
      }
      const consent = async (more: Form = {}) =>
        postTo(asking, await (await enterCode(asking, more)).send(), { step: 'allow' })
      return {
        code: () => enterCode(plain),
        passkey: async () => {
          const passkey = await enrollPasskey(ctx, person.id)
          const page = await start(browser, { client_id: plain.id })
          const assertion = createAssertion(passkey, readPasskeyOptions(page.html))
          return postTo(plain, page, { step: 'passkey', assertion })
        },
        consent,
        'consent by form_post': () => consent({ response_mode: 'form_post' }),
        'callback of a provider': async () => {
          await link(person.id, provider, subject)
          const page = await start(browser, { client_id: plain.id })
          const { pathname, search } = await signInThere(await choose(page, provider.id), subject)
          return { client: plain, send: async () => toLanding(await browser.open(`${pathname}${search}`)) }
        },
      } satisfies Record<(typeof LAST_REQUESTS)[number], () => Promise<LastRequest>>
    },
  )

const STARTED = ['session.started']

describe('a form of a sign-in that is sent several times', () => {
  test('sends one message to an address', async ({ person, inbox, start, expectFormOnce }) => {
    const page = await start()
    const next = await expectFormOnce(page, { step: 'email', address: person.email }, ['passcode.sent'])
    expect(next.path).toMatch(/\/code(\?again=1)?$/)
    expect(await inbox.list(person.email)).toHaveLength(1)
  })

  test('uses a code once, and leads to the client with one code', async ({
    person,
    atCodeOf,
    oidc,
    expectFormOnce,
  }) => {
    const page = await atCodeOf(person.email)
    const next = await expectFormOnce(page, { step: 'code', code: await codeFor(person.email) }, STARTED)
    expect((await oidc.exchange(answerIn(next.location).code ?? '')).status).toBe(200)
  })

  test('counts a wrong code once', async ({ person, atCodeOf, browser, expectFormOnce }) => {
    const page = await atCodeOf(person.email)
    const code = await codeFor(person.email)
    const wrong = code === '000000' ? '000001' : '000000'
    let current: Page = await expectFormOnce(page, { step: 'code', code: wrong }, [
      'passcode.failed',
      'signin.failed',
    ])
    for (const _ of [2, 3, 4]) {
      current = await toLanding(await browser.submit(current, { step: 'code', code: wrong }))
    }
    const done = await browser.submit(current, { step: 'code', code })
    expect(answerIn(done.location).code).toMatch(/./)
  })

  test('judges other values anew', async ({ person, browser, atCodeOf, events }) => {
    const page = await atCodeOf(person.email)
    const code = await codeFor(person.email)
    const before = (await events({ type: 'signin.failed' })).length
    for (const add of [1, 2]) {
      const wrong = String((Number(code) + add) % 1e6).padStart(6, '0')
      await browser.submit(page, { step: 'code', code: wrong })
    }
    expect((await events({ type: 'signin.failed' })).length - before).toBe(2)
  })

  test('creates one account', async ({ email, afterCode, expectFormOnce }) => {
    const page = await afterCode(email('stranger'))
    expect(page.path).toMatch(/\/create$/)
    const next = await expectFormOnce(page, { step: 'create', name: 'Ada' }, ['user.created', ...STARTED])
    expect(answerIn(next.location).code).toMatch(/./)
  })

  test('uses a code of an app once', async ({ ctx, person, afterCode, expectFormOnce }) => {
    const { totp } = await equipOwner(ctx, person)
    const page = await afterCode(person.email)
    const form = { step: 'totp', code: computeTotp(totp.secret) }
    const next = await expectFormOnce(page, form, STARTED)
    expect(answerIn(next.location).code).toMatch(/./)
  })

  test('uses one recovery code', async ({ ctx, person, browser, afterCode, expectFormOnce }) => {
    const { codes } = await equipOwner(ctx, person)
    const page = await openPage(
      browser,
      (await afterCode(person.email)).path.replace('second-factor', 'recovery'),
    )
    const form = { step: 'recovery', code: codes[0] ?? '' }
    const next = await expectFormOnce(page, form, expect.arrayContaining(STARTED))
    expect(answerIn(next.location).code).toMatch(/./)
  })

  test('sets up one app, shows the recovery codes, and forgets them once', async ({
    strict,
    person,
    afterCode,
    expectFormOnce,
  }) => {
    const page = await afterCode(person.email, { client_id: strict.id })
    const code = computeTotp(readSetupSecret(page.html))
    const shown = await expectFormOnce(page, { step: 'totp', code }, expect.arrayContaining(STARTED))
    expect(shown.path).toMatch(/\/recovery-codes$/)
    const next = await expectFormOnce(shown, { step: 'codes-saved' }, [])
    expect(answerIn(next.location).code).toMatch(/./)
  })

  test('gives one consent', async ({ consenting, person, afterCode, expectFormOnce }) => {
    const page = await afterCode(person.email, { client_id: consenting.id })
    const next = await expectFormOnce(page, { step: 'allow' }, ['consent.granted'])
    expect(answerIn(next.location).code).toMatch(/./)
  })

  test.for(['deny', 'cancel'])(
    'answers once: %s',
    async (step, { consenting, person, afterCode, expectFormOnce }) => {
      const page = await afterCode(person.email, { client_id: consenting.id })
      const next = await expectFormOnce(page, { step }, ['authorize.refused'])
      expect(answerIn(next.location)).toMatchObject({ error: 'access_denied' })
    },
  )

  test('agrees to the terms once', async ({ ctx, person, afterCode, expectFormOnce }) => {
    await updateSettings(ctx, { termsUrl: 'https://acme.example/terms', termsVersion: '2' })
    const page = await afterCode(person.email)
    const form = { step: 'agree', terms: 'on', 'terms-version': '2' }
    const next = await expectFormOnce(page, form, expect.anything())
    await updateSettings(ctx, { termsUrl: null, termsVersion: null })
    expect(answerIn(next.location).code).toMatch(/./)
  })

  test('continues as an account', async ({ person, browser, oidc, afterCode, expectFormOnce }) => {
    await afterCode(person.email)
    const page = await openPage(browser, oidc.authorizePath({ prompt: 'select_account' }))
    const next = await expectFormOnce(page, { step: 'continue', account: accountIn(page.html) }, [])
    expect(answerIn(next.location).code).toMatch(/./)
  })

  test('accepts a passkey once', async ({ ctx, person, start, expectFormOnce }) => {
    const passkey = await enrollPasskey(ctx, person.id)
    const page = await start()
    const assertion = createAssertion(passkey, readPasskeyOptions(page.html))
    const next = await expectFormOnce(page, { step: 'passkey', assertion }, STARTED)
    expect(answerIn(next.location).code).toMatch(/./)
  })

  test('accepts a passkey once where consent follows', async ({
    ctx,
    consenting,
    person,
    start,
    browser,
    expectFormOnce,
  }) => {
    const passkey = await enrollPasskey(ctx, person.id)
    const page = await start(browser, { client_id: consenting.id })
    const assertion = createAssertion(passkey, readPasskeyOptions(page.html))
    const next = await expectFormOnce(page, { step: 'passkey', assertion }, STARTED)
    expect(next.path).toMatch(/\/consent$/)
  })

  test('rejects a passkey once', async ({ ctx, person, start, expectFormOnce }) => {
    const passkey = await enrollPasskey(ctx, person.id)
    const page = await start()
    const assertion = createAssertion(passkey, {
      ...readPasskeyOptions(page.html),
      challenge: 'A'.repeat(43),
    })
    await expectFormOnce(page, { step: 'passkey', assertion }, ['signin.failed'])
  })

  test('leads to a provider once, and takes its answer once', async ({
    person,
    subject,
    provider,
    link,
    browser,
    start,
    signInThere,
    expectOnce,
    expectFormOnce,
  }) => {
    await link(person.id, provider, subject)
    const page = await start()
    const { response } = await expectFormOnce(page, { step: 'provider', idp: provider.id }, [])
    const request = new URL(
      (response.headers.get('refresh') ?? '').replace('0;url=', '').replaceAll('&amp;', '&'),
    )
    const { pathname, search } = await signInThere(request, subject)
    const next = await expectOnce(() => repeat(browser, () => browser.fetch(`${pathname}${search}`)), STARTED)
    expect(answerIn(next.location).code).toMatch(/./)
  })

  test('is not answered with the response to it in another browser', async ({
    person,
    browser,
    newBrowser,
    start,
    atCodeOf,
  }) => {
    const page = await atCodeOf(person.email)
    const form = { csrf: csrfIn(page.html), step: 'code', code: await codeFor(person.email) }
    const first = await browser.post(page.path, form)
    expect(first.headers.getSetCookie().join()).toContain('vst_sid_')
    const stranger = newBrowser()
    await start(stranger)
    for (const by of [newBrowser(), stranger]) {
      const answer = await by.post(page.path, form)
      expect(answer.status).toBe(410)
      expect(answer.headers.getSetCookie()).toEqual([])
    }
  })

  test('is not answered again after a logout', async ({
    person,
    newPerson,
    browser,
    afterCode,
    atCodeOf,
  }) => {
    const page = await atCodeOf(person.email)
    const form = { csrf: csrfIn(page.html), step: 'code', code: await codeFor(person.email) }
    const done = await browser.follow(await browser.post(page.path, form))
    expect(answerIn(done.location).code).toMatch(/./)
    browser.forgetSessions()
    for (const next of [null, await newPerson()]) {
      if (next) await afterCode(next.email)
      const before = [...browser.cookies]
      const answer = await browser.post(page.path, form)
      expect(answer.status).toBe(410)
      expect([...browser.cookies]).toEqual(before)
    }
  })

  test('is answered once although another form of the sign-in ends later', async ({
    ctx,
    person,
    browser,
    start,
  }) => {
    const passkey = await enrollPasskey(ctx, person.id)
    const page = await start()
    const assertion = createAssertion(passkey, readPasskeyOptions(page.html))
    const before = [...browser.cookies]
    const form = { csrf: csrfIn(page.html), step: 'passkey', assertion }
    const cookies = before.map((pair) => pair.join('=')).join('; ')
    const [name = ''] = browser.binding ?? []
    const { handle } = readSignInSegment(page.path.split('/')[3] ?? '')
    const other = {
      ctx: { ...ctx, requestId: 'other' },
      owner: ['signin', handle],
      fields: { step: 'email' },
      ...{ cookieNames: [name], cookies },
    }
    let first: Response | undefined
    await answerOnce(other, async () => {
      first = await browser.post(page.path, form)
      return new Response('late')
    })
    browser.cookies.clear()
    for (const [key, value] of before) browser.cookies.set(key, value)
    const second = await browser.post(page.path, form)
    expect(answerIn(first?.headers.get('location') ?? '').code).toMatch(/./)
    expect(second.headers.get('location')).toBe(first?.headers.get('location'))
  })

  test('is answered once where the response mode is form_post', async ({
    tenant,
    person,
    afterCode,
    expectFormOnce,
  }) => {
    const client = await makeClient(tenant, { requireConsent: true })
    const page = await afterCode(person.email, { client_id: client.id, response_mode: 'form_post' })
    const next = await expectFormOnce(page, { step: 'allow' }, ['consent.granted'])
    expect(next.html).toMatch(/name="code" value="[^"]+"/)
  })
})

describe('the last request of a sign-in that is sent again after its client has redeemed the code', () => {
  returning.for(LAST_REQUESTS)('leads to a page that says so: %s', async (name, { tenant, oidc, leadTo }) => {
    const { client, send } = await leadTo[name]()
    const first = await send()
    const code = answerIn(first.location).code ?? /name="code" value="([^"]+)"/.exec(first.html)?.[1] ?? ''
    const { body } = await oidc.exchange(code, {}, client)
    const repeated = await send()
    // Its response is not kept any longer.
    await dbFor(tenant).idempotencyKey.deleteMany({ where: { tenantId: tenant } })
    const late = await send()
    for (const { status, html } of [repeated, late])
      expect([status, html]).toEqual([410, expect.stringContaining('This sign-in is finished.')])
    expect(repeated.html).toContain(`/${tenant}/oidc/initiate?client_id=${client.id}`)
    expect((await oidc.userinfo(body.access_token ?? '')).status).toBe(200)
  })

  returning(
    'finds it behind text that looks like one',
    async ({ newClient, oidc, person, atCodeOf, postTo }) => {
      const redirect_uri = 'https://rp.example.com/cb?of=grant_00000000000000000000000000.x'
      const client = await newClient({ callbacks: [redirect_uri] })
      const page = await atCodeOf(person.email, { client_id: client.id, redirect_uri })
      const { send } = postTo(client, page, { step: 'code', code: await codeFor(person.email) })
      const code = answerIn((await send()).location).code ?? ''
      expect((await oidc.exchange(code, { redirect_uri }, client)).status).toBe(200)
      expect((await send()).status).toBe(410)
    },
  )
})
