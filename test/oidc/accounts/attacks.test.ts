import { describe, expect } from 'vitest'
import { test, toChoice } from '../../support/accounts.ts'
import { newTenant } from '../../support/actors.ts'
import { startSessionIn } from '../../support/browser-session.ts'
import { accountIn } from '../../support/page-browser.ts'
import { answerIn, makeUser } from '../../support/protocol.ts'

const ACCOUNT = /^vst_acc_.+_[0-9a-f]{12}$/

describe('the cookies of accounts', () => {
  test('are one for each account, and show neither its address nor its id', async ({ pair }) => {
    const { browser, ada, eve } = pair
    const names = [...browser.cookies.keys()].filter((name) => ACCOUNT.test(name))
    expect(names).toHaveLength(2)
    const tokens = names.map((name) => browser.cookies.get(name))
    expect(tokens).toContain(browser.sessionToken)
    const header = [...browser.cookies].flat().join(' ')
    for (const { id, email } of [ada, eve])
      expect([header.includes(id), header.includes(email)]).toEqual([false, false])
  })

  test('are HttpOnly and SameSite=Lax, and have the tenant in their names', async ({
    tenant,
    pair,
    visit,
  }) => {
    const { browser, eve } = pair
    const page = await visit(browser)
    const csrf = /name="csrf" value="([^"]+)"/.exec(page.html)?.[1] ?? ''
    const { headers } = await browser.post(page.path, { csrf, ...toChoice(page, eve, 'remove') })
    const set = headers.getSetCookie().filter((line) => line.startsWith('vst_'))
    expect(set.length).toBeGreaterThan(1)
    for (const line of set)
      expect(line).toMatch(new RegExp(`^vst_[a-z]+_${tenant}[_=].*; Path=/; HttpOnly; SameSite=Lax$`))
  })

  test('of another tenant and tampered ones, also in large numbers, sign no user in', async ({
    tenant,
    newBrowser,
    pair,
    visit,
  }) => {
    const other = await newTenant()
    const stranger = newBrowser()
    await startSessionIn(stranger, other, (await makeUser(other, 'stranger@example.com')).id)
    const foreign = stranger.sessionToken ?? ''
    const mine = pair.browser.sessionToken ?? ''
    const values = [
      foreign,
      `${mine.slice(0, -1)}${mine.endsWith('A') ? 'B' : 'A'}`,
      `${mine}.`,
      '',
      'x'.repeat(43),
    ]
    const browser = newBrowser()
    for (let index = 0; index < 150; index++)
      browser.cookies.set(
        `vst_acc_${tenant}_${index.toString(16).padStart(12, '0')}`,
        values[index % 5] ?? '',
      )
    const page = await visit(browser, { prompt: 'select_account' })
    expect(page.html).toContain('name="address"')
    expect(answerIn((await visit(browser, { prompt: 'none' })).location)).toMatchObject({
      error: 'login_required',
    })
    expect(tenant).not.toBe(other)
  })
})

describe('the page on which an account is chosen', () => {
  test('rejects forms without its token, and with that of another browser', async ({
    pair,
    openAccounts,
    visit,
    listEnds,
  }) => {
    const { browser, ada, eve } = pair
    const page = await visit(browser)
    const attacker = await openAccounts(2)
    const theirs = await visit(attacker.browser)
    for (const step of ['continue', 'remove', 'switch'])
      for (const csrf of ['', /name="csrf" value="([^"]+)"/.exec(theirs.html)?.[1] ?? '']) {
        const { status } = await browser.post(page.path, { csrf, ...toChoice(page, ada, step) })
        expect(status).toBe(403)
      }
    expect([await listEnds(ada), await listEnds(eve)]).toEqual([[null], [null]])
  })

  test('neither continues as nor removes a session of another browser', async ({
    pair,
    openAccounts,
    visit,
    post,
    listEnds,
  }) => {
    const { browser } = pair
    const victim = await openAccounts(2)
    const theirs = await visit(victim.browser)
    for (const step of ['continue', 'remove'])
      for (const account of [accountIn(theirs.html), '', 'all', 'session_x\u0000']) {
        const page = await visit(browser)
        expect((await post(browser, page, { step, account })).path).toMatch(/\/select$/)
      }
    for (const person of victim.people) expect(await listEnds(person)).toEqual([null])
  })

  test('removes an account: its session ends, and its cookie goes', async ({
    pair,
    visit,
    post,
    subjectAt,
    listEnds,
  }) => {
    const { browser, ada, eve } = pair
    const page = await visit(browser, { prompt: 'select_account' })
    const next = await post(browser, page, toChoice(page, eve, 'remove'))
    expect(next.html).not.toContain(eve.email)
    expect(next.html).toContain(ada.email)
    expect([await listEnds(ada), await listEnds(eve)]).toEqual([[null], ['logout']])
    expect([...browser.cookies.keys()].filter((name) => ACCOUNT.test(name))).toHaveLength(1)
    expect(await subjectAt((await visit(browser)).location)).toBe(ada.id)
  })
})
