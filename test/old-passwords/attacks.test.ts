import { monitorEventLoopDelay } from 'node:perf_hooks'
import { bcrypt } from 'hash-wasm'
import { describe, expect } from 'vitest'
import { type Ctx, createPlatformCtx } from '../../src/context/context.ts'
import { RateLimited } from '../../src/core/errors.ts'
import { comparePassword, withRoomForComparison } from '../../src/old-passwords/compare-password.ts'
import { matchOldPassword, storeOldPasswords } from '../../src/old-passwords/old-passwords.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { setUserRoles } from '../../src/users/roles.ts'
import { lockUser, unlockUser } from '../../src/users/users.ts'
import { ctxFor, newTenant } from '../support/actors.ts'
import { dbFor } from '../support/database.ts'
import { openPage } from '../support/hosted-pages.ts'
import { answerIn, makeUser } from '../support/protocol.ts'
import { test as base, OLD_HASH, OLD_PASSWORD, startMigration } from '../support/sign-in-methods.ts'
import { importLines } from '../support/user-lines.ts'

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
      Array.from({ length: 60 }, () =>
        withRoomForComparison('attack', () => comparePassword('attack', 'y', slow)),
      ),
    )
    delay.disable()
    const rejected = guesses.filter((guess) => guess.status === 'rejected')
    expect(rejected).toHaveLength(60 - 12)
    expect(rejected.every(({ reason }) => reason instanceof RateLimited)).toBe(true)
    expect(delay.percentile(90) / 1e6).toBeLessThan(100)
  })

  test('of some tenants leave room for those of others, whose turn comes next', async ({ slow }) => {
    const order: string[] = []
    const guess = (tenant: string) =>
      withRoomForComparison(tenant, async () => {
        const isRight = await comparePassword(tenant, 'x', slow)
        order.push(tenant)
        return isRight
      })
    const flood = Promise.allSettled(
      ['flood', 'wave'].flatMap((tenant) => Array.from({ length: 30 }, () => guess(tenant))),
    )
    expect(await guess('neighbor')).toBe(true)
    expect(order.length).toBeLessThan(6)
    expect((await flood).filter(({ status }) => status === 'fulfilled')).toHaveLength(24)
  })

  test('are wrong where the hash cannot be compared, also at an unknown address', async ({ app: _ }) => {
    const tenant = await newTenant()
    const { id: userId } = await makeUser(tenant, 'ada@example.com')
    const ctx = createPlatformCtx(tenant)
    const { db } = ctx
    const hash = { kind: 'bcrypt', hash: '$2b$10$broken' } as const
    await db.transaction((tx) => storeOldPasswords(tx, [{ userId, hash }]))
    for (const owner of [userId, null])
      expect(await matchOldPassword(ctx, { userId: owner, address: 'ada@example.com' }, 'x')).toBeNull()
  })

  test('at an unknown address take a comparison, whose result does not count', async ({ app: _, slow }) => {
    const tenant = await newTenant()
    const { id } = await makeUser(tenant, 'ada@example.com')
    await startMigration(createPlatformCtx(tenant))
    const own = createPlatformCtx(tenant)
    const nobody = { userId: null, address: 'nobody@example.com' }
    // Nobody has a hash: nothing could tell addresses apart.
    expect(await matchOldPassword(own, nobody, 'x')).toBeNull()
    await own.db.transaction((tx) => storeOldPasswords(tx, [{ userId: id, hash: slow }]))
    // The comparison waits for that before it.
    const order: string[] = []
    await Promise.all([
      comparePassword(tenant, 'y', slow).then(() => order.push('before')),
      matchOldPassword(own, nobody, 'x').then((matched) => order.push(`nobody ${matched}`)),
    ])
    expect(order).toEqual(['before', 'nobody null'])
    expect(await matchOldPassword(own, { userId: id, address: 'ada@example.com' }, 'x')).not.toBeNull()
  })

  test('that are turned away by the queue are not counted', async ({
    ctx,
    tenant,
    person,
    browser,
    drivers,
    start,
  }) => {
    const attempt = await (await drivers.password.equip(person))(await start(), browser)
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const queue = Array.from({ length: 12 }, () => withRoomForComparison(tenant, () => held))
    expect((await attempt.presentWrong(browser)).status).toBe(429)
    release()
    await Promise.all(queue)
    expect(
      await ctx.db.prisma.passcode.count({
        where: { tenantId: tenant, address: person.email, origin: 'password' },
      }),
    ).toBe(0)
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

describe('an old password ends with', () => {
  const proof = { hash: { algorithm: 'sha256', value: OLD_HASH, encoding: 'base64' } }

  test.for<[what: string, act: (ctx: Ctx, userId: string) => Promise<unknown>]>([
    ['a management role of its user', (ctx, id) => setUserRoles(ctx, id, { roles: ['admin'] })],
    ['a lock of its user', async (ctx, id) => unlockUser(ctx, (await lockUser(ctx, id)).id)],
  ])('%s, and an import does not bring it back', async ([, act], { tenant, ctx, person }) => {
    await startMigration(ctx)
    const support = await ctxFor(tenant, ['users:read', 'users:write', 'credentials:write'])
    const matches = () => matchOldPassword(ctx, { userId: person.id, address: person.email }, OLD_PASSWORD)
    await importLines(support, [{ email: person.email, proof }])
    expect(await matches()).not.toBeNull()
    await act(ctx, person.id)
    expect(await matches()).toBeNull()
    await importLines(ctx, [{ email: person.email, proof }])
    expect(await matches()).toBeNull()
  })

  test('the first proof of the address, which a stranger may have registered elsewhere', async ({
    tenant,
    ctx,
    newBrowser,
    drivers,
    start,
    person,
  }) => {
    await updateSettings(ctx, { migrationEndsAt: null })
    const where = { tenantId_id: { tenantId: tenant, id: person.id } }
    await dbFor(tenant).user.update({ where, data: { emailVerified: false } })
    const owner = newBrowser()
    const code = await (await drivers.passcode.equip(person))(await start(owner), owner)
    await drivers.password.equip(person)
    // Without the rule of the next test.
    await updateSettings(ctx, { migrationEndsAt: null })
    expect(answerIn((await code.present(owner)).location).code).toMatch(/./)
    expect(
      await dbFor(tenant).oldPassword.findMany({ where: { tenantId: tenant, userId: person.id } }),
    ).toMatchObject([{ hash: null }])
  })

  test.for(['passcode', 'passkey', 'provider'] as const)(
    'a sign-in by %s while the tenant migrates',
    async (method, { tenant, newBrowser, drivers, start, person }) => {
      const user = newBrowser()
      const begin = await drivers[method].equip(person)
      await drivers.password.equip(person)
      const { location } = await (await begin(await start(user), user)).present(user)
      expect(answerIn(location).code).toMatch(/./)
      expect(
        await dbFor(tenant).oldPassword.findMany({ where: { tenantId: tenant, userId: person.id } }),
      ).toMatchObject([{ hash: null }])
    },
  )
})
