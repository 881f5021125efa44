import { decodeJwt } from 'jose'
import { describe, expect } from 'vitest'
import { SECOND_FACTORS, type SecondFactorName } from '../../../src/model/sign-in-methods.ts'
import { deleteUser, lockUser } from '../../../src/users/users.ts'
import { newTenant } from '../../support/actors.ts'
import { dbFor } from '../../support/database.ts'
import { GONE } from '../../support/hosted-pages.ts'
import type { PageBrowser } from '../../support/page-browser.ts'
import { answerIn } from '../../support/protocol.ts'
import { test as base, equipOwner, type Landing, type Owner } from '../../support/second-factor.ts'
import { computeTotp, computeWrongTotp } from '../../support/totp.ts'

type FactorDriver = { right: (owner: Owner) => string; wrong: (owner: Owner) => string }

const DRIVERS: Record<SecondFactorName, FactorDriver> = {
  totp: {
    right: ({ totp }) => computeTotp(totp.secret),
    wrong: ({ totp }) => computeWrongTotp(totp.secret),
  },
  recovery: {
    right: ({ codes: [code = ''] }) => code,
    wrong: () => 'aaaa-aaaa-aaaa',
  },
}

const GUESSES = 5

const test = base
  /** Other browsers that hold the cookies of the browser. */
  .extend('copyBrowser', ({ browser, newBrowser }) => (): PageBrowser => {
    const copy = newBrowser()
    for (const [name, value] of browser.cookies) copy.cookies.set(name, value)
    return copy
  })

/** Whether the browser got neither a code nor an error of the server. */
const isRejected = ({ location, status }: Landing): boolean => location === null && status < 500

describe.each(SECOND_FACTORS)('a second factor by %s', (method) => {
  const { right, wrong } = DRIVERS[method]
  const step = method

  test('issues a code for the user, and records both proofs in the session', async ({
    tenant,
    oidc,
    owner,
    atSecondFactor,
    submit,
  }) => {
    const { location } = await submit(atSecondFactor, { step, code: right(owner) })
    const { body } = await oidc.exchange(answerIn(location).code ?? '')
    const claims = decodeJwt(String(body.id_token))
    expect(claims).toMatchObject({ sub: owner.person.id, acr: 'urn:vestibule:mfa', amr: ['otp', 'mfa'] })
    const { proofs } = await dbFor(tenant).session.findUniqueOrThrow({
      where: { tenantId_id: { tenantId: tenant, id: String(claims.sid) } },
    })
    expect((proofs as { method: string }[]).map((proof) => proof.method)).toEqual(['passcode', method])
  })

  test('is rejected by a wrong code, which is recorded, and accepts the right one then', async ({
    owner,
    atSecondFactor,
    submit,
    failures,
    countSessions,
  }) => {
    const rejected = await submit(atSecondFactor, { step, code: wrong(owner) })
    expect(rejected.html).toContain('role="alert"')
    expect(await failures()).toEqual([{ method, reason: 'wrong' }])
    expect(await countSessions()).toBe(0)
    expect(answerIn((await submit(rejected, { step, code: right(owner) })).location).code).toMatch(/./)
  })

  test('is accepted once, also in a later sign-in', async ({
    owner,
    newBrowser,
    atSecondFactor,
    enterPasscode,
    submit,
    failures,
  }) => {
    const code = right(owner)
    expect(answerIn((await submit(atSecondFactor, { step, code })).location).code).toMatch(/./)
    const by = newBrowser()
    expect(isRejected(await submit(await enterPasscode({}, by), { step, code }, by))).toBe(true)
    expect(await failures()).toEqual([{ method, reason: 'wrong' }])
  })

  test('is not completed in another browser or at another tenant', async ({
    owner,
    newBrowser,
    atSecondFactor,
    submit,
    countSessions,
  }) => {
    const form = { step, code: right(owner) }
    expect((await submit(atSecondFactor, form, newBrowser())).html).toContain(GONE)
    const path = atSecondFactor.path.replace(/^\/[^/]+/, `/${await newTenant()}`)
    expect((await submit({ ...atSecondFactor, path }, form)).html).toContain(GONE)
    expect(await countSessions()).toBe(0)
    expect(answerIn((await submit(atSecondFactor, form)).location).code).toMatch(/./)
  })

  test('is not accepted for another user', async ({
    ctx,
    owner,
    newPerson,
    atSecondFactor,
    submit,
    countSessions,
  }) => {
    const other = await equipOwner(ctx, await newPerson())
    expect(right(other)).not.toBe(right(owner))
    expect(isRejected(await submit(atSecondFactor, { step, code: right(other) }))).toBe(true)
    expect(await countSessions()).toBe(0)
  })

  test.for([
    ['locked', lockUser],
    ['deleted', deleteUser],
  ] as const)(
    'starts no session for a user who is %s after the first proof',
    async ([, end], { ctx, owner, atSecondFactor, submit, countSessions }) => {
      await end(ctx, owner.person.id)
      expect(isRejected(await submit(atSecondFactor, { step, code: right(owner) }))).toBe(true)
      expect(await countSessions()).toBe(0)
    },
  )

  test('is rejected more than 15 minutes after the first proof', async ({
    owner,
    atSecondFactor,
    expireFirstProofs,
    submit,
    countSessions,
  }) => {
    await expireFirstProofs()
    const landing = await submit(atSecondFactor, { step, code: right(owner) })
    expect(isRejected(landing)).toBe(true)
    expect(landing.html).not.toContain(`value="${step}"`)
    expect(await countSessions()).toBe(0)
  })

  test('starts one session when it is presented 50 times at once', async ({
    owner,
    atSecondFactor,
    copyBrowser,
    submit,
    countSessions,
  }) => {
    const form = { step, code: right(owner) }
    const landings = await Promise.all(
      Array.from({ length: 50 }, () => submit(atSecondFactor, form, copyBrowser())),
    )
    expect(landings.filter(({ status }) => status >= 500)).toEqual([])
    expect(await countSessions()).toBe(1)
  })

  test(`is limited to ${GUESSES} guesses in 15 minutes, in all browsers`, async ({
    owner,
    newBrowser,
    atSecondFactor,
    enterPasscode,
    submit,
    failures,
    countSessions,
  }) => {
    let page = atSecondFactor
    for (let guess = 0; guess < GUESSES; guess++) page = await submit(page, { step, code: wrong(owner) })
    const limited = await submit(page, { step, code: right(owner) })
    expect(limited.status).toBe(429)
    expect(Number(limited.response.headers.get('retry-after'))).toBeGreaterThan(800)
    const by = newBrowser()
    expect((await submit(await enterPasscode({}, by), { step, code: right(owner) }, by)).status).toBe(429)
    expect((await failures()).at(-1)).toEqual({ method, reason: 'exhausted' })
    expect(await countSessions()).toBe(0)
  })
})
