import { monitorEventLoopDelay } from 'node:perf_hooks'
import { bcrypt } from 'hash-wasm'
import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import { RateLimited } from '../../src/core/errors.ts'
import { comparePassword } from '../../src/old-passwords/compare-password.ts'
import { matchOldPassword, storeOldPasswords } from '../../src/old-passwords/old-passwords.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { newTenant } from '../support/actors.ts'
import { openPage } from '../support/hosted-pages.ts'
import { answerIn, makeUser } from '../support/protocol.ts'
import { test as base, OLD_PASSWORD, startMigration } from '../support/sign-in-methods.ts'

const test = base.extend('slow', { scope: 'worker' }, async () => ({
  kind: 'bcrypt' as const,
  hash: await bcrypt({ password: 'x', salt: Buffer.alloc(16, 1), costFactor: 9, outputType: 'encoded' }),
}))

describe('guesses at old passwords', () => {
  test('leave the event loop free, and are turned away when too many wait', async ({ slow }) => {
    const delay = monitorEventLoopDelay({ resolution: 5 })
    // The thread starts before the measurement.
    await comparePassword('attack', 'y', slow)
    delay.enable()
    const guesses = await Promise.allSettled(
      Array.from({ length: 60 }, () => comparePassword('attack', 'y', slow)),
    )
    delay.disable()
    const rejected = guesses.filter((guess) => guess.status === 'rejected')
    // One is compared, and twelve of a tenant wait.
    expect(rejected).toHaveLength(60 - 13)
    expect(rejected.every(({ reason }) => reason instanceof RateLimited)).toBe(true)
    expect(delay.percentile(90) / 1e6).toBeLessThan(100)
  })

  test('of one tenant leave room for those of others', async ({ slow }) => {
    const flood = Promise.allSettled(Array.from({ length: 30 }, () => comparePassword('flood', 'y', slow)))
    expect(await comparePassword('neighbor', 'x', slow)).toBe(true)
    await flood
  })

  test('at an unknown address take a comparison, whose result does not count', async ({ app: _, slow }) => {
    const tenant = await newTenant()
    const { id } = await makeUser(tenant, 'ada@example.com')
    await startMigration(createPlatformCtx(tenant))
    const own = createPlatformCtx(tenant).db
    const nobody = { userId: null, address: 'nobody@example.com' }
    // Nobody has a hash: nothing could tell addresses apart.
    expect(await matchOldPassword(own, nobody, 'x')).toBeNull()
    await own.transaction((tx) => storeOldPasswords(tx, [{ userId: id, hash: slow }]))
    const waits = Array.from({ length: 20 }, () => matchOldPassword(own, nobody, 'x'))
    const results = await Promise.allSettled(waits)
    expect(results.some((result) => result.status === 'rejected')).toBe(true)
    expect(
      results.filter((result) => result.status === 'fulfilled').every(({ value }) => value === null),
    ).toBe(true)
    expect(await matchOldPassword(own, { userId: id, address: 'ada@example.com' }, 'x')).not.toBeNull()
  })

  test('are limited by address, also when the person knows the password then', async ({
    person,
    browser,
    drivers,
    start,
    inbox,
  }) => {
    const attempt = await (await drivers.password.equip(person))(await start(), browser)
    // Another password each time: a form that is sent again is not judged again.
    for (let guess = 0; guess < 9; guess++)
      expect((await attempt.presentWrong(browser, `wrong ${guess}`)).status).toBe(200)
    const { status, html } = await attempt.present(browser)
    expect(status).toBe(429)
    expect(html).toContain('Use a code instead')
    // The code is a way that guesses at the password do not close.
    const code = await openPage(browser, /href="([^"]+\/code)"/.exec(html)?.[1] ?? '')
    const { location } = await browser.submit(code, { step: 'code', code: await inbox.codeFor(person.email) })
    expect(answerIn(location).code).toMatch(/./)
  })

  test('are offered for every address while the tenant migrates, and for none afterwards', async ({
    ctx,
    person,
    newBrowser,
    drivers,
    start,
    events,
  }) => {
    const begin = await drivers.password.equip(person)
    const [first, second] = [newBrowser(), newBrowser()]
    const attempt = await begin(await start(first), first)
    for (const address of [person.email, 'nobody@example.com']) {
      const page = await second.submit(await start(second), { step: 'email', address })
      expect(await page.response.text()).toContain('Use your old password')
    }
    await updateSettings(ctx, { migrationEndsAt: new Date(Date.now() - 1000).toISOString() })
    expect((await attempt.present(first)).location).toBeNull()
    const page = await second.submit(await start(second), { step: 'email', address: person.email })
    expect(await page.response.text()).not.toContain('Use your old password')
    expect(await events({ type: 'credential.migrated', userId: person.id })).toEqual([])
  })
})

describe('a sign-in by an old password', () => {
  test('records the migration, takes the password, and leaves neither in the log', async ({
    person,
    newBrowser,
    drivers,
    start,
    events,
  }) => {
    const begin = await drivers.password.equip(person)
    const [first, second] = [newBrowser(), newBrowser()]
    const attempt = await begin(await start(first), first)
    const rival = await begin(await start(second), second)
    const visits = await Promise.all([attempt.present(first), rival.present(second)])
    expect(visits.filter(({ location }) => location !== null)).toHaveLength(1)
    const migrated = (await events({ type: 'credential.migrated' })).filter(
      ({ userId }) => userId === person.id,
    )
    expect(migrated).toMatchObject([{ userId: person.id, detail: { algorithm: 'digest' } }])
    expect(JSON.stringify(await events())).not.toContain(OLD_PASSWORD)
  })
})
