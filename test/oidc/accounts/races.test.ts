import { describe, expect } from 'vitest'
import { test, toChoice } from '../../support/accounts.ts'
import { csrfIn, type PageBrowser } from '../../support/page-browser.ts'
import { answerIn, codeFor } from '../../support/protocol.ts'

/** Submits a form without following the redirect, which may answer the request and end its pages. */
const postOnly = (
  browser: PageBrowser,
  { html, path }: { html: string; path: string },
  form: Record<string, string>,
): Promise<Response> => browser.post(path, { csrf: csrfIn(html), ...form })

describe('two forms of one browser at once', () => {
  test('keep the accounts of two sign-ins', async ({ newBrowser, newPerson, visit, post, listEnds }) => {
    const browser = newBrowser()
    const people = [await newPerson(), await newPerson()]
    // Both tabs are bound to the browser before anybody signs in.
    const tabs = []
    for (const { email } of people) {
      const start = await visit(browser, { prompt: 'login' })
      const page = await post(browser, start, { step: 'email', address: email })
      tabs.push({ page, code: await codeFor(email) })
    }
    await Promise.all(tabs.map(({ page, code }) => post(browser, page, { step: 'code', code })))
    const page = await visit(browser)
    for (const person of people) {
      expect(page.html).toContain(person.email)
      expect(await listEnds(person)).toEqual([null])
    }
  })

  test('remove both accounts', async ({ pair, visit, listEnds }) => {
    const { browser, ada, eve } = pair
    const page = await visit(browser)
    await Promise.all([ada, eve].map((person) => postOnly(browser, page, toChoice(page, person, 'remove'))))
    expect([await listEnds(ada), await listEnds(eve)]).toEqual([['logout'], ['logout']])
    expect((await visit(browser)).html).toContain('name="address"')
  })

  test('remove both accounts one after the other, from one page', async ({ pair, visit, listEnds }) => {
    const { browser, ada, eve } = pair
    const page = await visit(browser)
    // After the first removal, the request could be answered for the other account.
    for (const person of [eve, ada]) await postOnly(browser, page, toChoice(page, person, 'remove'))
    expect([await listEnds(ada), await listEnds(eve)]).toEqual([['logout'], ['logout']])
  })

  test('continue as one of them and remove it, without a code for an ended session', async ({
    pair,
    visit,
    post,
    listEnds,
  }) => {
    const { browser, ada } = pair
    const page = await visit(browser)
    await Promise.all(
      ['continue', 'remove'].map((step) => post(browser, page, toChoice(page, ada, step)).catch(() => null)),
    )
    const { location } = await visit(browser, { prompt: 'none', login_hint: ada.email })
    // The sign-in was finished before the removal, or the session had ended before the choice.
    const [end] = await listEnds(ada)
    expect(answerIn(location)).toHaveProperty(end === 'logout' ? 'error' : 'code')
  })
})
