import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listClients } from '../../src/clients/client-list.ts'
import { type Ctx, platformCtx } from '../../src/ctx.ts'
import type { PageArgs } from '../../src/page.ts'
import { closeRuntime, openRuntime } from '../../src/runtime.ts'
import { newTenant } from '../support/actors.ts'
import { BATCH, captureStatements, explainForValues, fillTenant, type Statement } from '../support/plans.ts'

/** A tenant of many clients among others; those of one type are few. */
const CLIENTS = 10_000
const PAGE = 20
/** Pages of the database for a page of each kind, whose rows are looked up once more. */
const BUFFERS = PAGE * 4 * 6

let tenant: string
let ctx: Ctx
let client: pg.Client

const FILL = `
  INSERT INTO "Client" ("tenantId", "id", "name", "appType", "type")
  SELECT $1, 'client_01m7xeb1sbendby702' || lpad(n::text, 8, '0'), 'App ' || n,
    (ARRAY['single-page', 'web', 'native', 'machine'])[1 + n % 4], CASE WHEN n % 50 = 0 THEN 'payment' ELSE 'login' END
  FROM generate_series($3::int + 1, $3::int + LEAST(${BATCH}, $2::int)) n`

describe.skipIf(!process.env.DATABASE_URL)('a list of clients', () => {
  beforeAll(async () => {
    await openRuntime()
    tenant = await newTenant()
    ctx = platformCtx(tenant)
    client = new pg.Client({ connectionString: process.env.DATABASE_URL })
    await client.connect()
    await fillTenant(client, FILL, tenant, CLIENTS)
    for (let others = 0; others < 10; others += 1)
      await fillTenant(client, FILL, await newTenant(), CLIENTS / 10)
    await client.query('ANALYZE "Client"')
  }, 120_000)
  afterAll(async () => {
    await client?.end()
    await closeRuntime()
  })

  test.each([
    [{}, ['Client_pkey']],
    [{ type: 'payment' }, ['Client_tenantId_type_appType_id_idx']],
    // Nearly all are of this type: those of each kind are as good.
    [{ type: 'login' }, ['Client_tenantId_type_appType_id_idx', 'Client_tenantId_appType_id_idx']],
    [{ appType: 'native' }, ['Client_tenantId_appType_id_idx']],
    [{ type: 'payment', appType: 'web' }, ['Client_tenantId_type_appType_id_idx']],
  ])('of %j reads its index alone', async (filter, indexes) => {
    const middle = await listClients(ctx, { filter, page: 2, pageSize: PAGE })
    const row = middle.rows[0]
    const cursor = row && middle.cursorOf(row)
    const pages: PageArgs[] = [
      { first: PAGE },
      { last: PAGE },
      { first: PAGE, after: cursor },
      { last: PAGE, before: cursor },
      { page: 2, pageSize: PAGE },
    ]
    for (const page of pages) {
      const [statement] = await captureStatements(() => listClients(ctx, { filter, ...page }))
      const plan = await explainForValues(client, statement as Statement)
      const about = `${JSON.stringify(page)} ${plan.text}`
      expect(plan.sequential, about).toEqual([])
      expect(plan.indexes.filter((name) => indexes.includes(name)).length, about).toBeGreaterThan(0)
      if (!('page' in page)) expect(plan.buffers, about).toBeLessThan(BUFFERS)
    }
    // To count most rows of a table is to read it.
    if (indexes.length > 1 || Object.keys(filter).length === 0) return
    const [count] = await captureStatements(() => middle.countAll())
    const counting = await explainForValues(client, count as Statement)
    expect(counting.sequential, counting.text).toEqual([])
  })
})
