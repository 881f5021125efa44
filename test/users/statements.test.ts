import { describe, expect } from 'vitest'
import { listUsers } from '../../src/users/list/user-list.ts'
import { createUser, deleteUser, getUser, lockUser, updateUser } from '../../src/users/users.ts'
import { newTenant } from '../support/actors.ts'
import { sql, sqlFor } from '../support/database.ts'
import { withConnection } from '../support/databases.ts'
import { captureStatements } from '../support/plans.ts'
import { countStatements, leastStatements } from '../support/statements.ts'
import { test } from '../support/tenant-per-test.ts'
import { startApiSession } from '../support/user-sessions.ts'

/**
 * Updates the planner's statistics of a table in the database of this process, and the map of visible rows,
 * without which no plan reads an index only.
 */
const vacuumTable = (table: string): Promise<unknown> =>
  withConnection(process.env.DATABASE_URL ?? '', (admin) => admin.query(`VACUUM (ANALYZE) "${table}"`))

describe('statements of the operations on users', () => {
  test('sends at most six statements for each operation on a user', async ({ ctx }) => {
    const user = await createUser(ctx, { name: 'Warm' })
    await startApiSession(ctx, user.id)
    const page = await listUsers(ctx, { pageSize: 2 })
    expect({
      create: await countStatements(() => createUser(ctx, { email: 'four@example.com' })),
      update: await countStatements(() =>
        updateUser(ctx, user.id, { name: 'Changed', email: 'five@example.com' }),
      ),
      lock: await countStatements(() => lockUser(ctx, user.id)),
      unlock: await countStatements(() => updateUser(ctx, user.id, { locked: false })),
      page: await countStatements(() => listUsers(ctx, { page: 1, pageSize: 2 })),
      cursor: await countStatements(() =>
        listUsers(ctx, { first: 2, after: page.encodeRowCursor(page.rows[0] ?? user) }),
      ),
      totalSize: await countStatements(() => page.countAll()),
      get: await countStatements(() => getUser(ctx, user.id)),
      delete: await countStatements(() => deleteUser(ctx, user.id)),
    }).toEqual({
      create: 4,
      update: 4,
      lock: 5,
      unlock: 4,
      page: 1,
      cursor: 1,
      totalSize: 1,
      get: 1,
      delete: 6,
    })
  })

  test('reads a page in one statement, and counts only when totalSize is selected', async ({
    ctx,
    rest,
    gql,
  }) => {
    const user = await createUser(ctx, {})
    await startApiSession(ctx, user.id)
    const select = (selection: string) => () => gql(`{ users(pageSize: 50) { ${selection} } }`)
    const list = () => rest('GET', '/users')
    const warm = async (work: () => Promise<{ body: object }>) => {
      expect((await work()).body).not.toHaveProperty('errors')
      return leastStatements(work)
    }
    expect({
      page: await warm(select('nodes { id name email }')),
      totalSize: await warm(select('totalSize nodes { id }')),
      nested: await warm(select('nodes { id sessions(first: 5) { nodes { id lastSeenAt } } }')),
      rest: await warm(list),
    }).toEqual({ page: 1, totalSize: 2, nested: 1, rest: 2 })
  })

  test('reads a far page from the index, and a page by cursor without reading the rows before it', async ({
    tenant,
    ctx,
  }) => {
    // A tenant that had the table to itself would be read from one end to the other.
    for (const one of [tenant, await newTenant()])
      await sql(
        `INSERT INTO "User" ("tenantId", "id") SELECT $1, 'user_' || lpad(i::text, 26, '0') FROM generate_series(1, 20000) i`,
        [one],
      )
    await vacuumTable('User')
    const listSql = sqlFor({ tenant, workload: 'list' })
    const plan = async (work: () => Promise<unknown>, values: unknown[] = []) => {
      const [sent = { text: '', values: [] }] = await captureStatements(work)
      const rows = await listSql<{ 'QUERY PLAN': string }>(
        `EXPLAIN (ANALYZE, BUFFERS, COSTS OFF) ${sent.text}`,
        [tenant, ...(values.length > 0 ? values : sent.values.slice(1))],
      )
      return rows.map((row) => row['QUERY PLAN']).join('\n')
    }
    const offset = await plan(() => listUsers(ctx, { page: 300, pageSize: 50 }))
    expect(offset).toContain('Index Only Scan')
    const page = await listUsers(ctx, { pageSize: 1 })
    const cursor = await plan(
      () => listUsers(ctx, { first: 50, after: page.encodeRowCursor(page.rows[0] as never) }),
      [`user_${'15000'.padStart(26, '0')}`],
    )
    expect(cursor).toMatch(/Index Scan using "User_pkey"/)
    expect(Number(/shared hit=(\d+)/.exec(cursor)?.[1])).toBeLessThan(120)
  })
})
