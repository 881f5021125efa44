import { describe, expect } from 'vitest'
import { dbFor } from '../../../support/database.ts'
import type { PageBrowser } from '../../../support/page-browser.ts'
import { answerIn } from '../../../support/protocol.ts'
import { test as base } from '../../../support/second-factor.ts'
import { computeWrongTotp } from '../../../support/totp.ts'

/** A browser in which the owner has proven the second factor, without a session, and an attacker who has the mailbox. */
const test = base
  .extend('signInAs', ({ tenant, owner, enterPasscode, enterTotp }) => {
    return async (by: PageBrowser, code?: string) => {
      // A code of each time step is accepted once.
      await dbFor(tenant).credential.updateMany({
        where: { tenantId: tenant, id: owner.totp.credentialId },
        data: { lastStep: 0 },
      })
      return enterTotp(await enterPasscode({ prompt: 'login' }, by), code, by)
    }
  })
  .extend('known', async ({ newBrowser, signInAs }) => {
    const known = newBrowser()
    expect(answerIn((await signInAs(known)).location).code).toMatch(/./)
    known.forgetSessions()
    return known
  })
  .extend('attack', ({ owner, enterPasscode, enterTotp, newBrowser }) => async (by = newBrowser()) => {
    const wrong = computeWrongTotp(owner.totp.secret)
    let page = await enterPasscode({}, by)
    for (let guess = 0; guess < 6; guess++) page = await enterTotp(page, wrong, by)
    return page.status
  })

const nameMarks = (browser: PageBrowser): string[] =>
  [...browser.cookies.keys()].filter((name) => name.includes('vst_kb'))

describe('a browser in which the second factor of the user was proven', () => {
  test('is let in after another browser has used up all guesses', async ({
    known,
    attack,
    signInAs,
    newBrowser,
  }) => {
    expect(await attack()).toBe(429)
    expect((await signInAs(newBrowser())).status).toBe(429)
    expect(answerIn((await signInAs(known)).location).code).toMatch(/./)
  })

  test('has five guesses in 15 minutes, also in parallel, and gives no other browser more', async ({
    tenant,
    owner,
    known,
    attack,
    enterPasscode,
    failures,
    signInAs,
    newBrowser,
  }) => {
    const wrong = computeWrongTotp(owner.totp.secret)
    const page = await enterPasscode({ prompt: 'login' }, known)
    // Equal forms are judged once.
    const forms = Array.from({ length: 12 }, (_, index) => ({
      step: 'totp',
      code: wrong,
      index: String(index),
    }))
    await Promise.all(forms.map((form) => known.submit(page, form)))
    const reasons = (await failures()).map((detail) => detail?.reason)
    expect(reasons.filter((reason) => reason === 'wrong')).toHaveLength(5)
    expect((await signInAs(known)).status).toBe(429)
    expect(await attack()).toBe(429)
    await dbFor(tenant).secondFactorGuess.deleteMany({
      where: { tenantId: tenant, userId: owner.person.id, browser: { not: '' } },
    })
    // A right code in the known browser returns no guesses to others.
    expect(answerIn((await signInAs(known)).location).code).toMatch(/./)
    expect((await signInAs(newBrowser())).status).toBe(429)
  })

  test('is not recognized after a first proof only, or by another mark under its name', async ({
    ctx: _,
    known,
    owner,
    newBrowser,
    enterPasscode,
    attack,
    signInAs,
  }) => {
    const by = newBrowser()
    await enterPasscode({}, by)
    const firstMarks = nameMarks(by)
    expect(nameMarks(known).filter((name) => !firstMarks.includes(name)).length).toBeGreaterThan(0)
    expect(await attack(by)).toBe(429)
    expect(nameMarks(by)).toEqual(firstMarks)
    // A value is a MAC over the user and the kind of the mark: it counts under its own name only.
    const own = newBrowser()
    await enterPasscode({}, own)
    const [first = ''] = nameMarks(own).map((name) => own.cookies.get(name) ?? '')
    for (const name of nameMarks(known)) own.cookies.set(name, first)
    expect((await signInAs(own)).status).toBe(429)
    expect(owner.person.id).toMatch(/^user_/)
  })

  test('gets one mark, which a sign-in without a second factor does not give', async ({
    known,
    signInAs,
    newBrowser,
    newPerson,
    oidc,
  }) => {
    const before = nameMarks(known)
    await signInAs(known)
    expect(nameMarks(known)).toEqual(before)
    const plain = newBrowser()
    await oidc.signIn(plain, (await newPerson()).email)
    expect(nameMarks(plain)).toHaveLength(before.length - 1)
  })
})
