import { describe, expect } from 'vitest'
import { RateLimited } from '../../src/core/errors.ts'
import { awaitDeliveries } from '../../src/delivery/background.ts'
import { authenticatePasscode } from '../../src/passcodes/authenticate-passcode.ts'
import { verifySignInPasscode } from '../../src/passcodes/passcodes.ts'
import { sendSignInPasscode } from '../../src/passcodes/send-passcode.ts'
import { sql } from '../support/database.ts'
import { test as base } from '../support/hosted-pages.ts'
import type { PageBrowser } from '../support/page-browser.ts'
import { toRestValue } from '../support/schema.ts'
import { newVisit } from '../support/visit.ts'

const NOTICE = /Wrong codes were entered/
const SHORT = /\b(\d{6})\b/
const LONG = /\b(\d{5} \d{5})\b/

let visits = 0

const test = base
  /** A stranger requests a code for an address and enters wrong ones, each time as a new visitor. */
  .extend('attack', { scope: 'file' }, ({ ctx }) => async (address: string, codes: number) => {
    const reasons: string[] = []
    for (let i = 0; i < codes; i++) {
      const ip = `203.0.113.${++visits % 250}`
      const stranger = { ...ctx, actor: { kind: 'anonymous' } as const, ip }
      const visit = newVisit(`stranger-${visits}`, ip)
      await sendSignInPasscode(stranger, address, visit).catch(() => undefined)
      for (let guess = 0; guess < 6; guess++)
        await verifySignInPasscode(stranger, address, 'no-code', visit).catch((error) =>
          reasons.push(error.problem),
        )
    }
    await awaitDeliveries()
    return reasons
  })
  .extend(
    'newestCode',
    { scope: 'file' },
    ({ inbox }) =>
      async (address: string, syntax: RegExp) =>
        syntax.exec((await inbox.list(address))[0]?.body ?? '')?.[1] ?? 'none',
  )
  .extend('hasSession', async () => (by: PageBrowser) => by.sessionToken !== undefined)

describe('a stranger who guesses at codes of a user', () => {
  test('does not lock the user out of an unknown browser, where codes get longer', async ({
    person,
    browser,
    attack,
    atCode,
    newestCode,
    hasSession,
  }) => {
    await attack(person.email, 6)
    const page = await atCode()
    expect(page.html).toContain('10-digit code')
    await browser.submit(page, { step: 'code', code: await newestCode(person.email, LONG) })
    expect(hasSession(browser)).toBe(true)
  })

  test('does not affect a browser in which the user signed in before', async ({
    person,
    browser,
    attack,
    atCode,
    newestCode,
    hasSession,
  }) => {
    await browser.submit(await atCode(), { step: 'code', code: await newestCode(person.email, SHORT) })
    browser.forgetSessions()
    await attack(person.email, 25)
    const page = await atCode()
    expect(page.html).toContain('6-digit code')
    await browser.submit(page, { step: 'code', code: await newestCode(person.email, SHORT) })
    expect(hasSession(browser)).toBe(true)
  })

  test('has no budget of its own by a cookie that was changed, or was set for another address', async ({
    person,
    newPerson,
    newBrowser,
    browser,
    attack,
    atCode,
    newestCode,
  }) => {
    const findCookie = ({ cookies }: PageBrowser) =>
      [...cookies].find(([name]) => name.startsWith('vst_kb')) ?? ['none', '']
    const signIn = async (by: PageBrowser, address: string) => {
      await by.submit(await atCode(by, address), { step: 'code', code: await newestCode(address, SHORT) })
      by.forgetSessions()
      return findCookie(by)
    }
    const [name, own] = await signIn(browser, person.email)
    const [, foreign] = await signIn(newBrowser(), (await newPerson()).email)
    await attack(person.email, 6)
    for (const value of [`${own.startsWith('A') ? 'B' : 'A'}${own.slice(1)}`, foreign]) {
      const forger = newBrowser()
      forger.cookies.set(name, value)
      expect((await atCode(forger)).html).toContain('10-digit code')
    }
  })

  test('does not replace or use up the code that the user requested', async ({
    person,
    browser,
    attack,
    atCode,
    newestCode,
    hasSession,
  }) => {
    const page = await atCode()
    const code = await newestCode(person.email, SHORT)
    await attack(person.email, 1)
    await browser.submit(page, { step: 'code', code })
    expect(hasSession(browser)).toBe(true)
  })

  test('from one network does not use up the messages of the hour', async ({
    ctx,
    person,
    atCode,
    inbox,
  }) => {
    const ip = '198.51.100.40'
    const stranger = { ...ctx, actor: { kind: 'anonymous' } as const, ip }
    await Promise.allSettled(
      Array.from({ length: 20 }, (_, i) =>
        sendSignInPasscode(stranger, person.email, newVisit(`flood-${i}`, ip)),
      ),
    )
    await awaitDeliveries()
    await expect(sendSignInPasscode(stranger, person.email, newVisit('flood', ip))).rejects.toThrow(
      RateLimited,
    )
    expect(await inbox.list(person.email)).toHaveLength(10)
    await atCode()
    expect(await inbox.list(person.email)).toHaveLength(11)
  })

  test('has nine guesses at codes of six digits, however they are distributed', async ({
    ctx,
    tenant,
    person,
  }) => {
    const guesses = Array.from({ length: 6 }, async (_, i) => {
      const ip = `2001:db8:${i}::1`
      const stranger = { ...ctx, actor: { kind: 'anonymous' } as const, ip }
      const visit = newVisit(`many-${i}`, ip)
      await sendSignInPasscode(stranger, person.email, visit)
      await Promise.allSettled(
        Array.from({ length: 8 }, () => verifySignInPasscode(stranger, person.email, 'no-code', visit)),
      )
    })
    const api = Array.from({ length: 8 }, () =>
      authenticatePasscode(ctx, { to: person.email, code: 'no-code' }).catch(() => undefined),
    )
    await Promise.all([...guesses, ...api])
    const [row] = await sql<{ guesses: number }>(
      `SELECT sum("attempts")::int AS "guesses" FROM "Passcode" WHERE "tenantId" = $1 AND "address" = $2 AND NOT "isLong"`,
      [tenant, person.email],
    )
    expect(row?.guesses).toBe(9)
  })

  test('causes one notice to the user, and none to an unknown address', async ({
    person,
    email,
    attack,
    inbox,
  }) => {
    const isNotice = ({ subject, body }: { subject?: string | null; body: string }) =>
      NOTICE.test(`${subject} ${body}`)
    for (const address of [person.email, email('nobody-at-all')]) await attack(address, 5)
    expect((await inbox.list(person.email)).filter(isNotice)).toHaveLength(1)
    expect(await inbox.list(email('nobody-at-all'))).toEqual([])
  })
})

describe('the limits of codes of a user', () => {
  test('are shown and reset over REST and GraphQL, which the log records', async ({
    person,
    rest,
    gql,
    events,
    attack,
    atCode,
  }) => {
    const read = async () => {
      const { body } = await rest('GET', `/users/${person.id}/sign-in-limits`)
      const query = `{ user(id: "${person.id}") { signInLimits { channel wrongGuesses longCodesUntil sentCodes codesAgainAt } } }`
      const { signInLimits } = (await gql(query)).body.data.user
      expect(signInLimits.map((limit: object) => toRestValue('SignInLimit', limit))).toEqual(body.limits)
      return body.limits
    }
    const none = { channel: 'email', wrongGuesses: 0, longCodesUntil: null, sentCodes: 0, codesAgainAt: null }
    expect(await read()).toEqual([none])
    await attack(person.email, 3)
    const time = expect.stringMatching(/Z$/)
    expect(await read()).toEqual([{ ...none, wrongGuesses: 9, longCodesUntil: time, sentCodes: 3 }])
    expect((await rest('DELETE', `/users/${person.id}/sign-in-limits`)).status).toBe(200)
    expect(await read()).toEqual([none])
    expect((await atCode()).html).toContain('6-digit code')
    await attack(person.email, 20)
    expect(await read()).toMatchObject([{ sentCodes: 20, codesAgainAt: time }])
    const reset = `mutation { resetSignInLimits(input: { userId: "${person.id}" }) { ... on ResetSignInLimitsPayload { userId } } }`
    expect((await gql(reset)).body.data.resetSignInLimits).toEqual({ userId: person.id })
    expect(await read()).toEqual([none])
    expect(await events({ type: 'user.limits_reset', userId: person.id })).toHaveLength(2)
  })

  test('of an administrator are not reset by a caller with fewer scopes', async ({ newPerson, rest }) => {
    const admin = await newPerson()
    expect((await rest('PUT', `/users/${admin.id}/roles`, { roles: ['admin'] })).status).toBe(200)
    const path = `/users/${admin.id}/sign-in-limits`
    expect(await rest('DELETE', path, undefined, { scopes: ['users:write'] })).toMatchObject({
      status: 403,
      body: { code: 'FORBIDDEN' },
    })
  })
})
