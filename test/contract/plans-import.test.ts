import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closeRuntime, openRuntime } from '../../src/runtime.ts'
import { exportUsers } from '../../src/users/export.ts'
import { importUsers } from '../../src/users/import.ts'
import { ctxFor, newTenant } from '../support/actors.ts'
import { captureStatements, explain, type Statement } from '../support/plans.ts'

// Statistics know a large tenant alone: the planner expects next to nobody in one that has come since, and would take any
// of its indexes for any key.
const [KNOWN_USERS, NEW_USERS, LINES] = [20_000, 5000, 200]

const FILL = `
  INSERT INTO "User" ("tenantId", "id", "externalId", "email", "emailKey", "phoneNumber", "phoneNumberKey")
  SELECT $1, 'user_' || lpad(i::text, 26, '0'), 'crm-' || i, e, e, CASE WHEN i % 2 = 0 THEN '+43664' || i END,
    CASE WHEN i % 2 = 0 THEN '+43664' || i END
  FROM generate_series(1, $2::int) i, LATERAL (SELECT 'p' || i || '@example.com' AS e) x`

const lineOf = (n: number) =>
  `${JSON.stringify({ externalId: `crm-${n}`, email: `p${n}@example.com`, name: 'Ada', ...(n % 2 === 0 && { phoneNumber: `+43664${n}` }) })}\n`

async function* linesFrom(first: number): AsyncGenerator<Uint8Array> {
  yield Buffer.from(Array.from({ length: LINES }, (_, i) => lineOf(first + i)).join(''))
}

describe.skipIf(!process.env.DATABASE_URL)('statements of an import into a tenant that is new', () => {
  let admin: pg.Client
  let statements: Statement[]
  let settings: Statement | undefined

  beforeAll(async () => {
    await openRuntime()
    admin = new pg.Client({ connectionString: process.env.DATABASE_URL })
    await admin.connect()
    await admin.query(FILL, [await newTenant(), KNOWN_USERS])
    await admin.query('ANALYZE "User"')
    const ctx = await ctxFor(await newTenant())
    await admin.query(FILL, [ctx.tenant, NEW_USERS])
    const sent = await captureStatements(async () => {
      // Half of them are there.
      for await (const results of importUsers(ctx, linesFrom(NEW_USERS - LINES / 2)))
        expect(results).toBeTruthy()
      await exportUsers(ctx, { afterId: 'user_00000000000000000000004000' }).next()
    })
    settings = sent.find(({ text }) => text.includes('set_config'))
    statements = sent.filter(({ text }) => /FROM "User"/.test(text))
  }, 120_000)
  afterAll(async () => {
    await admin?.end()
    await closeRuntime()
  })

  it('go by the keys, and read no other users', async () => {
    expect(statements.map(({ text }) => text.trim().slice(0, 6))).toEqual(['SELECT', 'WITH o', 'SELECT'])
    for (const statement of statements) {
      await admin.query('BEGIN')
      try {
        await admin.query(settings as { text: string; values: unknown[] })
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
})
