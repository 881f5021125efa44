import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../src/crypto.ts'
import { dbFor, inTransaction, sql, sqlOf } from '../../src/db.ts'
import { Prisma } from '../../src/generated/prisma/client.ts'
import { closeRuntime, openRuntime } from '../../src/runtime.ts'
import { tenantFault } from '../../src/tenant-guard.ts'

// Each way that rows of one tenant were seen to reach another, or might: the guard refuses it before it is sent.

const [mine, theirs] = ['mine', 'theirs']
const [myUser, theirUser] = [newId('user'), newId('user')]

beforeAll(async () => {
  await openRuntime()
  for (const [tenantId, id] of [
    [mine, myUser],
    [theirs, theirUser],
  ] as const) {
    await dbFor('system').tenant.create({ data: { tenantId, tokenKey: 'unused' } })
    await dbFor(tenantId).user.create({ data: { tenantId, id, name: tenantId } })
  }
})
afterAll(closeRuntime)

const db = () => dbFor(mine)
/** What TypeScript would refuse, and a careless cast would let through. */
const loose = (value: unknown) => value as never

describe('the guard refuses, before anything is sent', () => {
  const holes: [string, () => Promise<unknown>][] = [
    ['a where without tenantId', () => db().user.findMany({})],
    ['no arguments at all', () => db().user.count()],
    ['tenantId: undefined, which means "any"', () => db().user.findMany({ where: { tenantId: undefined } })],
    ['tenantId: {not: …}', () => db().user.findMany({ where: { tenantId: { not: 'x' } } })],
    ['tenantId: {in: […]}', () => db().user.findMany({ where: { tenantId: { in: [mine, theirs] } } })],
    ['tenantId: {contains: ""}', () => db().user.deleteMany({ where: { tenantId: { contains: '' } } })],
    ['tenantId only inside OR', () => db().user.findMany({ where: { OR: [{ tenantId: mine }, {}] } })],
    [
      'another tenant by key',
      () => db().user.findUnique({ where: { tenantId_id: { tenantId: theirs, id: theirUser } } }),
    ],
    ['another tenant in a list', () => db().user.findMany({ where: { tenantId: theirs } })],
    [
      'another tenant in an aggregate',
      () => db().user.aggregate({ where: { tenantId: theirs }, _count: true }),
    ],
    [
      'another tenant in a grouping',
      () => db().user.groupBy({ by: ['locked'], where: { tenantId: theirs } }),
    ],
    ['creation in another tenant', () => db().user.create({ data: { tenantId: theirs, id: newId('user') } })],
    [
      'creation of many, one elsewhere',
      () =>
        db().user.createMany({
          data: [
            { tenantId: mine, id: newId('user') },
            { tenantId: theirs, id: newId('user') },
          ],
        }),
    ],
    ['creation without a tenant', () => db().user.create({ data: loose({ id: newId('user') }) })],
    [
      'moving a row',
      () =>
        db().user.update({
          where: { tenantId_id: { tenantId: mine, id: myUser } },
          data: { tenantId: theirs },
        }),
    ],
    [
      'moving many rows',
      () => db().user.updateMany({ where: { tenantId: mine }, data: { tenantId: theirs } }),
    ],
    [
      'moving by upsert',
      () =>
        db().user.upsert({
          where: { tenantId_id: { tenantId: mine, id: myUser } },
          create: { tenantId: mine, id: myUser },
          update: { tenantId: theirs },
        }),
    ],
    [
      'nested connect from the child to another tenant',
      () =>
        db().session.create({
          data: loose({
            tenantId: mine,
            id: newId('session'),
            kind: 'api',
            tokenHash: Buffer.alloc(32),
            expiresAt: new Date(),
            user: { connect: { tenantId_id: { tenantId: theirs, id: theirUser } } },
          }),
        }),
    ],
    [
      "nested connect from the parent to another tenant's child",
      () =>
        db().tenant.update({
          where: { tenantId: mine },
          data: { users: { connect: { tenantId_id: { tenantId: theirs, id: theirUser } } } },
        }),
    ],
    [
      'nested creation',
      () =>
        db().user.update({
          where: { tenantId_id: { tenantId: mine, id: myUser } },
          data: { consents: { create: { clientId: 'c', scopes: [] } } } as Prisma.UserUpdateInput,
        }),
    ],
    ['another tenant in the table of tenants', () => db().tenant.findMany({ where: { tenantId: theirs } })],
  ]
  test.each(holes)('%s', async (_name, attempt) => {
    await expect(attempt()).rejects.toMatchObject({ name: 'TenantGuardError' })
  })

  const client = () => db() as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>
  const raw: [string, () => Promise<unknown>][] = [
    ['$queryRaw', () => client().$queryRaw?.(Prisma.sql`SELECT * FROM "User"`) as Promise<unknown>],
    ['$executeRaw', () => client().$executeRaw?.(Prisma.sql`DELETE FROM "User"`) as Promise<unknown>],
    ['$executeRawUnsafe', () => client().$executeRawUnsafe?.('DELETE FROM "User"') as Promise<unknown>],
    [
      '$queryRawUnsafe without a tenant',
      () => client().$queryRawUnsafe?.('SELECT * FROM "User"') as Promise<unknown>,
    ],
    [
      "$queryRawUnsafe with another tenant's",
      () =>
        client().$queryRawUnsafe?.('SELECT * FROM "User" WHERE "tenantId" = $1', theirs) as Promise<unknown>,
    ],
  ]
  test.each(raw)('raw SQL: %s', async (_name, attempt) => {
    await expect(attempt()).rejects.toMatchObject({ name: 'TenantGuardError' })
  })

  test('the same inside a transaction', async () => {
    await expect(
      db().$transaction((tx) => tx.user.findMany({ where: { tenantId: theirs } })),
    ).rejects.toMatchObject({
      name: 'TenantGuardError',
    })
    await expect(
      db().$transaction((tx) => sqlOf(tx)('SELECT 1 FROM "User" WHERE "tenantId" = $1', [theirs])),
    ).rejects.toMatchObject({ name: 'TenantGuardError' })
  })

  test('an operation that it does not know', () => {
    expect(tenantFault(mine, 'User', 'findRaw', { where: { tenantId: mine } })).toMatch(/not known/)
  })
})

test('what names the tenant as a plain string passes', async () => {
  await expect(db().user.findMany({ where: { tenantId: mine }, select: { id: true } })).resolves.toEqual([
    { id: myUser },
  ])
  const rows = await db().$transaction((tx) =>
    sqlOf(tx)<{ id: string }>('SELECT "id" FROM "User" WHERE "tenantId" = $1', [mine]),
  )
  expect(rows).toEqual([{ id: myUser }])
})

test('a statement of our own that does not ask for a tenant is not sent', async () => {
  await expect(sql('SELECT "id" FROM "User" WHERE "name" <> $1', [mine])).rejects.toMatchObject({
    name: 'TenantGuardError',
  })
  await expect(
    inTransaction((tx) => tx('DELETE FROM "User" WHERE "tenantId" <> \'\'', [mine])),
  ).rejects.toMatchObject({
    name: 'TenantGuardError',
  })
})

test('tenant system sees the table of tenants, and nothing else of other tenants', async () => {
  expect(await dbFor('system').tenant.count()).toBeGreaterThanOrEqual(2)
  await expect(dbFor('system').user.findMany({ where: { tenantId: mine } })).rejects.toMatchObject({
    name: 'TenantGuardError',
  })
})

test('behind the guard, the trigger of each table refuses to move a row', async () => {
  await expect(
    inTransaction((sql) => sql('UPDATE "User" SET "tenantId" = $2 WHERE "tenantId" = $1', [mine, theirs])),
  ).rejects.toThrow(/cannot move to another tenant/)
  const triggers = await sql<{ table: string; moved: boolean }>(
    `SELECT c.table_name AS "table", EXISTS (
       SELECT FROM pg_trigger t WHERE t.tgrelid = format('%I', c.table_name)::regclass AND t.tgname = c.table_name || '_tenant'
     ) AS "moved"
     FROM information_schema.columns c WHERE c.table_schema = current_schema() AND quote_ident(c.column_name) = '"tenantId"' AND $1 <> ''`,
    [mine],
  )
  expect(triggers.length).toBeGreaterThan(15)
  expect(triggers.filter((trigger) => !trigger.moved)).toEqual([])
})
