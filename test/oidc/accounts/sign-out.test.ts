import { describe, expect } from 'vitest'
import { test } from '../../support/accounts.ts'
import { accountIn, csrfIn } from '../../support/page-browser.ts'
import { answerIn } from '../../support/protocol.ts'

describe('a logout in a browser with several accounts', () => {
  test('asks which account, and ends that one', async ({
    tenant,
    pair,
    listEnds,
    post,
    visit,
    subjectAt,
  }) => {
    const { browser, ada, eve } = pair
    const { response } = await browser.open(`/${tenant}/oidc/logout`)
    const page = { html: await response.text(), path: `/${tenant}/oidc/logout`, location: null }
    expect(page.html).toContain('Sign out of which account?')
    const done = await post(browser, page, { step: 'logout', account: accountIn(page.html, eve.email) })
    expect(done.html).toContain('other accounts in this browser are still signed in')
    expect([await listEnds(ada), await listEnds(eve)]).toEqual([[null], ['logout']])
    expect(await subjectAt((await visit(browser)).location)).toBe(ada.id)
  })

  test('answers once to a form that is sent twice', async ({ tenant, pair, listEnds }) => {
    const { browser, ada, eve } = pair
    const path = `/${tenant}/oidc/logout`
    const html = await (await browser.fetch(path)).text()
    const form = { csrf: csrfIn(html), step: 'logout', account: accountIn(html, eve.email) }
    const before = [...browser.cookies]
    const first = await browser.post(path, form)
    // The browser has dropped the first response.
    for (const [name, value] of before) browser.cookies.set(name, value)
    const second = await browser.post(path, form)
    expect([second.status, await second.text()]).toEqual([200, await first.text()])
    expect(second.headers.getSetCookie()).toEqual(first.headers.getSetCookie())
    expect([await listEnds(ada), await listEnds(eve)]).toEqual([[null], ['logout']])
  })

  test.for(['choice', 'question about one account'])(
    'leads on when the user goes back and sends the same form again: %s',
    async (kind, { tenant, pair, listEnds }) => {
      const { browser, ada, eve } = pair
      const hint = kind === 'choice' ? '' : `?${new URLSearchParams({ logout_hint: eve.email })}`
      const path = `/${tenant}/oidc/logout`
      const account = accountIn(await (await browser.fetch(path)).text(), eve.email)
      const html = await (await browser.fetch(`${path}${hint}`)).text()
      const form = { csrf: csrfIn(html), step: 'logout', account }
      const [first, again] = [await browser.post(path, form), await browser.post(path, form)]
      expect([again.status, await again.text()]).toEqual([200, await first.text()])
      expect([await listEnds(ada), await listEnds(eve)]).toEqual([[null], ['logout']])
      expect((await browser.post(path, { ...form, account: 'session_other' })).status).toBe(403)
    },
  )

  test('leads on from a page that is older than the sign-out of another account', async ({
    tenant,
    openAccounts,
    listEnds,
  }) => {
    const { browser, people } = await openAccounts(3)
    const path = `/${tenant}/oidc/logout`
    const html = await (await browser.fetch(path)).text()
    const csrf = csrfIn(html)
    for (const [index, person] of people.entries()) {
      const account = accountIn(html, person.email)
      const answer = await browser.post(path, { csrf, step: 'logout', account })
      expect(answer.status).toBe(200)
      const text = await answer.text()
      expect(text.includes('other accounts in this browser are still signed in')).toBe(index < 2)
      expect(await listEnds(person)).toEqual(['logout'])
      // Again, as by another tab.
      expect((await browser.post(path, { csrf, step: 'logout', account })).status).toBe(200)
    }
  })

  test('ends those that the page had, and keeps one that has signed in since', async ({
    tenant,
    pair,
    newPerson,
    oidc,
    listEnds,
  }) => {
    const { browser, ada, eve } = pair
    const path = `/${tenant}/oidc/logout`
    const csrf = csrfIn(await (await browser.fetch(path)).text())
    const later = await newPerson()
    await oidc.signIn(browser, later.email, { prompt: 'login' })
    const answer = await browser.post(path, { csrf, step: 'logout', account: 'all' })
    expect(await answer.text()).toContain('other accounts in this browser are still signed in')
    expect([await listEnds(ada), await listEnds(eve), await listEnds(later)]).toEqual([
      ['logout'],
      ['logout'],
      [null],
    ])
  })

  test('ends all of them, and leaves no cookie of an account', async ({ tenant, pair, listEnds, post }) => {
    const { browser, ada, eve } = pair
    const { response } = await browser.open(`/${tenant}/oidc/logout`)
    const page = { html: await response.text(), path: `/${tenant}/oidc/logout`, location: null }
    const done = await post(browser, page, { step: 'logout', account: 'all' })
    expect(done.html).toContain('You are signed out')
    expect([await listEnds(ada), await listEnds(eve)]).toEqual([['logout'], ['logout']])
    expect([...browser.cookies.keys()].filter((name) => /vst_(sid|acc)/.test(name))).toEqual([])
  })

  test('keeps all of them when the user stays, and for a form without a valid token', async ({
    tenant,
    pair,
    listEnds,
    post,
  }) => {
    const { browser, ada, eve } = pair
    const path = `/${tenant}/oidc/logout`
    const html = await (await browser.fetch(path)).text()
    const stayed = await post(browser, { html, path, location: null }, { step: 'stay' })
    expect(stayed.html).toContain('You are still signed in')
    const forged = await browser.post(path, { csrf: 'x', step: 'logout', account: 'all' })
    expect(forged.status).toBe(403)
    // The token of a question about one account ends no other.
    const hinted = await (await browser.fetch(`${path}?logout_hint=${encodeURIComponent(ada.email)}`)).text()
    const account = accountIn(html, eve.email)
    const { response } = await browser.submit({ html: hinted, path }, { step: 'logout', account })
    expect(response.status).toBe(403)
    expect([await listEnds(ada), await listEnds(eve)]).toEqual([[null], [null]])
  })

  test('keeps the cookies of a browser whose form of another site came without them', async ({
    tenant,
    newBrowser,
  }) => {
    const form = { csrf: 'x', step: 'logout', account: 'all' }
    const answer = await newBrowser().post(`/${tenant}/oidc/logout`, form)
    expect([answer.status, answer.headers.getSetCookie()]).toEqual([200, []])
  })

  test.for(['email', 'id', 'sid'] as const)(
    'asks about the account of a logout_hint, its %s',
    async (kind, { tenant, pair, listEnds, post }) => {
      const { browser, ada, eve } = pair
      const path = `/${tenant}/oidc/logout`
      const choice = await (await browser.fetch(path)).text()
      const hint = { email: ada.email, id: ada.id, sid: accountIn(choice, ada.email) }[kind]
      const target = `${path}?${new URLSearchParams({ logout_hint: hint })}`
      const html = await (await browser.fetch(target)).text()
      expect([html.includes(ada.email), html.includes(eve.email)]).toEqual([true, false])
      const account = /name="account" value="([^"]+)"/.exec(html)?.[1] ?? ''
      await post(browser, { html, path: target, location: null }, { step: 'logout', account })
      expect([await listEnds(ada), await listEnds(eve)]).toEqual([['logout'], [null]])
    },
  )

  test('ends the session of the id_token_hint without a question', async ({
    tenant,
    pair,
    oidc,
    visit,
    listEnds,
  }) => {
    const { browser, ada, eve } = pair
    const { location } = await visit(browser, { login_hint: ada.email })
    const { body } = await oidc.exchange(answerIn(location).code ?? '')
    const hint = new URLSearchParams({ id_token_hint: body.id_token ?? '' })
    const { response } = await browser.open(`/${tenant}/oidc/logout?${hint}`)
    expect(await response.text()).toContain('You are signed out')
    expect([await listEnds(ada), await listEnds(eve)]).toEqual([['logout'], [null]])
  })
})

describe('the account pages in a browser with several accounts', () => {
  test('are those of the chosen account', async ({ tenant, pair, post }) => {
    const { browser, ada, eve } = pair
    const overview = await (await browser.open(`/${tenant}/account`)).response.text()
    expect([overview.includes(ada.email), overview.includes(eve.email)]).toEqual([false, true])
    const { response, path } = await browser.open(`/${tenant}/account/switch`)
    const page = { html: await response.text(), path, location: null }
    const changed = await post(browser, page, { step: 'continue', account: accountIn(page.html, ada.email) })
    expect(changed.path).toBe(`/${tenant}/account`)
    expect(changed.html).toContain(ada.email)
  })

  test('are those of the account that stays after the current one signed out', async ({
    tenant,
    pair,
    post,
  }) => {
    const { browser, ada, eve } = pair
    const path = `/${tenant}/oidc/logout`
    const html = await (await browser.fetch(path)).text()
    await post(
      browser,
      { html, path, location: null },
      { step: 'logout', account: accountIn(html, eve.email) },
    )
    expect(await (await browser.open(`/${tenant}/account`)).response.text()).toContain(ada.email)
  })
})
