import { describe, expect } from 'vitest'
import type { Ctx } from '../../../../src/context/context.ts'
import { awaitDeliveries } from '../../../../src/delivery/background.ts'
import { verifySignInPasscode } from '../../../../src/passcodes/passcodes.ts'
import { sendSignInPasscode } from '../../../../src/passcodes/send-passcode.ts'
import { createUser, lockUser } from '../../../../src/users/users.ts'
import { dbFor } from '../../../support/database.ts'
import { csrfIn, type PageBrowser } from '../../../support/page-browser.ts'
import { test } from '../../../support/sign-up.ts'
import { countStatements } from '../../../support/statements.ts'
import { VISIT } from '../../../support/visit.ts'

type CreationPage = { html: string; path: string }
const create = (by: PageBrowser, { html, path }: CreationPage) =>
  by.post(path, { csrf: csrfIn(html), step: 'create', name: 'Ada' })

describe('concurrent sign-ups', () => {
  test('of one form that is sent 50 times create one user and one session', async ({
    tenant,
    browser,
    stranger,
    atCreation,
    findUsers,
    events,
  }) => {
    const page = await atCreation()
    const answers = await Promise.all(Array.from({ length: 50 }, () => create(browser, page)))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([303]))
    const users = await findUsers(stranger)
    expect(users).toHaveLength(1)
    const where = { tenantId: tenant, userId: users[0]?.id }
    expect(await dbFor(tenant).session.findMany({ where })).toHaveLength(1)
    const created = (await events()).filter(
      ({ type, userId }) => type === 'user.created' && userId === users[0]?.id,
    )
    expect(created).toHaveLength(1)
  })

  test('of one address in several browsers and tabs create one user, and all are signed in', async ({
    newBrowser,
    stranger,
    inbox,
    start,
    findUsers,
  }) => {
    const pages: [PageBrowser, CreationPage][] = []
    const shared = newBrowser()
    for (const by of [shared, shared, newBrowser(), newBrowser()]) {
      const sent = await by.submit(await start(by), { step: 'email', address: stranger })
      const code = { html: await sent.response.text(), path: sent.path }
      const proven = await by.submit(code, { step: 'code', code: await inbox.codeFor(stranger) })
      pages.push([by, { html: await proven.response.text(), path: proven.path }])
    }
    const answers = await Promise.all(pages.map(([by, page]) => create(by, page)))
    expect(answers.map(({ status }) => status)).toEqual([303, 303, 303, 303])
    expect(await findUsers(stranger)).toHaveLength(1)
    for (const [by] of pages) expect(by.sessionToken).toMatch(/./)
  })

  test('with a user whom a caller creates at the same time end as one user', async ({
    ctx,
    newBrowser,
    email,
    atCreation,
    findUsers,
  }) => {
    for (let round = 0; round < 8; round++) {
      const by = newBrowser()
      const address = email(`race${round}`)
      const page = await atCreation(by, address)
      const [answer, created] = await Promise.all([
        create(by, page),
        createUser(ctx, { email: address }).catch((error: { status: number }) => error.status),
      ])
      expect(answer.status).toBe(303)
      expect(await findUsers(address)).toMatchObject([{ emailVerified: true }])
      expect(created === 409 || typeof created === 'object').toBe(true)
    }
  })

  test('with a lock of the user leave no session', async ({
    tenant,
    ctx,
    newBrowser,
    email,
    atCreation,
    findUsers,
  }) => {
    for (let round = 0; round < 8; round++) {
      const by = newBrowser()
      const address = email(`locked${round}`)
      const page = await atCreation(by, address)
      const user = await createUser(ctx, { email: address })
      const [answer] = await Promise.all([create(by, page), lockUser(ctx, user.id)])
      expect(answer.status).toBe(303)
      expect(await findUsers(address)).toMatchObject([{ id: user.id, locked: true }])
      const active = { tenantId: tenant, userId: user.id, endedAt: null }
      expect(await dbFor(tenant).session.findMany({ where: active })).toEqual([])
    }
  })
})

describe('the code of a sign-up', () => {
  test('takes the same statements whether or not a user has the address', async ({
    ctx,
    person,
    stranger,
  }) => {
    const visitor: Ctx = { ...ctx, actor: { kind: 'anonymous' }, scopes: new Set() }
    const measure = async (address: string) => {
      const sent = await countStatements(() => sendSignInPasscode(visitor, address, VISIT))
      await awaitDeliveries()
      const guess = () => verifySignInPasscode(visitor, address, 'no-code', VISIT)
      return [sent, await countStatements(() => expect(guess()).rejects.toThrow('wrong'))]
    }
    await measure(`first-${stranger}`)
    expect(await measure(stranger)).toEqual(await measure(person.email))
  })
})
