import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import { EVENTS_TOPIC, subscribe } from '../../src/coordination/bus.ts'
import { newId } from '../../src/core/crypto.ts'
import type { Db } from '../../src/database/handle.ts'
import { onInserted } from '../../src/database/insertions.ts'
import { statement } from '../../src/database/statement.ts'
import { createEvent } from '../../src/events/create-event.ts'
import { recordEvents } from '../../src/events/log.ts'
import { test } from '../support/fixtures.ts'
import { recordStatements } from '../support/statements.ts'

const INSERT_USER = statement({ takes: { id: 'text', name: 'text' }, returns: { id: 'text' } })`
  INSERT INTO "User" ("tenantId", "id", "name", "updatedAt") VALUES (:tenant, :id, :name, now()) RETURNING "id"`
const INSERT_NAMED_USER = statement({
  takes: { id: 'text', name: 'text' },
  returns: { id: 'text' },
  hasInserted: (rows) => rows.length > 0,
})`
  INSERT INTO "User" ("tenantId", "id", "name", "updatedAt") SELECT :tenant, :id, :name, now() WHERE :name <> '' RETURNING "id"`
const SELECT_USER = statement({ takes: { id: 'text' }, returns: { name: 'text?' } })`
  SELECT "name" FROM "User" WHERE "tenantId" = :tenant AND "id" = :id`

const insertUser = (db: Db, name = 'Ada'): Promise<{ id: string } | null> =>
  db.one(INSERT_USER, { id: newId('user'), name })

/** Records when the rows of a table are announced for the tenant. */
function listenTo(table: string, tenant: string): string[] {
  const heard: string[] = []
  onTestFinished(onInserted(table, (inserted) => inserted === tenant && heard.push(table)))
  return heard
}

const fail = (): never => {
  throw new Error('the work failed')
}

describe('a transaction', () => {
  test('announces what its statements have inserted once, after the commit', async ({ ctx, tenant }) => {
    const heard = listenTo('User', tenant)
    await ctx.db.transaction(async (tx) => {
      await insertUser(tx)
      await insertUser(tx)
      expect(heard).toEqual([])
    })
    expect(heard).toEqual(['User'])
  })

  test('calls each effect once after the commit, and none after a rollback', async ({ ctx }) => {
    const effects: string[] = []
    const work = (isFailing: boolean) =>
      ctx.db.transaction(async (tx) => {
        for (const key of ['one', 'two', 'one']) tx.afterCommit(key, () => effects.push(key))
        if (isFailing) fail()
      })
    await expect(work(true)).rejects.toThrow('the work failed')
    expect(effects).toEqual([])
    await work(false)
    expect(effects).toEqual(['one', 'two'])
  })

  test('announces nothing when it is rolled back', async ({ ctx, tenant }) => {
    const heard = [listenTo('User', tenant), listenTo('Event', tenant)]
    // Messages of earlier writes are sent within 20 ms.
    await sleep(50)
    const woken: string[] = []
    onTestFinished(subscribe(EVENTS_TOPIC, (message) => message === tenant && woken.push(message)))
    const work = ctx.db.transaction(async (tx) => {
      const user = await insertUser(tx)
      await recordEvents(tx, ctx, [
        createEvent('user.updated', { userId: String(user?.id), changedFields: ['name'] }),
      ])
      fail()
    })
    await expect(work).rejects.toThrow('the work failed')
    await sleep(50)
    expect([...heard, woken]).toEqual([[], [], []])
  })

  test('announces nothing when a statement has failed and its error was caught', async ({ ctx, tenant }) => {
    const heard = listenTo('User', tenant)
    const work = ctx.db.transaction(async (tx) => {
      const user = await insertUser(tx)
      await tx.one(INSERT_USER, { id: String(user?.id), name: 'taken' }).catch(() => null)
    })
    await expect(work).rejects.toThrow('the transaction was rolled back')
    expect(heard).toEqual([])
  })

  test('wakes the readers of the event log after the commit', async ({ ctx, tenant }) => {
    await sleep(50)
    const woken: string[] = []
    onTestFinished(subscribe(EVENTS_TOPIC, (message) => message === tenant && woken.push(message)))
    await ctx.db.transaction(async (tx) => {
      const user = await insertUser(tx)
      await recordEvents(tx, ctx, [
        createEvent('user.updated', { userId: String(user?.id), changedFields: ['name'] }),
      ])
      expect(woken).toEqual([])
    })
    expect(woken).toEqual([tenant])
  })

  test('sends what Prisma writes on its own connection', async ({ ctx, tenant }) => {
    const id = newId('user')
    const work = ctx.db.transaction(async (tx) => {
      await tx.prisma.user.create({ data: { tenantId: tenant, id, name: 'Grace' } })
      expect(await tx.one(SELECT_USER, { id })).toEqual({ name: 'Grace' })
      expect(await ctx.db.one(SELECT_USER, { id })).toBeNull()
      await tx.prisma.user.update({
        where: { tenantId_id: { tenantId: tenant, id } },
        data: { name: 'Hopper' },
      })
      fail()
    })
    await expect(work).rejects.toThrow('the work failed')
    expect(await ctx.db.one(SELECT_USER, { id })).toBeNull()
  })

  test('commits what Prisma and statements have written together', async ({ ctx, tenant }) => {
    const id = newId('user')
    await ctx.db.transaction(async (tx) => {
      await tx.one(INSERT_USER, { id, name: 'Ada' })
      const where = { tenantId_id: { tenantId: tenant, id } }
      expect(await tx.prisma.user.findUnique({ where, select: { name: true } })).toEqual({ name: 'Ada' })
      await tx.prisma.user.update({ where, data: { name: 'Lovelace' } })
    })
    expect(await ctx.db.one(SELECT_USER, { id })).toEqual({ name: 'Lovelace' })
  })

  test('is rolled back by an error of Prisma', async ({ ctx, tenant }) => {
    const id = newId('user')
    const work = ctx.db.transaction(async (tx) => {
      await tx.one(INSERT_USER, { id, name: 'Ada' })
      await tx.prisma.user.create({ data: { tenantId: tenant, id } })
    })
    await expect(work).rejects.toMatchObject({ code: 'P2002' })
    expect(await ctx.db.one(SELECT_USER, { id })).toBeNull()
  })

  test('keeps concurrent look-ups of Prisma by one key on the connection of each', async ({
    ctx,
    tenant,
  }) => {
    const id = newId('user')
    const where = { tenantId_id: { tenantId: tenant, id } }
    await ctx.db.transaction(async (tx) => {
      await tx.one(INSERT_USER, { id, name: 'Ada' })
      const [inside, outside] = await Promise.all([
        tx.prisma.user.findUnique({ where }),
        ctx.db.prisma.user.findUnique({ where }),
      ])
      expect([inside?.name, outside]).toEqual(['Ada', null])
    })
  })

  test('keeps what Prisma writes apart from concurrent transactions', async ({ ctx, tenant }) => {
    const ids = Array.from({ length: 4 }, () => newId('user'))
    const written = await Promise.allSettled(
      ids.map((id, index) =>
        ctx.db.transaction(async (tx) => {
          await tx.prisma.user.create({ data: { tenantId: tenant, id } })
          if (index % 2 === 1) fail()
          return (await tx.one(SELECT_USER, { id })) !== null
        }),
      ),
    )
    expect(written.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected'])
    const stored = await ctx.db.prisma.user.findMany({
      where: { tenantId: tenant, id: { in: ids } },
      orderBy: { id: 'asc' },
      select: { id: true },
    })
    expect(stored.map(({ id }) => id)).toEqual([ids[0], ids[2]].sort())
  })

  test('sends BEGIN, the statements and COMMIT on one connection, and nothing else', async ({
    ctx,
    tenant,
  }) => {
    const id = newId('user')
    const statements = await recordStatements(() =>
      ctx.db.transaction(async (tx) => {
        await tx.prisma.user.create({ data: { tenantId: tenant, id } })
        await tx.one(SELECT_USER, { id })
      }),
    )
    expect(statements.map((text) => text.trim().split(/\s/, 1)[0])).toEqual([
      'BEGIN',
      'INSERT',
      'SELECT',
      'COMMIT',
    ])
  })

  test('of tenant system names another tenant for its statements and Prisma', async ({ tenant }) => {
    const id = newId('user')
    const heard = listenTo('User', tenant)
    await createPlatformCtx('system').db.transaction(async (tx) => {
      await tx.forTenant(tenant).one(INSERT_USER, { id, name: 'Ada' })
      expect(await tx.one(SELECT_USER, { id })).toBeNull()
      await tx
        .forTenant(tenant)
        .prisma.user.updateMany({ where: { tenantId: tenant, id }, data: { name: 'Byron' } })
    })
    expect(heard).toEqual(['User'])
    expect(await createPlatformCtx(tenant).db.one(SELECT_USER, { id })).toEqual({ name: 'Byron' })
  })

  test('of another tenant than system names no other', async ({ ctx }) => {
    const work = ctx.db.transaction(async (tx) => tx.forTenant('system'))
    await expect(work).rejects.toMatchObject({ name: 'TenantGuardError' })
  })

  test('rejects operations of Prisma that name another tenant', async ({ ctx }) => {
    const work = ctx.db.transaction((tx) => tx.prisma.user.count({ where: { tenantId: 'system' } }))
    await expect(work).rejects.toMatchObject({ name: 'TenantGuardError' })
  })
})

describe('a statement outside of transactions', () => {
  test('announces what it has inserted', async ({ ctx, tenant }) => {
    const heard = listenTo('User', tenant)
    await insertUser(ctx.db)
    expect(heard).toEqual(['User'])
  })

  test('announces nothing when it fails', async ({ ctx, tenant }) => {
    const user = await insertUser(ctx.db)
    const heard = listenTo('User', tenant)
    const again = ctx.db.one(INSERT_USER, { id: String(user?.id), name: 'taken' })
    await expect(again).rejects.toMatchObject({ code: '23505' })
    expect(heard).toEqual([])
  })

  test('announces nothing when its rows say that it has inserted nothing', async ({ ctx, tenant }) => {
    const heard = listenTo('User', tenant)
    await ctx.db.run(INSERT_NAMED_USER, { id: newId('user'), name: '' })
    expect(heard).toEqual([])
    await ctx.db.run(INSERT_NAMED_USER, { id: newId('user'), name: 'Ada' })
    expect(heard).toEqual(['User'])
  })
})
