import { describe, expect } from 'vitest'
import { newId } from '../../src/core/crypto.ts'
import { Handle } from '../../src/database/handle.ts'
import { boundStatement } from '../../src/database/statement.ts'
import { findTenantViolation } from '../../src/database/tenant-guard.ts'
import { Prisma } from '../../src/generated/prisma/client.ts'
import { newTenant } from '../support/actors.ts'
import { dbFor, inTransaction, sql } from '../support/database.ts'
import { test as base } from '../support/fixtures.ts'

/** Two tenants with one user each, and a database client for the first. */
type Scene = {
  db: ReturnType<typeof dbFor>
  raw: Record<string, (...args: unknown[]) => Promise<unknown>>
  mine: string
  theirs: string
  myUser: string
  theirUser: string
}

const test = base.extend('scene', { scope: 'file' }, async ({ tenant: mine }): Promise<Scene> => {
  const theirs = await newTenant()
  const [myUser, theirUser] = [newId('user'), newId('user')]
  await dbFor(mine).user.create({ data: { tenantId: mine, id: myUser, name: mine } })
  await dbFor(theirs).user.create({ data: { tenantId: theirs, id: theirUser, name: theirs } })
  const db = dbFor(mine)
  return { db, raw: db as unknown as Scene['raw'], mine, theirs, myUser, theirUser }
})

describe('the tenant guard', () => {
  const REJECTED = { name: 'TenantGuardError' }
  /** A value that TypeScript would reject. */
  const loose = (value: unknown) => value as never
  type Query = [name: string, send: (scene: Scene) => Promise<unknown> | undefined]
  /** Queries that reach another tenant, or that could. */
  const QUERIES: Query[] = [
    ['a where without tenantId', (s) => s.db.user.findMany({})],
    ['a query without arguments', (s) => s.db.user.count()],
    ['tenantId undefined', (s) => s.db.user.findMany({ where: { tenantId: undefined } })],
    ['tenantId in not', (s) => s.db.user.findMany({ where: { tenantId: { not: 'x' } } })],
    ['tenantId in a list', (s) => s.db.user.findMany({ where: { tenantId: { in: [s.mine, s.theirs] } } })],
    ['tenantId by contains', (s) => s.db.user.deleteMany({ where: { tenantId: { contains: '' } } })],
    ['tenantId inside OR only', (s) => s.db.user.findMany({ where: { OR: [{ tenantId: s.mine }, {}] } })],
    [
      'a key of another tenant',
      (s) => s.db.user.findUnique({ where: { tenantId_id: { tenantId: s.theirs, id: s.theirUser } } }),
    ],
    ['a list of another tenant', (s) => s.db.user.findMany({ where: { tenantId: s.theirs } })],
    [
      'an aggregate of another tenant',
      (s) => s.db.user.aggregate({ where: { tenantId: s.theirs }, _count: true }),
    ],
    [
      'a groupBy of another tenant',
      (s) => s.db.user.groupBy({ by: ['locked'], where: { tenantId: s.theirs } }),
    ],
    [
      'a create in another tenant',
      (s) => s.db.user.create({ data: { tenantId: s.theirs, id: newId('user') } }),
    ],
    [
      'a createMany with a row of another tenant',
      (s) =>
        s.db.user.createMany({
          data: [
            { tenantId: s.mine, id: newId('user') },
            { tenantId: s.theirs, id: newId('user') },
          ],
        }),
    ],
    ['a create without a tenant', (s) => s.db.user.create({ data: loose({ id: newId('user') }) })],
    [
      'an update of tenantId',
      (s) =>
        s.db.user.update({
          where: { tenantId_id: { tenantId: s.mine, id: s.myUser } },
          data: { tenantId: s.theirs },
        }),
    ],
    [
      'an updateMany of tenantId',
      (s) => s.db.user.updateMany({ where: { tenantId: s.mine }, data: { tenantId: s.theirs } }),
    ],
    [
      'an upsert that updates tenantId',
      (s) =>
        s.db.user.upsert({
          where: { tenantId_id: { tenantId: s.mine, id: s.myUser } },
          create: { tenantId: s.mine, id: s.myUser },
          update: { tenantId: s.theirs },
        }),
    ],
    [
      'a nested connect of a child to another tenant',
      (s) =>
        s.db.session.create({
          data: loose({
            tenantId: s.mine,
            id: newId('session'),
            kind: 'api',
            tokenHash: Buffer.alloc(32),
            expiresAt: new Date(),
            user: { connect: { tenantId_id: { tenantId: s.theirs, id: s.theirUser } } },
          }),
        }),
    ],
    [
      'a nested connect of a parent to a child of another tenant',
      (s) =>
        s.db.tenant.update({
          where: { tenantId: s.mine },
          data: { users: { connect: { tenantId_id: { tenantId: s.theirs, id: s.theirUser } } } },
        }),
    ],
    [
      'a nested create',
      (s) =>
        s.db.user.update({
          where: { tenantId_id: { tenantId: s.mine, id: s.myUser } },
          data: { consents: { create: { clientId: 'c', scopes: [] } } } as Prisma.UserUpdateInput,
        }),
    ],
    [
      'the row of another tenant in the table of tenants',
      (s) => s.db.tenant.findMany({ where: { tenantId: s.theirs } }),
    ],
  ]
  const RAW_QUERIES: Query[] = [
    ['$queryRaw', (s) => s.raw.$queryRaw?.(Prisma.sql`SELECT * FROM "User"`)],
    ['$executeRaw', (s) => s.raw.$executeRaw?.(Prisma.sql`DELETE FROM "User"`)],
    ['$executeRawUnsafe', (s) => s.raw.$executeRawUnsafe?.('DELETE FROM "User"')],
    ['$queryRawUnsafe without a tenant', (s) => s.raw.$queryRawUnsafe?.('SELECT * FROM "User"')],
    [
      '$queryRawUnsafe with another tenant',
      (s) => s.raw.$queryRawUnsafe?.('SELECT * FROM "User" WHERE "tenantId" = $1', s.theirs),
    ],
  ]

  test.for([...QUERIES, ...RAW_QUERIES])('rejects %s', async ([, send], { scene }) => {
    await expect(Promise.resolve(send(scene))).rejects.toMatchObject(REJECTED)
  })

  test('rejects queries and statements of another tenant in a transaction', async ({
    scene: { mine, theirs },
  }) => {
    await expect(
      new Handle({ tenant: mine }).transaction((tx) =>
        tx.prisma.user.findMany({ where: { tenantId: theirs } }),
      ),
    ).rejects.toMatchObject(REJECTED)
    await expect(
      new Handle({ tenant: mine }).transaction((tx) =>
        tx.list(boundStatement({}, 'SELECT 1 FROM "User" WHERE "tenantId" = $1', [theirs])),
      ),
    ).rejects.toMatchObject(REJECTED)
  })

  test('rejects an operation that it does not know', ({ tenant }) => {
    expect(findTenantViolation(tenant, 'User', 'findRaw', { where: { tenantId: tenant } })).toMatch(
      /does not know the operation/,
    )
  })

  test('rejects a statement without a condition on the tenant', async ({ tenant }) => {
    await expect(sql('SELECT "id" FROM "User" WHERE "name" <> $1', [tenant])).rejects.toMatchObject(REJECTED)
    await expect(
      inTransaction((tx) => tx('DELETE FROM "User" WHERE "tenantId" <> \'\'', [tenant])),
    ).rejects.toMatchObject(REJECTED)
  })

  test('accepts queries and statements that name the tenant as a string', async ({
    scene: { db, mine, myUser },
  }) => {
    await expect(db.user.findMany({ where: { tenantId: mine }, select: { id: true } })).resolves.toEqual([
      { id: myUser },
    ])
    const rows = await new Handle({ tenant: mine }).transaction((tx) =>
      tx.list(boundStatement({ id: 'text' }, 'SELECT "id" FROM "User" WHERE "tenantId" = $1', [mine])),
    )
    expect(rows).toEqual([{ id: myUser }])
  })

  test('permits tenant system to read the table of tenants, and no other table of a tenant', async ({
    scene: { mine },
  }) => {
    expect(await dbFor('system').tenant.count()).toBeGreaterThanOrEqual(2)
    await expect(dbFor('system').user.findMany({ where: { tenantId: mine } })).rejects.toMatchObject(REJECTED)
  })
})

describe('the trigger of every table', () => {
  test('rejects an update that moves a row to another tenant', async ({ scene: { mine, theirs } }) => {
    await expect(
      inTransaction((tx) => tx('UPDATE "User" SET "tenantId" = $2 WHERE "tenantId" = $1', [mine, theirs])),
    ).rejects.toThrow(/cannot move to another tenant/)
    const tables = await sql<{ table: string; hasTrigger: boolean }>(
      `SELECT c.table_name AS "table", EXISTS (
         SELECT FROM pg_trigger t WHERE t.tgrelid = format('%I', c.table_name)::regclass AND t.tgname = c.table_name || '_tenant'
       ) AS "hasTrigger"
       FROM information_schema.columns c WHERE c.table_schema = current_schema() AND quote_ident(c.column_name) = '"tenantId"' AND $1 <> ''`,
      [mine],
    )
    expect(tables.length).toBeGreaterThan(15)
    expect(tables.filter(({ hasTrigger }) => !hasTrigger)).toEqual([])
  })
})
