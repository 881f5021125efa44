import type pg from 'pg'
import { describe, expect, vi } from 'vitest'
import type { User } from '../../src/generated/prisma/client.ts'
import type { PageArgs } from '../../src/schema/page.ts'
import { exportUsers } from '../../src/users/export.ts'
import { importUsers } from '../../src/users/import.ts'
import { listUsers } from '../../src/users/user-list.ts'
import { ctxFor, newTenant } from '../support/actors.ts'
import { captureStatements, explain, type Statement, toExecute } from '../support/plans.ts'
import { assertPlan, cases, DEEP_PAGE, PAGE_SIZE, planList, test } from '../support/user-plans.ts'

// The first test fills the tenants.
vi.setConfig({ testTimeout: 120_000 })

describe.skipIf(!process.env.DATABASE_URL)('a list of users', () => {
  test.for(cases.map((one) => [one.title, one] as const))(
    'filtered by %s reads its index only',
    async ([, one], { admin, users }) => {
      const { args, list, isFiltered } = one
      const page = (paging: PageArgs) => () => listUsers(users, { ...args, ...paging })
      const first = await planList(admin, one, page({ first: PAGE_SIZE }))
      for (const plan of first) assertPlan(plan, one, 'page')
      if (list.by.length > 0) {
        const start = await page({ first: 1 })()
        for (const plan of await planList(admin, one, () => start.countAll())) assertPlan(plan, one, 'count')
      }
      for (const plan of await planList(admin, one, page({ page: DEEP_PAGE, pageSize: PAGE_SIZE })))
        assertPlan(plan, one, 'offset')
      // A filter by a unique member, or by several members, finds fewer pages.
      if (isFiltered || list.orderBy.length > 1) return
      const deep = await page({ page: DEEP_PAGE, pageSize: PAGE_SIZE })()
      expect(deep.rows).toHaveLength(PAGE_SIZE)
      const cursor = deep.encodeRowCursor(deep.rows[0] as never)
      for (const paging of [
        { first: PAGE_SIZE, after: cursor },
        { last: PAGE_SIZE, before: cursor },
        { last: PAGE_SIZE },
      ])
        for (const [index, plan] of (await planList(admin, one, page(paging))).entries()) {
          assertPlan(plan, one, 'page')
          expect(plan.buffers, plan.text).toBeLessThan(1.3 * (first[index]?.buffers ?? 0) + 30)
        }
    },
  )
})

/** How often PostgreSQL has planned a statement for its values and for any, when it is executed eight times. */
async function countPlans(client: pg.Client, { text, values }: Statement) {
  await client.query(`PREPARE listed AS ${text}`)
  for (let time = 0; time < 8; time++) await client.query(toExecute(client, 'listed', values))
  const { rows } = await client.query<{ generic: string; custom: string }>(
    "SELECT generic_plans AS generic, custom_plans AS custom FROM pg_prepared_statements WHERE name = 'listed'",
  )
  await client.query('DEALLOCATE listed')
  return rows[0]
}

describe.skipIf(!process.env.DATABASE_URL)('a page of all users', () => {
  test.for<[name: string, paging: PageArgs]>([
    ['the first one', { first: 50 }],
    ['one after a cursor', { first: 50, after: 'cursor' }],
    ['one by offset', { page: 0, pageSize: 100 }],
  ])('keeps its plan, which sorts no rows: %s', async ([, paging], { admin, users }) => {
    const { rows, encodeRowCursor } = await listUsers(users, { first: 1 })
    const after = paging.after && encodeRowCursor(rows[0] as User)
    const [statement] = await captureStatements(() =>
      listUsers(users, { ...paging, ...(after && { after }) }),
    )
    await admin.query('SET plan_cache_mode = auto')
    expect(await countPlans(admin, statement as Statement)).toEqual({ generic: '3', custom: '5' })
    for (const { nodes } of await explain(admin, statement as Statement))
      expect(nodes.map((node) => node['Node Type']).filter((type) => type !== 'Result')).toEqual([
        'Limit',
        'Index Scan',
      ])
  })
})

const [KNOWN_USERS, NEW_USERS, LINES] = [20_000, 5000, 200]
const FILL_IMPORT_TENANT = `
  INSERT INTO "User" ("tenantId", "id", "externalId", "email", "emailKey", "phoneNumber", "phoneNumberKey")
  SELECT $1, 'user_' || lpad(i::text, 26, '0'), 'crm-' || i, e, e, CASE WHEN i % 2 = 0 THEN '+43664' || i END,
    CASE WHEN i % 2 = 0 THEN '+43664' || i END
  FROM generate_series(1, $2::int) i, LATERAL (SELECT 'p' || i || '@example.com' AS e) x`
const toLine = (n: number) =>
  `${JSON.stringify({ externalId: `crm-${n}`, email: `p${n}@example.com`, name: 'Ada', ...(n % 2 === 0 && { phoneNumber: `+43664${n}` }) })}\n`

async function* readLines(first: number): AsyncGenerator<Uint8Array> {
  yield Buffer.from(Array.from({ length: LINES }, (_, i) => toLine(first + i)).join(''))
}

describe.skipIf(!process.env.DATABASE_URL)(
  'an import or export of a tenant that the statistics do not know',
  () => {
    test('finds users by their keys and reads no others', async ({ admin }) => {
      await admin.query(FILL_IMPORT_TENANT, [await newTenant(), KNOWN_USERS])
      await admin.query('ANALYZE "User"')
      const ctx = await ctxFor(await newTenant())
      await admin.query(FILL_IMPORT_TENANT, [ctx.tenant, NEW_USERS])
      const sent = await captureStatements(async () => {
        // Half of the lines name existing users.
        for await (const results of importUsers(ctx, readLines(NEW_USERS - LINES / 2)))
          expect(results).toBeTruthy()
        await exportUsers(ctx, { afterId: 'user_00000000000000000000004000' }).next()
      })
      const settings = sent.find(({ text }) => text.includes('set_config')) as Statement
      const statements = sent.filter(({ text }) => /FROM "User"/.test(text))
      expect(statements.map(({ text }) => text.trim().slice(0, 6))).toEqual(['SELECT', 'WITH o', 'SELECT'])
      for (const statement of statements) {
        await admin.query('BEGIN')
        try {
          await admin.query(settings)
          const [plan] = await explain(admin, statement)
          expect(plan?.kind).toBe('force_custom_plan')
          expect(plan?.sequential, plan?.text).toEqual([])
          for (const node of plan?.nodes ?? [])
            if (node['Relation Name'] === 'User' && node['Node Type'].includes('Scan')) {
              const loops = node['Actual Loops'] ?? 0
              const read = ((node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0)) * loops
              expect(read, plan?.text).toBeLessThanOrEqual(LINES)
            }
        } finally {
          await admin.query('ROLLBACK')
        }
      }
    })
  },
)
