import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ListEventsArgs, listEvents } from '../../src/audit/event-list.ts'
import { type Ctx, platformCtx } from '../../src/ctx.ts'
import { encodePosition } from '../../src/events.ts'
import { closeRuntime, openRuntime } from '../../src/runtime.ts'
import { newTenant } from '../support/actors.ts'
import { BATCH, captureStatements, explainForValues, fillTenant, type Statement } from '../support/plans.ts'

/** A tenant with a long log among others. */
const ENTRIES = 40_000
const PAGE = 50
/** Pages of the database for fifty entries of each of two types: far below what a scan would touch. */
const BUFFERS = 2 * PAGE * 8

let tenant: string
let ctx: Ctx
let client: pg.Client

const USER = 'user_01m7xeb1sbendby702xer00007'
const ADMIN = 'user_01m7xeb1sbendby702xer00003'
const SESSION = 'session_01m7xeb1sbendby702xer00010'
const CLIENT = 'client_01m7xeb1sbendby702xer00001'
const THING = 'cred_01m7xeb1sbendby702xer00020'

/** One every ten seconds, in an era before ours: nothing of it is hidden. */
const FILL = `
  INSERT INTO "Event" ("tenantId", "id", "era", "xid", "seq", "type", "occurredAt", "userId", "sessionId", "actorUserId", "actorClientId", "subjectIds", "requestId")
  SELECT $1, $1 || n, 0, n, n, CASE WHEN n % 2000 = 0 THEN 'key.rotated' WHEN n % 5 = 0 THEN 'user.updated' ELSE 'grant.refreshed' END,
    now() - ($2 - n + n % 3) * interval '10 seconds',
    'user_01m7xeb1sbendby702xer' || lpad((n % 1000)::text, 5, '0'),
    CASE WHEN n % 3 = 0 THEN 'session_01m7xeb1sbendby702xer' || lpad((n % 3000)::text, 5, '0') END,
    CASE WHEN n % 20 = 0 THEN 'user_01m7xeb1sbendby702xer0000' || (n / 20 % 5) END,
    'client_01m7xeb1sbendby702xer0000' || (n % 3),
    CASE WHEN n % 4 = 0 THEN ARRAY['cred_01m7xeb1sbendby702xer' || lpad((n % 2000)::text, 5, '0')] ELSE '{}' END,
    'request-' || (n % 2000)
  FROM generate_series($3::int + 1, $3::int + ${BATCH}) n`

describe.skipIf(!process.env.DATABASE_URL)('a list of events', () => {
  beforeAll(async () => {
    await openRuntime()
    tenant = await newTenant()
    ctx = platformCtx(tenant)
    client = new pg.Client({ connectionString: process.env.DATABASE_URL })
    await client.connect()
    await fillTenant(client, FILL, tenant, ENTRIES)
    for (let others = 0; others < 10; others += 1)
      await fillTenant(client, FILL, await newTenant(), ENTRIES / 10)
    await client.query('ANALYZE "Event"')
  }, 120_000)
  afterAll(async () => {
    await client?.end()
    await closeRuntime()
  })

  const ago = (entries: number) => new Date(Date.now() - entries * 10_000).toISOString()
  const TYPE = 'Event_tenantId_type_era_xid_seq_idx'
  const OCCURRED = 'Event_tenantId_occurredAt_idx'
  const FILTERS: [string, object, string][] = [
    ['nothing', {}, 'Event_pkey'],
    ['a type that is rare', { types: ['key.rotated'] }, TYPE],
    ['types', { types: ['user.updated', 'key.rotated'] }, TYPE],
    ['a user', { subjectId: USER }, 'Event_tenantId_userId_era_xid_seq_idx'],
    ['a session', { subjectId: SESSION }, 'Event_tenantId_sessionId_era_xid_seq_idx'],
    ['another subject', { subjectId: THING }, 'Event_subject_idx'],
    ['a person who did it', { actorId: ADMIN }, 'Event_tenantId_actorUserId_era_xid_seq_idx'],
    ['a client that did it', { actorId: CLIENT }, 'Event_tenantId_actorClientId_era_xid_seq_idx'],
    ['a request', { requestId: 'request-5' }, 'Event_request_idx'],
    [
      'a user and types',
      { subjectId: USER, types: ['user.updated'] },
      'Event_tenantId_userId_era_xid_seq_idx',
    ],
  ]
  const TIMES: [string, object | null][] = [
    ['at any time', null],
    ['since', { gte: ago(ENTRIES / 2) }],
    ['until', { lt: ago(ENTRIES / 2) }],
    ['between', { gte: ago(ENTRIES * 0.6), lt: ago(ENTRIES * 0.4) }],
  ]
  const cases = FILTERS.flatMap(([what, filter, index]) =>
    TIMES.map(
      ([when, occurredAt]) =>
        [
          what,
          when,
          occurredAt ? { ...filter, occurredAt } : filter,
          [index, ...(occurredAt ? [OCCURRED] : [])],
        ] as const,
    ),
  )
  const middle = encodePosition({ era: 0, xid: BigInt(ENTRIES / 2), seq: 0n })

  test.each(cases)(
    'by %s %s reads its index alone, wherever the page is',
    async (_what, _when, filter, indexes) => {
      const pages: ListEventsArgs[] = [
        { first: PAGE },
        { last: PAGE },
        { first: PAGE, after: middle },
        { last: PAGE, before: middle },
        { first: PAGE, direction: 'desc' },
        { first: PAGE, direction: 'desc', after: middle },
      ]
      for (const page of pages) {
        const [statement, ...rest] = await captureStatements(() => listEvents(ctx, { filter, ...page }))
        expect(rest).toEqual([])
        const plan = await explainForValues(client, statement as Statement)
        const about = `${JSON.stringify(page)} ${plan.text}`
        expect(plan.sequential, about).toEqual([])
        expect(plan.indexes.toSorted(), about).toEqual(indexes.toSorted())
        expect(plan.buffers, about).toBeLessThan(BUFFERS)
      }
    },
  )
})
