import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Ctx, platformCtx } from '../../src/ctx.ts'
import type { Page } from '../../src/page.ts'
import { closeRuntime, openRuntime } from '../../src/runtime.ts'
import type { FilterMember } from '../../src/sessions/session-list.fields.ts'
import { type ListSessionsArgs, listSessions } from '../../src/sessions/session-list.ts'
import { SESSION_LISTS } from '../../src/sessions/session-list-choice.ts'
import type { SessionRow } from '../../src/sessions/sessions.sql.ts'
import { newTenant } from '../support/actors.ts'
import { BATCH, captureStatements, explainForValues, fillTenant, type Statement } from '../support/plans.ts'

/** A tenant of many sessions among others; its people have a few each, one client and one address very many. */
const SESSIONS = 40_000
const PAGE = 50
/** Pages of the database for fifty rows, each of which is looked up once more: far below what a scan would touch. */
const BUFFERS = PAGE * 12

/** Who the sessions are of, and the clients that they were started through. */
const PEOPLE = 2000
const FILL_USERS = `
  INSERT INTO "User" ("tenantId", "id") SELECT $1, 'user_01m7xeb1sbendby702xer' || lpad(n::text, 5, '0')
  FROM generate_series($3::int, LEAST($3::int + ${BATCH}, $2::int) - 1) n`
const FILL_CLIENTS = `
  INSERT INTO "Client" ("tenantId", "id", "name", "appType", "type")
  SELECT $1, 'client_01m7xeb1sbendby702xerkqv3' || n, 'App', 'web', 'login' FROM generate_series(1, 2) n`

let tenant: string
let ctx: Ctx
let client: pg.Client

const USER = 'user_01m7xeb1sbendby702xer00007'
const CLIENT = 'client_01m7xeb1sbendby702xerkqv31'

const FILL = `
  INSERT INTO "Session" ("tenantId", "id", "userId", "clientId", "kind", "tokenHash", "lastSeenIp", "lastSeenAt", "expiresAt", "endedAt", "createdAt")
  SELECT $1, 'session_01m7xeb1sbendby702' || lpad(n::text, 8, '0'), 'user_01m7xeb1sbendby702xer' || lpad((n % ${PEOPLE})::text, 5, '0'),
    CASE WHEN n % 3 > 0 THEN 'client_01m7xeb1sbendby702xerkqv3' || (n % 3) END, 'browser', sha256(($1 || n)::bytea),
    CASE WHEN n % 4 = 0 THEN '203.0.113.7' ELSE '2001:db8::' || to_hex(n % 5000) END,
    now() - (n * 37 % $2) * interval '1 minute', now() + interval '1 day', CASE WHEN n % 10 = 0 THEN now() END,
    now() - (n * 91 % $2) * interval '1 minute'
  FROM generate_series($3::int + 1, $3::int + ${BATCH}) n`

describe.skipIf(!process.env.DATABASE_URL)('a list of sessions', () => {
  beforeAll(async () => {
    await openRuntime()
    tenant = await newTenant()
    ctx = platformCtx(tenant)
    client = new pg.Client({ connectionString: process.env.DATABASE_URL })
    await client.connect()
    const fill = async (into: string, sessions: number) => {
      await client.query(FILL_CLIENTS, [into])
      await fillTenant(client, FILL_USERS, into, PEOPLE)
      await fillTenant(client, FILL, into, sessions)
    }
    await fill(tenant, SESSIONS)
    for (let others = 0; others < 10; others += 1) await fill(await newTenant(), SESSIONS / 10)
    await client.query('ANALYZE "Session"')
  }, 120_000)
  afterAll(async () => {
    await client?.end()
    await closeRuntime()
  })

  const minutes = (ago: number) => new Date(Date.now() - ago * 60_000).toISOString()
  const range = { gte: minutes(SESSIONS * 0.9), lt: minutes(SESSIONS * 0.1) }
  const VALUES: Record<FilterMember, unknown> = {
    userId: USER,
    clientId: CLIENT,
    ip: '203.0.113.7',
    createdAt: range,
    lastSeenAt: range,
  }
  const cases = SESSION_LISTS.flatMap(({ by, with: more, orders, indexes }) =>
    orders.flatMap((order) =>
      (['asc', 'desc'] as const).flatMap((direction) =>
        [[], more].slice(0, more.length > 0 ? 2 : 1).map((also) => {
          const members = [...(by ? [by] : []), ...also]
          return [members.join(', ') || 'nothing', order, direction, members, indexes[order] ?? ''] as const
        }),
      ),
    ),
  )

  test.each(cases)(
    'by %s in the order of %s %s reads its index alone',
    async (_, order, direction, members, index) => {
      const args: ListSessionsArgs = {
        filter: Object.fromEntries(members.map((member) => [member, VALUES[member]])),
        direction,
        ...(order !== 'id' && { orderBy: order }),
      }
      const middle = await listSessions(ctx, { ...args, page: 20, pageSize: PAGE })
      const rows =
        middle.rows.length > 0 ? middle : await listSessions(ctx, { ...args, page: 0, pageSize: PAGE })
      const cursor = rows.rows[0] ? rows.cursorOf(rows.rows[0]) : undefined
      for (const paging of [
        { first: PAGE },
        { last: PAGE },
        ...(cursor
          ? [
              { first: PAGE, after: cursor },
              { last: PAGE, before: cursor },
            ]
          : []),
        { page: 3, pageSize: PAGE },
      ]) {
        const [page, ...rest] = await captureStatements(() => listSessions(ctx, { ...args, ...paging }))
        expect(rest).toEqual([])
        const plan = await explainForValues(client, page as Statement)
        const about = `${JSON.stringify(paging)} ${plan.text}`
        expect(plan.sequential, about).toEqual([])
        expect(plan.indexes, about).toContain(index)
        if (!('page' in paging)) expect(plan.buffers, about).toBeLessThan(BUFFERS)
      }
    },
  )

  test.each(['userId', 'clientId', 'ip'] as const)('by %s is counted by an index', async (member) => {
    const page: Page<SessionRow> = await listSessions(ctx, { filter: { [member]: VALUES[member] } })
    const [count] = await captureStatements(() => page.countAll())
    const plan = await explainForValues(client, count as Statement)
    expect(plan.sequential, plan.text).toEqual([])
  })
})
