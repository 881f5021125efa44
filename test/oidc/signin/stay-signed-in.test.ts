import { describe, expect } from 'vitest'
import { findBrowserSession } from '../../../src/sessions/sessions.ts'
import { updateSettings } from '../../../src/tenants/settings.ts'
import { test as base } from '../../support/accounts.ts'
import { dbFor } from '../../support/database.ts'
import { csrfIn } from '../../support/page-browser.ts'
import { answerIn, codeFor } from '../../support/protocol.ts'

const HOUR = 3600

/** With a sign-in of a new user whose Set-Cookie values are returned. */
const test = base
  .extend(
    'set',
    { scope: 'file' },
    ({ ctx }) =>
      (settings: object) =>
        updateSettings(ctx, settings),
  )
  .extend(
    'enterAs',
    { scope: 'file' },
    ({ newBrowser, newPerson, visit, post }) =>
      async (form: Record<string, string> = {}) => {
        const browser = newBrowser()
        const person = await newPerson()
        const start = await visit(browser)
        const page = await post(browser, start, { step: 'email', address: person.email, ...form })
        const code = await codeFor(person.email)
        const { headers } = await browser.post(page.path, { csrf: csrfIn(page.html), step: 'code', code })
        const cookies = headers.getSetCookie().filter((line) => /^vst_(sid|acc)/.test(line))
        return {
          browser,
          person,
          start,
          ages: cookies.map((line) => /Max-Age=(\d+)/.exec(line)?.[1] ?? null),
        }
      },
  )
  .extend(
    'readSession',
    { scope: 'file' },
    ({ tenant }) =>
      (userId: string) =>
        dbFor(tenant).session.findFirstOrThrow({ where: { tenantId: tenant, userId, kind: 'browser' } }),
  )

describe('the setting staySignedIn', () => {
  test('keeps the cookies as long as the session by default', async ({ enterAs }) => {
    expect((await enterAs()).ages).toEqual(['2592000', '2592000'])
  })

  test('keeps them until the browser is closed when it is off', async ({ set, enterAs }) => {
    await set({ staySignedIn: 'off' })
    const { ages, start } = await enterAs({ stay: '1' })
    expect(ages).toEqual([null, null])
    expect(start.html).not.toContain('name="stay"')
  })

  test('asks the user, who ticks the box or not', async ({ set, enterAs }) => {
    await set({ staySignedIn: 'ask', sessionLifetimeSeconds: 100_000 })
    const { start, ages } = await enterAs()
    expect(start.html).toContain('Stay signed in')
    expect(ages).toEqual([null, null])
    expect((await enterAs({ stay: '1' })).ages).toEqual(['100000', '100000'])
  })

  test('keeps the choice of the first form through the other steps of a sign-in', async ({
    set,
    newBrowser,
    newPerson,
    visit,
    post,
  }) => {
    await set({ staySignedIn: 'ask' })
    const [browser, { email }] = [newBrowser(), await newPerson()]
    const page = await post(browser, await visit(browser), { step: 'email', address: email, stay: '1' })
    const again = await post(browser, page, { step: 'code', code: '000000' })
    const { headers } = await browser.post(again.path, {
      csrf: csrfIn(again.html),
      step: 'code',
      code: await codeFor(email),
    })
    expect(headers.getSetCookie().some((line) => /^vst_sid.*Max-Age/.test(line))).toBe(true)
  })

  test('does not change the cookie of an account that is chosen', async ({
    set,
    openAccounts,
    visit,
    post,
  }) => {
    await set({ staySignedIn: 'off' })
    const { browser } = await openAccounts(2)
    const page = await visit(browser)
    const account = /name="account" value="([^"]+)"/.exec(page.html)?.[1] ?? ''
    const { headers } = await browser.post(page.path, { csrf: csrfIn(page.html), step: 'continue', account })
    expect(headers.getSetCookie().filter((line) => line.startsWith('vst_acc'))).toEqual([])
    await post(browser, page, { step: 'continue', account })
    await set({ staySignedIn: null, sessionLifetimeSeconds: null })
  })
})

describe('the lifetimes of a session', () => {
  test('are those of the tenant, from the sign-in and from each use', async ({
    tenant,
    set,
    enterAs,
    readSession,
  }) => {
    await set({ sessionIdleSeconds: 2 * HOUR, sessionLifetimeSeconds: 3 * HOUR })
    const { browser, person } = await enterAs()
    const token = browser.sessionToken ?? ''
    const { authenticatedAt } = await readSession(person.id)
    const start = authenticatedAt?.getTime() ?? 0
    const hence = (hours: number) => new Date(start + hours * HOUR * 1000)
    expect((await readSession(person.id)).expiresAt).toEqual(hence(2))
    expect(await findBrowserSession(tenant, token, hence(1.5))).not.toBeNull()
    expect((await readSession(person.id)).expiresAt).toEqual(hence(3))
    expect(await findBrowserSession(tenant, token, hence(3.01))).toBeNull()
  })

  test('apply to running sessions at the next use', async ({ tenant, set, enterAs }) => {
    await set({ sessionIdleSeconds: null, sessionLifetimeSeconds: null })
    const { browser } = await enterAs()
    const token = browser.sessionToken ?? ''
    await set({ sessionIdleSeconds: 300, sessionLifetimeSeconds: 300 })
    const hence = (seconds: number) => new Date(Date.now() + seconds * 1000)
    expect(await findBrowserSession(tenant, token, hence(100))).not.toBeNull()
    expect(await findBrowserSession(tenant, token, hence(400))).toBeNull()
    await set({ sessionIdleSeconds: null, sessionLifetimeSeconds: null })
  })

  test('are rejected when the idle one is the longer one', async ({ set }) => {
    for (const settings of [
      { sessionIdleSeconds: 3600, sessionLifetimeSeconds: 600 },
      { sessionLifetimeSeconds: 600 },
    ])
      await expect(set(settings)).rejects.toMatchObject({ fields: [{ field: 'sessionIdleSeconds' }] })
  })
})

describe('defaultMaxAge of a client', () => {
  test('demands a new sign-in for requests without max_age', async ({
    tenant,
    enterAs,
    newClient,
    oidc,
    readSession,
  }) => {
    const { browser, person } = await enterAs()
    const { id } = await readSession(person.id)
    const strict = await newClient({ defaultMaxAge: 600 })
    const past = new Date(Date.now() - HOUR * 1000)
    await dbFor(tenant).session.update({
      where: { tenantId_id: { tenantId: tenant, id } },
      data: {
        authenticatedAt: past,
        proofs: [{ method: 'passcode', amr: ['otp'], at: past.toISOString() }],
      },
    })
    const ask = async (more: object, by?: typeof strict) =>
      answerIn((await browser.open(oidc.authorizePath({ prompt: 'none', ...more }, by))).location)
    expect(await ask({}, strict)).toMatchObject({ error: 'login_required' })
    expect(await ask({ max_age: '7200' }, strict)).toHaveProperty('code')
    expect(await ask({})).toHaveProperty('code')
  })
})
