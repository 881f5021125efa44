import { decodeJwt } from 'jose'
import { describe, expect } from 'vitest'
import { consumeLimit, RATE_LIMITS } from '../../../src/coordination/rate-limits.ts'
import { getMethodAcr, SIGN_IN_METHODS } from '../../../src/model/sign-in-methods.ts'
import { deleteUser, lockUser } from '../../../src/users/users.ts'
import { newTenant } from '../../support/actors.ts'
import { dbFor } from '../../support/database.ts'
import { openPage } from '../../support/hosted-pages.ts'
import { answerIn, authorizePath, makeClient } from '../../support/protocol.ts'
import { test as base, type Visit } from '../../support/sign-in-methods.ts'

const test = base
  /** The number of browser sessions of the tenant that were started since the test began. */
  .extend('countSessions', ({ tenant }) => {
    const since = new Date()
    return (of = tenant) =>
      dbFor(of).session.count({ where: { tenantId: of, kind: 'browser', createdAt: { gte: since } } })
  })
  .extend('failuresOf', ({ events }) => async (method: string) => {
    const failed = await events({ type: 'signin.failed' })
    return failed.filter(({ detail }) => detail?.method === method)
  })

/** What the pages of different sign-ins have in common. */
const normalizePage = ({ status, html }: Visit) => [
  status,
  html
    .replace(/[\w-]{43}/g, '')
    .replace(/[\w.-]+@[\w-]+\.example/g, '')
    .replace(/ data-unknown="[^"]*"/, '')
    .replace(/\d+ seconds?/, 'SOON'),
]

describe.each(SIGN_IN_METHODS)('a sign-in by %s', (method) => {
  test('issues a code for the user, and records the proof in the session', async ({
    tenant,
    person,
    browser,
    drivers,
    oidc,
    start,
  }) => {
    const begin = await drivers[method].equip(person)
    const { location } = await (await begin(await start(), browser)).present(browser)
    const { body } = await oidc.exchange(answerIn(location).code ?? '')
    const claims = decodeJwt(String(body.id_token))
    expect(claims).toMatchObject({ sub: person.id, acr: getMethodAcr(method) })
    const session = await dbFor(tenant).session.findUniqueOrThrow({
      where: { tenantId_id: { tenantId: tenant, id: String(claims.sid) } },
    })
    expect(session.proofs).toEqual([{ method, amr: claims.amr, at: session.authenticatedAt.toISOString() }])
    expect(claims.auth_time).toBe(Math.floor(session.authenticatedAt.getTime() / 1000))
  })

  test('is rejected by a wrong proof, which is recorded, and accepts the right one then', async ({
    person,
    browser,
    client,
    drivers,
    countSessions,
    failuresOf,
    start,
  }) => {
    const begin = await drivers[method].equip(person)
    const attempt = await begin(await start(), browser)
    const { location, html } = await attempt.presentWrong(browser)
    expect(location).toBeNull()
    expect(html).toContain('role="alert"')
    expect(await countSessions()).toBe(0)
    expect((await failuresOf(method)).at(-1)).toMatchObject({
      userId: drivers[method].namesUser ? person.id : null,
      subjectIds: expect.arrayContaining([client.id]),
      detail: { method },
    })
    const again = await begin(await start(), browser)
    expect(answerIn((await again.present(browser)).location).code).toMatch(/./)
  })

  test('is rejected by a proof that has expired', async ({
    person,
    browser,
    drivers,
    countSessions,
    start,
  }) => {
    const attempt = await (await drivers[method].equip(person))(await start(), browser)
    await attempt.expire()
    const { status, location } = await attempt.present(browser)
    expect([location, status < 500]).toEqual([null, true])
    expect(await countSessions()).toBe(0)
  })

  test('accepts a proof once, in the sign-in that it belongs to', async ({
    person,
    browser,
    newBrowser,
    drivers,
    countSessions,
    start,
  }) => {
    const begin = await drivers[method].equip(person)
    const attempt = await begin(await start(), browser)
    const elsewhere = newBrowser()
    const other = await attempt.present(elsewhere, await start(elsewhere))
    expect(answerIn(other.location).code).toBeUndefined()
    expect(await countSessions()).toBe(0)
    const retry = await begin(await start(), browser)
    const { location } = await retry.present(browser)
    expect(await countSessions()).toBe(1)
    // Sent again, it leads where it led.
    expect((await retry.present(browser)).location).toBe(location)
    expect(await countSessions()).toBe(1)
  })

  test('is not accepted in another browser', async ({
    person,
    browser,
    newBrowser,
    drivers,
    countSessions,
    start,
  }) => {
    const attempt = await (await drivers[method].equip(person))(await start(), browser)
    const elsewhere = newBrowser()
    await start(elsewhere)
    const { status, location } = await attempt.present(elsewhere)
    expect([status, location]).toEqual([410, null])
    expect(await countSessions()).toBe(0)
    expect(answerIn((await attempt.present(browser)).location).code).toMatch(/./)
  })

  test('is not accepted at another tenant', async ({
    person,
    browser,
    newBrowser,
    drivers,
    countSessions,
    start,
  }) => {
    const other = await newTenant()
    const path = authorizePath(other, await makeClient(other))
    const attempt = await (await drivers[method].equip(person))(await start(), browser)
    const elsewhere = newBrowser()
    const { location, status } = await attempt.present(elsewhere, await openPage(elsewhere, path))
    expect([location, status < 500]).toEqual([null, true])
    expect(await countSessions(other)).toBe(0)
  })

  test('looks the same for a locked, a deleted and an unknown person', async ({
    ctx,
    newPerson,
    newBrowser,
    drivers,
    countSessions,
    start,
  }) => {
    const locked = await newPerson()
    const deleted = await newPerson()
    const people = [
      { begin: await drivers[method].equip(locked), end: () => lockUser(ctx, locked.id) },
      { begin: await drivers[method].equip(deleted), end: () => deleteUser(ctx, deleted.id) },
      { begin: await drivers[method].equip(null), end: async () => {} },
    ]
    const pages: unknown[] = []
    for (const { begin, end } of people) {
      await end()
      const by = newBrowser()
      const attempt = await begin(await start(by), by)
      pages.push(normalizePage(await attempt.present(by)))
    }
    expect(pages[1]).toEqual(pages[2])
    if (!drivers[method].revealsLock) expect(pages[0]).toEqual(pages[2])
    expect(await countSessions()).toBe(0)
  })

  test('does not start a session of a user who is locked after the start', async ({
    ctx,
    person,
    browser,
    drivers,
    countSessions,
    start,
  }) => {
    const attempt = await (await drivers[method].equip(person))(await start(), browser)
    await lockUser(ctx, person.id)
    const { status, location } = await attempt.present(browser)
    expect([location, status < 500]).toEqual([null, true])
    expect(await countSessions()).toBe(0)
  })

  test('starts one session when the proof is presented 50 times at once', async ({
    person,
    browser,
    newBrowser,
    drivers,
    countSessions,
    start,
  }) => {
    const attempt = await (await drivers[method].equip(person))(await start(), browser)
    const windows = Array.from({ length: 50 }, () => {
      const by = newBrowser()
      for (const [name, value] of browser.cookies) by.cookies.set(name, value)
      return by
    })
    const visits = await Promise.all(windows.map((by) => attempt.present(by)))
    expect(visits.filter(({ status }) => status >= 500)).toEqual([])
    expect(await countSessions()).toBe(1)
  })

  test('answers with 429 and the time to wait when the network has presented too many wrong proofs', async ({
    tenant,
    person,
    browser,
    drivers,
    start,
  }) => {
    const { equip, limit } = drivers[method]
    const attempt = await (await equip(person))(await start(), browser)
    for (let use = 0; use < RATE_LIMITS[limit].points; use++)
      await consumeLimit(limit, tenant, '127.0.0.1').catch(() => undefined)
    const { status, html } = await attempt.presentWrong(browser)
    expect(status).toBe(429)
    expect(html).toMatch(/Try again in (60 minutes|an hour|1 hour)/)
  })
})
