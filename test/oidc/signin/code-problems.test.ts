import { describe, expect } from 'vitest'
import { lockUser } from '../../../src/users/users.ts'
import { resetCooldown } from '../../support/account.ts'
import { dbFor, sql } from '../../support/database.ts'
import { test as base, interactionAt, openPage } from '../../support/hosted-pages.ts'

const test = base
  /** Shows what the page says after a code was entered. */
  .extend(
    'enter',
    ({ newBrowser, atCode }) =>
      async (address: string, codes: string[], between = async () => {}) => {
        const by = newBrowser()
        let page = await atCode(by, address)
        const messages: (string | undefined)[] = []
        for (const code of codes) {
          await between()
          const { response } = await by.submit(page, { step: 'code', code })
          messages.push(/role="alert">([^<]*)</.exec(await response.text())?.[1])
          page = await openPage(by, page.path)
        }
        return messages
      },
  )
  .extend('newAddresses', ({ ctx, email, newPerson }) => async (name: string) => {
    const known = await newPerson({ email: email(`${name}-known`) })
    const locked = await newPerson({ email: email(`${name}-locked`) })
    await lockUser(ctx, locked.id)
    return { known, locked, addresses: [known.email, locked.email, email(`${name}-unknown`)] }
  })

const WRONG = 'That code is wrong. Check it, and use the newest message.'
const EXPIRED = 'That code has expired or was used. Request a new one.'
const EXHAUSTED = 'Too many attempts with this code. It no longer works: request a new one.'

describe('the page that asks for the code', () => {
  test('distinguishes wrong and exhausted codes, alike for known, locked and unknown addresses', async ({
    enter,
    inbox,
    newAddresses,
  }) => {
    const { known, addresses } = await newAddresses('tries')
    for (const address of addresses) {
      const wrong = ['000', '000', '000', '000', '000', '000']
      expect(await enter(address, wrong)).toEqual([WRONG, WRONG, WRONG, WRONG, WRONG, EXHAUSTED])
    }
    expect(await inbox.list(known.email)).toHaveLength(1)
  })

  test('does not say how long a code works that no longer works', async ({ browser, atCode }) => {
    const page = await atCode()
    expect(page.html).toContain('It works for 10 minutes.')
    const read = async () => {
      const shown = await openPage(browser, page.path)
      return (await browser.submit(shown, { step: 'code', code: '000' })).response.text()
    }
    for (let i = 0; i < 5; i++) expect(await read()).toContain('It works for 10 minutes.')
    const exhausted = await read()
    expect(exhausted).toContain(EXHAUSTED)
    expect(exhausted).not.toContain('It works for 10 minutes.')
  })

  test('says that a new code was sent, alike for known and unknown addresses', async ({
    tenant,
    email,
    newBrowser,
    newAddresses,
    atCode,
  }) => {
    const { known } = await newAddresses('resent')
    for (const address of [known.email, email('resent-unknown')]) {
      const by = newBrowser()
      const page = await atCode(by, address)
      expect(page.html).not.toContain('a new code is on its way')
      const early = await by.submit(page, { step: 'resend' })
      expect(await early.response.text()).not.toContain('a new code is on its way')
      await resetCooldown(tenant, address)
      const where = interactionAt(tenant, page.path)
      const { progress } = await dbFor(tenant).interaction.findUniqueOrThrow({ where })
      const data = { progress: { ...(progress as object), sentAt: new Date(0).toISOString() } }
      await dbFor(tenant).interaction.update({ where, data })
      const late = await by.submit(await openPage(by, page.path), { step: 'resend' })
      expect(await late.response.text()).toContain('a new code is on its way')
    }
  })

  test('calls the right code exhausted after five wrong ones, not wrong', async ({
    inbox,
    person,
    browser,
    atCode,
  }) => {
    const page = await atCode()
    for (const code of ['0', '00', '000', '0000', '00000']) await browser.submit(page, { step: 'code', code })
    const code = await inbox.codeFor(person.email)
    const { response } = await browser.submit(page, { step: 'code', code })
    expect(await response.text()).toContain(EXHAUSTED)
  })

  test('says that a code has expired, alike for known, locked and unknown addresses', async ({
    tenant,
    enter,
    newAddresses,
  }) => {
    const { addresses } = await newAddresses('late')
    const expire = () =>
      sql(`UPDATE "Passcode" SET "expiresAt" = now() WHERE "tenantId" = $1 AND "codeHash" IS NOT NULL`, [
        tenant,
      ]).then(() => undefined)
    for (const address of addresses) expect(await enter(address, ['000'], expire)).toEqual([EXPIRED])
  })

  test('answers a user who is locked after the code was sent as an unknown address', async ({
    ctx,
    person,
    enter,
  }) => {
    const lock = () => lockUser(ctx, person.id).then(() => undefined)
    expect(await enter(person.email, ['000'], lock)).toEqual([WRONG])
  })
})

describe('a failed sign-in', () => {
  test('is recorded under the user with client, channel and reason', async ({
    client,
    events,
    enter,
    newAddresses,
  }) => {
    const { known, locked, addresses } = await newAddresses('log')
    for (const address of addresses) await enter(address, ['0', '0', '0', '0', '0', '0'])
    const failed = (await events({ type: 'signin.failed' })).filter(
      ({ userId }) => userId === known.id || userId === locked.id,
    )
    const list = (id: string) =>
      failed.filter(({ userId }) => userId === id).map(({ subjectIds, detail }) => [subjectIds, detail])
    const toEntry = (reason: string) => [[client.id], { method: 'passcode', channel: 'email', reason }]
    expect(list(known.id)).toEqual([
      ...Array.from({ length: 5 }, () => toEntry('wrong')),
      toEntry('exhausted'),
    ])
    // The first entry is the request of a code, which was not sent.
    expect(list(locked.id)).toEqual(Array.from({ length: 7 }, () => toEntry('locked')))
  })

  test('of an unknown address is recorded without the address', async ({ email, events, enter }) => {
    const before = (await events({ type: 'signin.failed' })).length
    await enter(email('who-is-this'), ['0'])
    const entries = (await events({ type: 'signin.failed' })).slice(before)
    expect(entries.map(({ userId, detail }) => [userId, detail?.reason])).toEqual([
      [null, 'unknown'],
      [null, 'unknown'],
    ])
    expect(JSON.stringify(entries)).not.toContain('who-is-this')
  })
})
