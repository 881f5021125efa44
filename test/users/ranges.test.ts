import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import { ReadLimit } from '../../src/core/network/read-limit.ts'
import { SYSTEM_TENANT } from '../../src/core/scopes.ts'
import { divideRanges } from '../../src/jobs/user-ranges.ts'
import { deleteTenant } from '../../src/tenants/tenants.ts'
import { buildUserPageStatement } from '../../src/users/list/user-list.sql.ts'
import { listUsers } from '../../src/users/list/user-list.ts'
import { selectUserList } from '../../src/users/list/user-list-plans.ts'
import { databaseUrl } from '../support/connections.ts'
import { sql } from '../support/database.ts'
import { hasServices } from '../support/services.ts'
import { test as base } from '../support/tenant-per-test.ts'

const USERS = 9000
const toId = (n: number): string => `user_${String(n).padStart(26, '0')}`

const test = base
  /** Inserts users `from` to `to`. */
  .extend('fill', ({ ctx }) => async (from: number, to: number): Promise<unknown> => {
    const ids = Array.from({ length: to - from + 1 }, (_, index) => toId(from + index))
    return sql(`INSERT INTO "User" ("tenantId", "id") SELECT $1, unnest($2::text[])`, [ctx.tenant, ids])
  })
  .extend(
    'listRanges',
    ({ ctx }) =>
      () =>
        sql<{ start: string; users: number; found: number }>(
          `SELECT "start", sum("users")::int AS "users", (
         SELECT count(*)::int FROM "User" u WHERE u."tenantId" = $1 AND u."id" >= r."start"
           AND u."id" < COALESCE((SELECT min("start") FROM "UserRange" n WHERE n."tenantId" = $1 AND n."start" > r."start"), '~')
       ) AS "found"
       FROM "UserRange" r WHERE "tenantId" = $1 GROUP BY "start" ORDER BY "start"`,
          [ctx.tenant],
        ),
  )

describe.runIf(hasServices)('the ranges of users', () => {
  test('count every user once, before and after they are divided', async ({ ctx, fill, listRanges }) => {
    await fill(1, USERS)
    const [first, ...others] = await listRanges()
    expect([first, others]).toEqual([{ start: '', users: USERS, found: USERS }, []])
    await divideRanges()
    const divided = await listRanges()
    expect(divided.map(({ users, found }) => [users, found])).toEqual([
      [4000, 4000],
      [4000, 4000],
      [1000, 1000],
    ])
    await fill(USERS + 1, USERS + 8001)
    await sql('DELETE FROM "User" WHERE "tenantId" = $1 AND "id" < $2', [ctx.tenant, toId(4101)])
    expect((await listRanges()).map(({ users, found }) => users - found)).toEqual(Array(3).fill(0))
    await divideRanges()
    const after = await listRanges()
    expect(after.map(({ users }) => users)).toEqual([0, 3900, 4000, 4000, 1001])
    expect(after.every(({ users, found }) => users === found)).toBe(true)
  })

  test('are deleted with their tenant', async ({ ctx, fill }) => {
    await fill(1, 10)
    await deleteTenant(createPlatformCtx(SYSTEM_TENANT), ctx.tenant)
    expect(await sql('SELECT FROM "UserRange" WHERE "tenantId" = $1', [ctx.tenant])).toHaveLength(0)
  })
})

describe.runIf(hasServices)('a page of users by offset', () => {
  test.for(['asc', 'desc'] as const)(
    'has the same users as the whole list, %s',
    async (direction, { ctx, fill }) => {
      await fill(1, USERS)
      await divideRanges()
      const all = Array.from({ length: USERS }, (_, index) => toId(index + 1))
      if (direction === 'desc') all.reverse()
      for (const page of [0, 1, 79, 80, 81, 90, 179, 180, 181, 1000]) {
        const { rows, hasNextPage } = await listUsers(ctx, { page, pageSize: 50, direction })
        expect(rows.map(({ id }) => id)).toEqual(all.slice(page * 50, page * 50 + 50))
        expect(hasNextPage).toBe(all.length > page * 50 + 50)
      }
    },
  )

  test('is exact while users are inserted and deleted and ranges divided', async ({
    ctx,
    fill,
    listRanges,
  }) => {
    await fill(1, USERS)
    const { tenant } = ctx
    const client = new pg.Client(databaseUrl())
    await client.connect()
    const list = selectUserList({}, null)
    let isOver = false
    const repeat = async (work: (round: number) => Promise<unknown>) => {
      for (let round = 0; !isOver; round++) await work(round)
    }
    const writers = [
      repeat((round) => fill(USERS + 1 + round * 300, USERS + 300 + round * 300)),
      repeat((round) =>
        sql('DELETE FROM "User" WHERE "tenantId" = $1 AND "id" = $2', [tenant, toId(1 + round * 7)]),
      ),
      repeat((round) =>
        sql('DELETE FROM "User" WHERE "tenantId" = $1 AND "id" = $2', [tenant, toId(USERS - round * 11)]),
      ),
      repeat(async () => {
        await divideRanges()
        await sleep(5)
      }),
    ]
    try {
      for (let round = 0; round < 60; round++) {
        const [page, descending] = [1 + ((round * 37) % 190), round % 2 === 1]
        const { text, values } = buildUserPageStatement(
          tenant,
          { list, filter: {}, descending },
          { mode: 'offset', page, pageSize: 50, isNumbered: true, limit: new ReadLimit(undefined, 50) },
          'keys',
        )
        await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
        const given = await client.query<{ id: string }>(text, values as unknown[])
        const expected = await client.query<{ id: string }>(
          `SELECT "id" FROM "User" WHERE "tenantId" = $1 ORDER BY "id" ${descending ? 'DESC' : 'ASC'} OFFSET $2 LIMIT 51`,
          [tenant, page * 50],
        )
        await client.query('COMMIT')
        expect(given.rows.map(({ id }) => id)).toEqual(expected.rows.map(({ id }) => id))
      }
    } finally {
      isOver = true
      await Promise.all(writers)
      await client.end()
    }
    const ranges = await listRanges()
    expect(ranges.length).toBeGreaterThan(2)
    expect(ranges.filter(({ users, found }) => users !== found)).toEqual([])
  })

  test('reads no more than one range of the index, at any depth', async ({ ctx, fill }) => {
    await fill(1, 5 * USERS)
    await divideRanges()
    const list = selectUserList({}, null)
    const { text, values } = buildUserPageStatement(
      ctx.tenant,
      { list, filter: {}, descending: false },
      { mode: 'offset', page: 850, pageSize: 50, isNumbered: true, limit: new ReadLimit(undefined, 50) },
      'keys',
    )
    const rows = await sql<{ 'QUERY PLAN': object[] }>(
      `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`,
      values as [string, ...unknown[]],
    )
    const read = [...JSON.stringify(rows).matchAll(/"Relation Name":"User",.*?"Actual Rows":([\d.]+)/g)]
    expect(read.length).toBeGreaterThan(0)
    for (const [, count] of read) expect(Number(count)).toBeLessThan(8100)
  })
})
