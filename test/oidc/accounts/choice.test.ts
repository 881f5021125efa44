import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../../src/context/context.ts'
import { endSession, findBrowserSession } from '../../../src/sessions/sessions.ts'
import { updateUser } from '../../../src/users/users.ts'
import { test, toChoice } from '../../support/accounts.ts'
import { startSessionIn } from '../../support/browser-session.ts'
import { dbFor } from '../../support/database.ts'
import { accountIn } from '../../support/page-browser.ts'
import { answerIn } from '../../support/protocol.ts'
import { countWarmStatements } from '../../support/statements.ts'

describe('a browser with several accounts', () => {
  test('is asked which one to continue with, and keeps both', async ({
    pair,
    visit,
    post,
    subjectAt,
    listEnds,
  }) => {
    const { browser, ada, eve } = pair
    const page = await visit(browser)
    expect(page.path).toMatch(/\/select$/)
    for (const { email } of [ada, eve]) expect(page.html).toContain(email)
    const done = await post(browser, page, toChoice(page, ada))
    expect(await subjectAt(done.location)).toBe(ada.id)
    expect([await listEnds(ada), await listEnds(eve)]).toEqual([[null], [null]])
  })

  test('has the chosen account as the current one', async ({ tenant, pair, visit, post }) => {
    const { browser, ada } = pair
    const page = await visit(browser)
    await post(browser, page, toChoice(page, ada))
    const current = await findBrowserSession(tenant, browser.sessionToken ?? '')
    expect(current?.userId).toBe(ada.id)
  })

  test('is not asked when one of them is signed out elsewhere', async ({
    tenant,
    pair,
    visit,
    subjectAt,
  }) => {
    const { browser, ada, eve } = pair
    const { id } = await dbFor(tenant).session.findFirstOrThrow({
      where: { tenantId: tenant, userId: eve.id },
    })
    await endSession(createPlatformCtx(tenant), id, 'revoked')
    expect(await subjectAt((await visit(browser)).location)).toBe(ada.id)
    const page = await visit(browser, { prompt: 'select_account' })
    expect(page.html).toContain('Signed out')
    expect(page.html).toContain(eve.email)
  })

  test('lets the user of a signed-out account sign in again with its address', async ({
    tenant,
    pair,
    visit,
    post,
  }) => {
    const { browser, eve } = pair
    const { id } = await dbFor(tenant).session.findFirstOrThrow({
      where: { tenantId: tenant, userId: eve.id },
    })
    await endSession(createPlatformCtx(tenant), id, 'revoked')
    const page = await visit(browser, { prompt: 'select_account' })
    const next = await post(browser, page, toChoice(page, eve))
    expect(next.html).toContain(`value="${eve.email}"`)
    const back = await post(browser, next, { step: 'choose' })
    expect(back.path).toMatch(/\/select$/)
  })

  test('asks for an address when the signed-out account has only a number without its country code', async ({
    tenant,
    pair,
    visit,
    post,
  }) => {
    const { browser, eve } = pair
    const phoneNumber = '079 123 49 91'
    await updateUser(createPlatformCtx(tenant), eve.id, { email: null, phoneNumber })
    const { id } = await dbFor(tenant).session.findFirstOrThrow({
      where: { tenantId: tenant, userId: eve.id },
    })
    await endSession(createPlatformCtx(tenant), id, 'revoked')
    const page = await visit(browser, { prompt: 'select_account' })
    const next = await post(browser, page, { step: 'continue', account: accountIn(page.html, phoneNumber) })
    expect(next.html).toContain('name="address"')
    expect(next.html).not.toContain(phoneNumber)
  })

  test('asks for an address when another account is chosen, and leads back', async ({
    pair,
    visit,
    post,
    subjectAt,
  }) => {
    const { browser, ada, eve } = pair
    const page = await visit(browser)
    const entry = await post(browser, page, { step: 'switch' })
    expect(entry.html).toContain('name="address"')
    for (const { email } of [ada, eve]) expect(entry.html).not.toContain(email)
    const back = await post(browser, entry, { step: 'choose' })
    expect(await subjectAt((await post(browser, back, toChoice(back, eve))).location)).toBe(eve.id)
  })

  test('asks the chosen user to sign in again with prompt=login select_account and with max_age', async ({
    pair,
    visit,
    post,
  }) => {
    const { browser, ada } = pair
    for (const [name, value] of [
      ['prompt', 'login select_account'],
      ['max_age', '0'],
    ] as const) {
      const page = await visit(browser, { [name]: value })
      const next = await post(browser, page, toChoice(page, ada))
      expect(next.html).toContain(`value="${ada.email}"`)
    }
  })

  test('keeps six accounts, and ends the session that was not used for longest', async ({
    openAccounts,
    listEnds,
    visit,
  }) => {
    const { browser, people } = await openAccounts(7)
    expect(await Promise.all(people.map(listEnds))).toEqual([
      ['logout'],
      ...Array.from({ length: 6 }, () => [null]),
    ])
    const page = await visit(browser)
    expect(people.map(({ email }) => page.html.includes(email))).toEqual([false, ...Array(6).fill(true)])
    const header = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    // With the cookies of the last eight interactions.
    expect(header.length).toBeLessThan(2400)
  })

  test('keeps the session of a browser that an earlier version signed in', async ({
    tenant,
    newBrowser,
    newPerson,
    oidc,
    visit,
  }) => {
    const [browser, former, other] = [newBrowser(), await newPerson(), await newPerson()]
    await startSessionIn(browser, tenant, former.id)
    await oidc.signIn(browser, other.email, { prompt: 'login' })
    const page = await visit(browser)
    for (const { email } of [former, other]) expect(page.html).toContain(email)
  })
})

describe('the account of a request', () => {
  test('is chosen by login_hint, id_token_hint and the sub claim, without a page', async ({
    pair,
    visit,
    oidc,
    subjectAt,
  }) => {
    const { browser, ada, eve } = pair
    for (const { id, email } of [ada, eve]) {
      const { location } = await visit(browser, { login_hint: email })
      const { body } = await oidc.exchange(answerIn(location).code ?? '')
      const claims = JSON.stringify({ id_token: { sub: { value: id } } })
      for (const hint of [
        { id_token_hint: body.id_token ?? '' },
        { claims },
        { login_hint: email },
      ] as Record<string, string>[])
        for (const more of [{}, { prompt: 'none' }] as Record<string, string>[])
          expect(await subjectAt((await visit(browser, { ...hint, ...more })).location)).toBe(id)
    }
  })

  test('is not chosen with prompt=none when nothing names it', async ({ openAccounts, newClient, oidc }) => {
    const { browser } = await openAccounts(2)
    const stranger = await newClient()
    const { location } = await browser.open(oidc.authorizePath({ prompt: 'none' }, stranger))
    expect(answerIn(location)).toMatchObject({ error: 'account_selection_required', state: 'a-state' })
  })

  test('is the only one at which the client has a grant, with prompt=none', async ({
    pair,
    newClient,
    oidc,
  }) => {
    const { browser, ada } = pair
    const client = await newClient()
    const answer = await browser.open(oidc.authorizePath({ login_hint: ada.email }, client))
    await oidc.exchange(answerIn(answer.location).code ?? '', {}, client)
    const { location } = await browser.open(oidc.authorizePath({ prompt: 'none' }, client))
    expect(answerIn(location)).toHaveProperty('code')
  })

  test('requires a sign-in when login_hint names none of the browser', async ({ pair, newPerson, visit }) => {
    const { email } = await newPerson()
    expect((await visit(pair.browser, { login_hint: email })).html).toContain(`value="${email}"`)
    const { location } = await visit(pair.browser, { login_hint: email, prompt: 'none' })
    expect(answerIn(location)).toMatchObject({ error: 'login_required' })
  })

  test('costs one statement, however many accounts the browser has', async ({ openAccounts, oidc }) => {
    const counts = []
    for (const count of [1, 3]) {
      const { browser, people } = await openAccounts(count)
      const path = oidc.authorizePath({ prompt: 'none', login_hint: people[0]?.email ?? '' })
      const { cookies } = browser
      expect(cookies.size).toBeGreaterThan(count)
      counts.push(
        await countWarmStatements(
          () => browser.fetch(path),
          () => browser.fetch(path),
        ),
      )
    }
    expect(counts[1]).toBe(counts[0])
  })
})
