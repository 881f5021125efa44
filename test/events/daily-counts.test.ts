import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import { type Ctx, createPlatformCtx } from '../../src/context/context.ts'
import { SYSTEM_TENANT } from '../../src/core/scopes.ts'
import { system } from '../../src/database/system.ts'
import { createEvent } from '../../src/events/create-event.ts'
import { countEvents } from '../../src/events/daily-counts/daily-counts.sql.ts'
import { getDailyCounts } from '../../src/events/daily-counts/daily-counts.ts'
import { recordEvents } from '../../src/events/log.ts'
import { countNewEvents } from '../../src/jobs/daily-counts.ts'
import { SECOND_FACTORS, SIGN_IN_METHODS } from '../../src/model/sign-in-methods.ts'
import { reauthenticateSession, startBrowserSession, startSession } from '../../src/sessions/sessions.ts'
import { deleteTenant } from '../../src/tenants/tenants.ts'
import { createUser } from '../../src/users/users.ts'
import { ctxFor, newTenant } from '../support/actors.ts'
import { sql } from '../support/database.ts'
import { test as base } from '../support/fixtures.ts'
import { toFieldNames } from '../support/issues.ts'
import { answerIn } from '../support/protocol.ts'
import { countStatements } from '../support/statements.ts'

const CODE = { method: 'passcode', amr: ['otp'] } as const
const PASSKEY = { method: 'passkey', amr: ['hwk'] } as const
const failWith = (method: 'passcode' | 'passkey' | 'totp') =>
  createEvent('signin.failed', { userId: null }, { method, reason: 'wrong' })

const countToday = async (ctx: Ctx) => (await getDailyCounts(ctx, {})).at(-1)
const readUncounted = (tenant: string) =>
  sql<object>(`SELECT "kind", "method" FROM "UncountedEvent" WHERE "tenantId" = $1 ORDER BY "id"`, [tenant])
const noMethods = {
  total: 0,
  ...Object.fromEntries([...SIGN_IN_METHODS, ...SECOND_FACTORS].map((method) => [method, 0])),
  unknown: 0,
}

/** A tenant of each test, with a user. */
const test = base.extend('own', async ({ app: _ }) => {
  const ctx = await ctxFor(await newTenant())
  const { id: userId } = await createUser(ctx, { name: 'Ada' })
  return { ctx, userId }
})

describe('the daily counts', () => {
  test.for([...SIGN_IN_METHODS, ...SECOND_FACTORS])(
    'count a sign-in and a failure by %s',
    async (method, { own }) => {
      const { ctx, userId } = own
      await startBrowserSession(ctx.db, ctx, { userId, proof: { method, amr: ['otp'] } })
      await recordEvents(ctx.db, ctx, [createEvent('signin.failed', { userId }, { method, reason: 'wrong' })])
      const methods = { ...noMethods, total: 1, [method]: 1 }
      expect(await countToday(ctx)).toMatchObject({ signIns: methods, failedSignIns: methods, newUsers: 1 })
    },
  )

  test('count a sign-in by two factors by the first one, a repeated one, and one through the API', async ({
    own,
  }) => {
    const { ctx, userId } = own
    const first = { ...CODE, amr: ['otp'], at: new Date().toISOString() }
    const { session } = await startBrowserSession(ctx.db, ctx, {
      userId,
      first,
      proof: { method: 'totp', amr: ['otp'] },
    })
    await reauthenticateSession(ctx.db, ctx, {
      sessionId: session.id,
      userId,
      proof: { ...PASSKEY, amr: ['hwk'] },
    })
    const expiresAt = new Date(Date.now() + 60_000)
    const start = { userId, expiresAt, refreshable: false }
    await startSession(ctx.db, ctx, { ...start, kind: 'api', proof: { ...CODE, amr: ['otp'] } })
    await startSession(ctx.db, ctx, { ...start, kind: 'oidc', parentId: session.id, proof: null })
    expect((await countToday(ctx))?.signIns).toEqual({ ...noMethods, total: 3, passcode: 2, passkey: 1 })
  })

  test('count a sign-in on the hosted pages once, and nothing of the requests that follow it', async ({
    tenant,
    ctx,
    oidc,
    newPerson,
    newBrowser,
  }) => {
    const person = await newPerson()
    const before = await countToday(ctx)
    const browser = newBrowser()
    const { location } = await oidc.signIn(browser, person.email, { scope: 'openid offline_access' })
    const counted = await readUncounted(tenant)
    expect(counted.at(-1)).toEqual({ kind: 'sign-in', method: 'passcode' })
    const tokens = await oidc.exchange(String(answerIn(location).code))
    await oidc.refresh(String(tokens.body.refresh_token))
    await oidc.userinfo(String(tokens.body.access_token))
    await browser.open(oidc.authorizePath({ prompt: 'none' }))
    expect(tokens.status).toBe(200)
    expect(await readUncounted(tenant)).toEqual(counted)
    const after = await countToday(ctx)
    expect(Number(after?.signIns.total) - Number(before?.signIns.total)).toBe(1)
  })

  test('do not count what is rolled back', async ({ own }) => {
    const { ctx, userId } = own
    const failing = ctx.db.transaction(async (tx) => {
      await startBrowserSession(tx, ctx, { userId, proof: { ...CODE, amr: ['otp'] } })
      throw new Error('rolled back')
    })
    await expect(failing).rejects.toThrow('rolled back')
    expect((await countToday(ctx))?.signIns).toEqual(noMethods)
  })

  test('let concurrent sign-ins commit without waiting for each other', async ({ own }) => {
    const { ctx, userId } = own
    let entered = 0
    // Each transaction stays open until all of them have recorded their sign-in.
    const signIn = () =>
      ctx.db.transaction(async (tx) => {
        await startBrowserSession(tx, ctx, { userId, proof: { ...CODE, amr: ['otp'] } })
        entered += 1
        while (entered < 5) await sleep(5)
      })
    await Promise.all(Array.from({ length: 5 }, signIn))
    expect((await countToday(ctx))?.signIns.passcode).toBe(5)
  })

  test('are exact while sign-ins, rollbacks, the job and readers run at the same time', async ({ own }) => {
    const { ctx, userId } = own
    const signIn = async (_: unknown, index: number) => {
      const isKept = index % 5 > 0
      await ctx.db
        .transaction(async (tx) => {
          await startBrowserSession(tx, ctx, { userId, proof: { ...PASSKEY, amr: ['hwk'] } })
          await recordEvents(tx, ctx, [failWith('passkey')])
          if (!isKept) throw new Error('rolled back')
        })
        .catch(() => undefined)
      return isKept
    }
    let isDone = false
    const totals: number[] = []
    const read = async () => {
      while (!isDone) totals.push((await countToday(ctx))?.signIns.total ?? 0)
    }
    const count = async () => {
      while (!isDone) await countNewEvents()
    }
    const others = [read(), count(), count()]
    const kept = (await Promise.all(Array.from({ length: 50 }, signIn))).filter(Boolean).length
    isDone = true
    await Promise.all(others)
    expect(totals).toEqual([...totals].sort((a, b) => a - b))
    for (const _ of ['as it is', 'after the job']) {
      expect(await countToday(ctx)).toMatchObject({
        signIns: { total: kept, passkey: kept },
        failedSignIns: { total: kept, passkey: kept },
        newUsers: 1,
      })
      await countNewEvents()
    }
    expect(await readUncounted(ctx.tenant)).toEqual([])
  })

  test('take no statement more than the event, and one to be read', async ({ own }) => {
    const { ctx, userId } = own
    const signIn = () => startBrowserSession(ctx.db, ctx, { userId, proof: { ...CODE, amr: ['otp'] } })
    expect(await countStatements(signIn)).toBe(1)
    expect(await countStatements(() => recordEvents(ctx.db, ctx, [failWith('totp'), failWith('totp')]))).toBe(
      1,
    )
    expect(await countStatements(() => getDailyCounts(ctx, { from: '2026-01-01' }))).toBe(1)
  })

  test('end with the tenant', async ({ own }) => {
    const { ctx } = own
    await countNewEvents()
    await recordEvents(ctx.db, ctx, [failWith('passcode')])
    await deleteTenant(createPlatformCtx(SYSTEM_TENANT), ctx.tenant)
    expect(await readUncounted(ctx.tenant)).toEqual([])
    expect(await sql(`SELECT FROM "DailyCount" WHERE "tenantId" = $1`, [ctx.tenant])).toEqual([])
  })

  test('end with a tenant whose first events are being counted while it is deleted', async ({ own }) => {
    const { ctx } = own
    let deletion: Promise<void> | undefined
    await system.transaction(async (tx) => {
      await countEvents(tx, 100_000)
      deletion = deleteTenant(createPlatformCtx(SYSTEM_TENANT), ctx.tenant)
      // Long enough for the deletion to wait for the job.
      await sleep(300)
    })
    await deletion
    expect(await sql(`SELECT 1 FROM "DailyCount" WHERE "tenantId" = $1`, [ctx.tenant])).toEqual([])
  })

  test('are of one tenant, and of days in UTC', async ({ own }) => {
    const { ctx } = own
    const other = await ctxFor(await newTenant())
    expect(await countToday(other)).toMatchObject({ newUsers: 0 })
    for (const [at, method] of [
      ['2026-02-28T23:59:59.999Z', 'passcode'],
      ['2026-03-01T00:00:00.000Z', 'passkey'],
    ])
      await sql(
        `INSERT INTO "Event" ("tenantId", "id", "type", "occurredAt", "detail") VALUES ($1, $3, 'signin.failed', $2, jsonb_build_object('method', $3::text))`,
        [ctx.tenant, at, method],
      )
    const days = await getDailyCounts(ctx, { from: '2026-02-28', to: '2026-03-01' })
    expect(
      days.map(({ day, failedSignIns: { total, passcode, passkey } }) => [day, total, passcode, passkey]),
    ).toEqual([
      ['2026-02-28', 1, 1, 0],
      ['2026-03-01', 1, 0, 1],
    ])
  })

  test('count a sign-in of an earlier version, whose method is not known', async ({ own }) => {
    await sql(
      `INSERT INTO "Event" ("tenantId", "id", "type", "detail") VALUES ($1, 'e', 'session.started', '{"kind": "browser"}')`,
      [own.ctx.tenant],
    )
    expect((await countToday(own.ctx))?.signIns).toEqual({ ...noMethods, total: 1, unknown: 1 })
  })
})

describe('the period of daily counts', () => {
  const today = () => new Date().toISOString().slice(0, 10)

  test.for<[given: object, days: number, first: string | null, last: string]>([
    [{}, 30, null, today()],
    [{ from: null, to: null }, 30, null, today()],
    [{ to: '2026-03-01' }, 30, '2026-01-31', '2026-03-01'],
    [{ from: '2026-01-31' }, 30, '2026-01-31', '2026-03-01'],
    [{ from: '2024-02-28', to: '2024-03-01' }, 3, '2024-02-28', '2024-03-01'],
    [{ from: '2026-03-01', to: '2026-03-01' }, 1, '2026-03-01', '2026-03-01'],
    [{ from: '2025-01-01', to: '2026-02-04' }, 400, '2025-01-01', '2026-02-04'],
    [{ from: '9999-12-30' }, 2, '9999-12-30', '9999-12-31'],
    [{ to: '0000-01-02' }, 2, '0000-01-01', '0000-01-02'],
  ])('is of %j', async ([given, length, first, last], { ctx }) => {
    const days = await getDailyCounts(ctx, given)
    expect(days).toHaveLength(length)
    if (first !== null) expect(days[0]?.day).toBe(first)
    expect(days.at(-1)?.day).toBe(last)
  })

  test.for([
    [{ from: '2026-03-02', to: '2026-03-01' }, 'to'],
    [{ from: '2025-01-01', to: '2026-02-05' }, 'to'],
    [{ from: '2026-02-30' }, 'from'],
    [{ to: '2026-3-1' }, 'to'],
    [{ to: '2026-03-01T00:00:00Z' }, 'to'],
  ] as const)('is not of %j', async ([given, field], { rest, gql }) => {
    const answer = await rest('GET', `/daily-counts?${new URLSearchParams(given)}`)
    expect([answer.status, toFieldNames(answer.body.fields)]).toEqual([400, [field]])
    const query = 'query ($from: String, $to: String) { dailyCounts(from: $from, to: $to) { day } }'
    const { body } = await gql(query, given)
    expect(toFieldNames(body.errors?.[0]?.extensions.fields)).toEqual([field])
  })
})
