import { describe, expect } from 'vitest'
import { dbFor } from '../support/database.ts'
import { test } from '../support/fixtures.ts'
import { answerIn } from '../support/protocol.ts'

describe('a sign-in before its last step', () => {
  test('creates no session and answers prompt=none with login_required', async ({
    tenant,
    oidc,
    inbox,
    person,
    browser,
  }) => {
    const start = await browser.open(oidc.authorizePath())
    const emailPage = { html: await start.response.text(), path: start.path }
    const sent = await browser.submit(emailPage, { step: 'email', address: person.email })
    const codePage = { html: await sent.response.text(), path: sent.path }
    const authorizeSilently = async () => {
      const answer = await browser.fetch(oidc.authorizePath({ prompt: 'none' }))
      return answerIn(answer.headers.get('location'))
    }
    const countSessions = () =>
      dbFor(tenant).session.count({ where: { tenantId: tenant, userId: person.id } })
    const expectNothing = async () =>
      expect([await authorizeSilently(), await countSessions()]).toMatchObject([
        { error: 'login_required' },
        0,
      ])

    // The address is entered, a code is sent, and the browser has all its cookies.
    await expectNothing()
    const right = await inbox.codeFor(person.email)
    const wrong = right === '000000' ? '000001' : '000000'
    await browser.submit(codePage, { step: 'code', code: wrong })
    await expectNothing()
    // Steps that only a signed-in user has.
    for (const step of ['allow', 'continue']) await browser.submit(codePage, { step })
    await expectNothing()

    await browser.submit(codePage, { step: 'code', code: right })
    expect(await countSessions()).toBe(1)
    expect(await authorizeSilently()).toHaveProperty('code')
  })
})
