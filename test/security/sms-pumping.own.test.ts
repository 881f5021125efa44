import { randomBytes } from 'node:crypto'
import { beforeEach, describe, expect, vi } from 'vitest'
import { STORAGE_BUDGETS, takeStorage } from '../../src/coordination/storage-budgets.ts'
import { RateLimited } from '../../src/core/errors.ts'
import { renderMetrics } from '../../src/core/metrics.ts'
import { awaitDeliveries } from '../../src/delivery/background.ts'
import { verifySignInPasscode } from '../../src/passcodes/passcodes.ts'
import { sendPasscode, sendSignInPasscode } from '../../src/passcodes/send-passcode.ts'
import { listPossibleCountries } from '../../src/schema/phone-numbers.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { createUser } from '../../src/users/users.ts'
import { ctxFor, newTenant } from '../support/actors.ts'
import { test as base, openPage } from '../support/hosted-pages.ts'
import { lastText } from '../support/message-servers.ts'
import { newVisit } from '../support/visit.ts'

const servers = await vi.hoisted(async () =>
  (await import('../support/message-servers.ts')).startMessageServers(),
)
beforeEach(() => servers.reset())

let visits = 0
const readMetric = async (limit: string): Promise<number> => {
  const text = await (await renderMetrics()).text()
  return Number(new RegExp(`vestibule_limited_total\\{limit="${limit}"\\} (\\d+)`).exec(text)?.[1] ?? 0)
}

/** A tenant of its own, and what visitors of many networks request there. */
const test = base.extend('scene', async ({ app: _ }) => {
  const tenant = await newTenant()
  const ctx = await ctxFor(tenant)
  return {
    ctx,
    add: (phoneNumber: string) => createUser(ctx, { phoneNumber, phoneNumberVerified: true }),
    request: async (number: string, knownBrowser: string | null = null) => {
      const ip = `2001:db8:${++visits}::1`
      const visitor = { ...ctx, actor: { kind: 'anonymous' } as const, ip }
      const visit = newVisit(`pump-${visits}`, ip, knownBrowser)
      await sendSignInPasscode(visitor, number, visit)
      await awaitDeliveries()
      return { enter: (code: string) => verifySignInPasscode(visitor, number, code, visit) }
    },
    send: (number: string) => sendPasscode(ctx, 'sms', { to: number, createUser: true }),
  }
})

const countAccepted = async (numbers: string[], request: (number: string) => Promise<unknown>) => {
  const outcomes: boolean[] = []
  for (const number of numbers)
    outcomes.push(
      await request(number).then(
        () => true,
        (error) => {
          expect(error).toBeInstanceOf(RateLimited)
          return false
        },
      ),
    )
  return outcomes.filter(Boolean).length
}
const toNumbers = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, i) => `${prefix}${String(i).padStart(4, '0')}`)

describe('text messages to a range of numbers', () => {
  test('are limited by the prefix, over the API and the hosted pages, for known and unknown numbers', async ({
    scene,
  }) => {
    await updateSettings(scene.ctx, { smsPrefixLimit: 4 })
    expect(await countAccepted(toNumbers('+4179200', 6), scene.send)).toBe(4)
    expect(servers.texts).toHaveLength(4)
    // Of the same range: whether the number is known makes no difference.
    await expect(scene.request('+41792000000')).rejects.toThrow(RateLimited)
    await expect(scene.request('+41792009999')).rejects.toThrow(RateLimited)
    expect(servers.texts).toHaveLength(4)
    await scene.send('+41792010000')
    expect(servers.texts).toHaveLength(5)
  })

  test('are limited as soon for known numbers as for unknown ones', async ({ scene }) => {
    await updateSettings(scene.ctx, { smsPrefixLimit: 4 })
    const known = toNumbers('+4179300', 6)
    for (const number of known) await scene.add(number)
    expect(await countAccepted(known, scene.request)).toBe(4)
    expect(await countAccepted(toNumbers('+4179301', 6), scene.request)).toBe(4)
  })

  test('are not limited while their codes are used', async ({ scene }) => {
    await updateSettings(scene.ctx, { smsPrefixLimit: 2 })
    for (const number of toNumbers('+4179400', 5)) {
      await scene.add(number)
      const sent = await scene.request(number)
      const code = /^\d{6}/.exec(lastText(servers).body)?.[0] ?? 'none'
      await expect(sent.enter(code)).resolves.toHaveProperty('token')
    }
  })

  test('let no more through at once than the limit', async ({ scene }) => {
    await updateSettings(scene.ctx, { smsPrefixLimit: 4 })
    await Promise.allSettled(toNumbers('+4179500', 30).map(scene.send))
    expect(servers.texts.length).toBeLessThanOrEqual(4)
  })
})

describe('text messages of a day', () => {
  test('are limited for the tenant, and a fifth is kept for browsers in which a number signed in before', async ({
    scene,
  }) => {
    await updateSettings(scene.ctx, { smsDailyLimit: 10 })
    const numbers = Array.from({ length: 12 }, (_, i) => `+417960${i % 10}${String(i).padStart(4, '0')}`)
    const before = await readMetric('smsDay')
    expect(await countAccepted(numbers, scene.send)).toBe(8)
    expect((await readMetric('smsDay')) - before).toBe(4)
    expect(
      await countAccepted(numbers.slice(0, 4), (number) => scene.request(number, `browser-${number}`)),
    ).toBe(2)
    expect(servers.texts).toHaveLength(10)
  })

  test('are none with a limit of 0, and unlimited in another tenant', async ({ scene }) => {
    await updateSettings(scene.ctx, { smsDailyLimit: 0 })
    await expect(scene.send('+41797000000')).rejects.toThrow(RateLimited)
    const other = await ctxFor(await newTenant())
    await sendPasscode(other, 'sms', { to: '+41797000000', createUser: true })
    expect(servers.texts).toHaveLength(1)
  })
})

describe('text messages to countries', () => {
  test('go to those of the tenant only, which the API and the page say alike for every number', async ({
    scene,
  }) => {
    await updateSettings(scene.ctx, { smsCountries: ['CH', 'AT'] })
    await scene.add('+447911123456')
    const error = { status: 400, fields: [{ field: 'to', description: expect.stringContaining('country') }] }
    for (const number of ['+447911123456', '+447911123457', '+12425550123', '+883510001234567'])
      for (const request of [scene.send, scene.request])
        await expect(request(number)).rejects.toMatchObject(error)
    await scene.send('+436641234567')
    expect(servers.texts.map(({ body }) => body.to)).toEqual(['+436641234567'])
  })

  test.each([
    ['+18765551234', ['JM']],
    ['+12025550123', ['US']],
    ['+77012345678', ['KZ']],
    ['+883510001234567', []],
  ])('have %s in %j', (number, countries) => {
    expect(listPossibleCountries(number)).toEqual(countries)
  })
})

describe('a rejected text message', () => {
  test('is recorded with its reason and without the number, in the budget of the network', async ({
    ctx,
    events,
    email,
  }) => {
    await updateSettings(ctx, { smsCountries: ['CH'], smsPrefixLimit: 1 })
    await createUser(ctx, { email: email('x') })
    const caller = { ...ctx, ip: `2001:db8:${randomBytes(2).toString('hex')}::1` }
    const send = (to: string) => sendPasscode(caller, 'sms', { to, createUser: true }).catch(() => undefined)
    await send('+12025550123')
    await send('+41798000001')
    await send('+41798000002')
    await updateSettings(ctx, { smsDailyLimit: 0 })
    await send('+41798100001')
    const failed = await events({ type: 'signin.failed' })
    expect(failed.map(({ detail, userId }) => ({ ...(detail as object), userId }))).toEqual(
      ['country', 'prefix', 'daily'].map((reason) => ({
        method: 'passcode',
        channel: 'sms',
        reason,
        userId: null,
      })),
    )
    expect(JSON.stringify(failed)).not.toMatch(/4179800|2025550/)
    const { rows } = STORAGE_BUDGETS.rejection.network
    await takeStorage('rejection', caller, { rows: rows - 5, bytes: 0 })
    for (let i = 0; i < 10; i++) await send('+12025550123')
    expect((await events({ type: 'signin.failed' })).length).toBeLessThan(3 + 10)
    await updateSettings(ctx, { smsCountries: null, smsPrefixLimit: null, smsDailyLimit: null })
  })

  test('is answered on the page with the way on', async ({ ctx, oidc, newBrowser }) => {
    await updateSettings(ctx, { smsCountries: ['CH'] })
    const browser = newBrowser()
    const page = await openPage(browser, oidc.authorizePath())
    const country = await browser.submit(page, { step: 'email', address: '+1 202 555 0123' })
    expect(await country.response.text()).toContain('We can’t send text messages to this country.')
    await updateSettings(ctx, { smsCountries: null, smsDailyLimit: 0 })
    const daily = await browser.submit(await openPage(browser, page.path), {
      step: 'email',
      address: '+1 202 555 0123',
    })
    expect(daily.response.status).toBe(429)
    expect(await daily.response.text()).toMatch(/Too many attempts\. Try again in/)
    await updateSettings(ctx, { smsDailyLimit: null })
  })
})
