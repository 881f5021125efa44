import { describe, expect } from 'vitest'
import { accountIn } from '../../support/page-browser.ts'
import { answerIn } from '../../support/protocol.ts'
import { test as base } from '../../support/visitor.ts'

/** With a signed-in user at the page that prompt=select_account leads to. */
const test = base.extend('openChoice', { scope: 'file' }, ({ oidc, newVisitor }) => async (more = {}) => {
  const visitor = await newVisitor()
  const { response, path } = await visitor.browser.open(
    oidc.authorizePath({ prompt: 'select_account', ...more }),
  )
  return { visitor, page: { html: await response.text(), path } }
})

describe('prompt=select_account (OIDC Core, section 3.1.2.1)', () => {
  test('shows the signed-in user and continues as that user', async ({ openChoice }) => {
    const { visitor, page } = await openChoice()
    expect(page.path).toMatch(/\/select$/)
    expect(page.html).toContain(visitor.user.email)
    const done = await visitor.browser.submit(page, { step: 'continue', account: accountIn(page.html) })
    expect(answerIn(done.location)).toMatchObject({ code: expect.any(String), state: 'a-state' })
  })

  test('asks for an address when another account is chosen', async ({ openChoice }) => {
    const { visitor, page } = await openChoice()
    const next = await visitor.browser.submit(page, { step: 'switch' })
    const html = await next.response.text()
    expect(html).toContain('name="address"')
    expect(html).not.toContain(visitor.user.email)
  })

  test('requires a new sign-in after the choice with max_age=0', async ({ openChoice }) => {
    const { visitor, page } = await openChoice({ max_age: '0' })
    const next = await visitor.browser.submit(page, { step: 'continue', account: accountIn(page.html) })
    expect(await next.response.text()).toContain('name="address"')
  })

  test('asks for an address when no user is signed in', async ({ browser, oidc }) => {
    const start = await browser.open(oidc.authorizePath({ prompt: 'select_account' }))
    expect(await start.response.text()).toContain('name="address"')
  })
})
