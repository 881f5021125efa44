import { describe, expect } from 'vitest'
import { awaitDeliveries } from '../../../src/delivery/background.ts'
import { listInboxMessages } from '../../../src/delivery/inbox.ts'
import { updateSettings } from '../../../src/tenants/settings.ts'
import { createCredential } from '../../support/authenticator.ts'
import { dbFor } from '../../support/database.ts'
import type { Page } from '../../support/hosted-pages.ts'
import type { Passkey } from '../../support/passkeys.ts'
import { test as base, readCreationOptions } from '../../support/passkeys.ts'
import { answerIn, codeFor } from '../../support/protocol.ts'

/** Flags of a passkey that may be backed up: at its creation, and at a sign-in (user present and verified). */
const [CREATED_ELIGIBLE, ELIGIBLE] = [0b0100_1101, 0b0000_1101]
const CHANGED = 'This passkey has changed and is no longer accepted.'
const OFFER = '<h1>Sign in faster next time</h1>'
const REPLACE = '<h1>Replace your passkey</h1>'

const test = base
  .extend(
    'failures',
    ({ events, person }) =>
      async () =>
        (await events({ type: 'signin.failed', userId: person.id })).map(({ detail }) => detail?.reason),
  )
  .extend(
    'decreases',
    ({ events, person }) =>
      async () =>
        (await events({ type: 'credential.counter_decreased', userId: person.id })).map(
          ({ subjectIds, detail }) => [subjectIds, detail],
        ),
  )
  /** Continues by a code on a page that shows the entry of an address, in a browser that can create passkeys. */
  .extend('continueByCode', ({ browser }) => async (page: Page, address: string) => {
    const code = await browser.submit(page, { step: 'email', address, platform: '1' })
    const entry = { html: await code.response.text(), path: code.path }
    const next = await browser.submit(entry, { step: 'code', code: await codeFor(address) })
    return { html: await next.response.text(), path: next.path, location: next.location }
  })
  .extend(
    'listPasskeys',
    ({ tenant, person }) =>
      async () =>
        (await dbFor(tenant).credential.findMany({ where: { tenantId: tenant, userId: person.id } })).map(
          ({ id }) => id,
        ),
  )

describe('a passkey whose backup eligibility is another than at its creation', () => {
  test.for([
    ['now eligible', undefined, { flags: ELIGIBLE }],
    ['no longer eligible', { flags: CREATED_ELIGIBLE }, {}],
  ] as const)(
    'is rejected with its cause, and replaced after a sign-in by a code: %s',
    async ([, created, presented], {
      tenant,
      person,
      passkeys,
      browser,
      failures,
      events,
      continueByCode,
      listPasskeys,
    }) => {
      const passkey = await passkeys.enroll(person.id, created)
      const page = await passkeys.present(await passkeys.start(), passkey, presented)
      expect(page.html.split(CHANGED)).toHaveLength(2)
      expect(page.location).toBeNull()
      expect(await failures()).toEqual(['eligibility'])
      const offer = await continueByCode(page, person.email)
      expect(offer.html).toContain(REPLACE)
      const options = readCreationOptions(offer.html)
      const { response } = createCredential(options, { flags: CREATED_ELIGIBLE })
      const done = await browser.submit(offer, {
        step: 'create-passkey',
        registration: JSON.stringify(response),
      })
      expect(answerIn(done.location).code).toMatch(/./)
      const [left, ...others] = await listPasskeys()
      expect([left === passkey.credentialId, others]).toEqual([false, []])
      const revoked = await events({ type: 'credential.revoked', userId: person.id })
      expect(revoked.map(({ subjectIds }) => subjectIds)).toEqual([[passkey.credentialId]])
      await awaitDeliveries()
      expect(listInboxMessages(person.email).map(({ subject }) => subject)).toEqual(
        expect.arrayContaining(
          ['added to', 'removed from'].map((change) => `A passkey was ${change} your account at ${tenant}`),
        ),
      )
    },
  )

  test('is offered to be replaced also where passkeys are not offered, and kept when the user declines', async ({
    ctx,
    person,
    passkeys,
    browser,
    continueByCode,
    listPasskeys,
  }) => {
    await updateSettings(ctx, { offerPasskey: false })
    const passkey = await passkeys.enroll(person.id)
    const page = await passkeys.present(await passkeys.start(), passkey, { flags: ELIGIBLE })
    const offer = await continueByCode(page, person.email)
    await updateSettings(ctx, { offerPasskey: true })
    expect(offer.html).toContain(REPLACE)
    const { location } = await browser.submit(offer, { step: 'later' })
    expect(answerIn(location).code).toMatch(/./)
    expect(await listPasskeys()).toEqual([passkey.credentialId])
  })

  test('opens no offer to another user, or without its key', async ({
    person,
    newPerson,
    passkeys,
    browser,
    continueByCode,
    failures,
  }) => {
    const [passkey, other] = [await passkeys.enroll(person.id), await newPerson()]
    const ofOther = await passkeys.enroll(other.id)
    const forged = { id: passkey.id, privateKey: ofOther.privateKey }
    const first = await passkeys.present(await passkeys.start(), forged, { flags: ELIGIBLE })
    expect(first.html).not.toContain(CHANGED)
    expect(await failures()).toEqual(['rejected'])
    const page = await passkeys.present(first, passkey, { flags: ELIGIBLE })
    expect(page.html).toContain(CHANGED)
    expect(answerIn((await continueByCode(page, other.email)).location).code).toMatch(/./)
    // Another user has nothing to replace, and is offered a passkey as always.
    browser.cookies.clear()
    const again = await passkeys.present(await passkeys.start(), passkey, { flags: ELIGIBLE })
    expect((await continueByCode(again, (await newPerson()).email)).html).toContain(OFFER)
  })
})

describe('a counter that is not above that of the last use', () => {
  test('is recorded for a synchronized passkey, which is accepted', async ({
    tenant,
    person,
    newBrowser,
    passkeys,
    decreases,
    failures,
  }) => {
    const passkey = await passkeys.enroll(person.id, { flags: CREATED_ELIGIBLE })
    const use = async (counter: number) => {
      const by = newBrowser()
      const over = { counter, flags: ELIGIBLE }
      return answerIn((await passkeys.present(await passkeys.start(by), passkey, over, by)).location).code
    }
    for (const counter of [5, 4, 4, 0, 6]) expect(await use(counter)).toMatch(/./)
    const ids = [passkey.credentialId]
    expect(await decreases()).toEqual([
      [ids, { from: 5, to: 4 }],
      [ids, { from: 4, to: 4 }],
      [ids, { from: 4, to: 0 }],
    ])
    expect(await failures()).toEqual([])
    const where = { tenantId: tenant, id: passkey.credentialId }
    expect((await dbFor(tenant).credential.findFirst({ where }))?.signCount).toBe(6n)
  })

  test('of a synchronized passkey lets one assertion in once, also 10 times at once', async ({
    person,
    browser,
    passkeys,
  }) => {
    const passkey = await passkeys.enroll(person.id, { flags: CREATED_ELIGIBLE })
    const present = async (page: Page, counter: number) =>
      passkeys.present(page, passkey, { counter, flags: ELIGIBLE })
    await present(await passkeys.start(), 9)
    browser.cookies.clear()
    const page = await passkeys.start()
    const answers = await Promise.all(Array.from({ length: 10 }, () => present(page, 3)))
    expect(answers.filter(({ location }) => location !== null && answerIn(location).code)).toHaveLength(1)
  })

  test('is rejected for a passkey of one device, also from before the eligibility was stored', async ({
    tenant,
    person,
    newBrowser,
    passkeys,
    decreases,
    failures,
  }) => {
    const use = async (passkey: Passkey, counter: number) => {
      const by = newBrowser()
      const { location } = await passkeys.present(await passkeys.start(by), passkey, { counter }, by)
      return location === null ? null : answerIn(location).code
    }
    const passkey = await passkeys.enroll(person.id)
    await dbFor(tenant).credential.updateMany({
      where: { tenantId: tenant, id: passkey.credentialId },
      data: { backupEligible: null },
    })
    expect(await use(passkey, 5)).toMatch(/./)
    expect(await use(passkey, 4)).toBeNull()
    const by = newBrowser()
    const copy = await passkeys.present(
      await passkeys.start(by),
      passkey,
      { counter: 4, flags: ELIGIBLE },
      by,
    )
    expect(copy.location).toBeNull()
    expect([await failures(), await decreases()]).toEqual([['cloned', 'eligibility'], []])
  })
})
