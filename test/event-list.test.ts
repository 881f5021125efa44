import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it, test } from 'vitest'
import { listEvents } from '../src/audit/event-list.ts'
import { createClient, getClient } from '../src/clients/clients.ts'
import { type Ctx, platformCtx } from '../src/ctx.ts'
import { inTransaction, sql } from '../src/db.ts'
import { listInbox } from '../src/delivery/inbox.ts'
import type { EventType, LogEvent } from '../src/events.ts'
import { EVENT_TYPES, recordEvents } from '../src/events.ts'
import { verifySignInPasscode } from '../src/passcodes/passcodes.ts'
import { sendSignInPasscode, settleDeliveries } from '../src/passcodes/send-passcode.ts'
import { startSession } from '../src/sessions/sessions.ts'
import { createUser, lockUser, updateUser } from '../src/users/users.ts'
import { ctxFor, newTenant, TENANT_SCOPES, tokenFor } from './support/actors.ts'
import { logOf } from './support/events.ts'
import { linksIn, walk } from './support/lists.ts'
import { countStatements, countWarmStatements } from './support/statements.ts'
import { openSurfaces, type Surfaces } from './support/surfaces.ts'

const isPostgres = inject('database').kind === 'postgres'

let app: Surfaces
let tenant: string
let token: string
let ctx: Ctx
let userId: string
let adminId: string
let sessionId: string
let clientId: string
/** The whole log, as the subscription reads it. */
let log: LogEvent[]

const DAY_MS = 86_400_000
/** Noon of a day that many days before all others here: entries of the past, one transaction each. */
const past = (days: number, seconds = 0) =>
  new Date(Date.UTC(2026, 5, 30, 12) - days * DAY_MS + seconds * 1000)

async function writeAt(at: Date, type: EventType, subjectIds: string[]): Promise<void> {
  await inTransaction((sql) => recordEvents(sql, ctx, [{ type, subjectIds }]))
  await sql(
    `UPDATE "Event" SET "occurredAt" = $2::timestamptz WHERE "tenantId" = $1 AND "subjectIds" = $3::text[]`,
    [tenant, at, subjectIds],
  )
}

beforeAll(async () => {
  app = await openSurfaces()
  tenant = await newTenant()
  token = await tokenFor(tenant)
  ctx = await ctxFor(tenant)
  await sql(`UPDATE "Event" SET "occurredAt" = $2::timestamptz WHERE "tenantId" = $1`, [tenant, past(9)])
  // What happened long ago comes first in the log, too; within a minute, the order may be another.
  await writeAt(past(3), 'key.rotated', ['key-3'])
  await writeAt(past(2), 'key.rotated', ['key-2'])
  await writeAt(past(1, 30), 'key.rotated', ['key-1b'])
  await writeAt(past(1), 'key.rotated', ['key-1a'])
  await writeAt(past(1, 89), 'role.changed', ['role-1c'])
  const admin = await createUser(ctx, { name: 'Grace', email: `grace@${tenant}.example` })
  adminId = admin.id
  const { client } = await createClient(platformCtx(tenant), { name: 'App', appType: 'web', type: 'login' })
  clientId = client.id
  const byAdmin: Ctx = {
    ...ctx,
    actor: { kind: 'user', tenant, userId: adminId, clientId, sessionId: null, grantId: null },
    ip: '203.0.113.9',
    requestId: 'request-of-grace',
  }
  const user = await createUser(byAdmin, { name: 'Ada' })
  userId = user.id
  const { session } = await inTransaction((tx) =>
    startSession(tx, ctx, {
      userId,
      clientId,
      kind: 'api',
      expiresAt: new Date(Date.now() + DAY_MS),
      refreshable: true,
      amr: ['otp'],
    }),
  )
  sessionId = session.id
  await updateUser(byAdmin, userId, { email: `ada@${tenant}.example`, nickname: 'Countess' })
  await lockUser(byAdmin, userId)
  log = await logOf(tenant)
})
afterAll(() => app.close())

const ENTRY = `__typename id position type occurredAt requestId actor { userId clientId tenantId ip }
  ... on AuditEvent { subjectIds changedFields detail }`
const LIST = `query ($first: Int, $after: String, $last: Int, $before: String, $filter: EventFilter, $direction: OrderDirection) {
  events(first: $first, after: $after, last: $last, before: $before, filter: $filter, direction: $direction) {
    edges { cursor } nodes { ${ENTRY} } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`
const graphql = async (variables: object = {}) => {
  const { body } = await app.gql(tenant, token, LIST, variables)
  if (body.errors) throw new Error(JSON.stringify(body.errors))
  return body.data.events
}
const rest = async (query = '') =>
  (await app.rest(tenant, token, 'GET', `/events?pageSize=1000${query}`)).body.events
const idsOf = (entries: { id: string }[]) => entries.map(({ id }) => id)

describe('an entry', () => {
  test('says who did what, when, from where, in which request, and which fields changed', async () => {
    const [updated] = await rest('&types=user.updated')
    expect(updated).toEqual({
      id: expect.stringMatching(/^event_/),
      position: expect.any(String),
      type: 'user.updated',
      occurredAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      actor: { userId: adminId, clientId, tenantId: null, ip: '203.0.113.9' },
      requestId: 'request-of-grace',
      userId,
      sessionId: null,
      subjectIds: [userId],
      changedFields: expect.arrayContaining(['email', 'nickname']),
      detail: null,
    })
    expect(JSON.stringify(updated)).not.toContain('Countess')
    const { nodes } = await graphql({ filter: { types: ['user.updated'] } })
    const { userId: _, sessionId: __, ...shared } = updated
    expect(nodes).toEqual([{ __typename: 'AuditEvent', ...shared }])
  })

  test('of what people did on the hosted pages names them, so that it is found by who did it', async () => {
    const other = await newTenant()
    const email = `ada@${other}.example`
    const person = await createUser(await ctxFor(other), { email, emailVerified: true })
    const visitor: Ctx = { ...platformCtx(other), actor: { kind: 'anonymous' }, ip: '198.51.100.8' }
    await sendSignInPasscode(visitor, email)
    await settleDeliveries()
    const code = /\b\d{6}\b/.exec(listInbox(email)[0]?.body ?? '')?.[0] ?? ''
    const { client } = await createClient(platformCtx(other), { name: 'App', appType: 'web', type: 'login' })
    await verifySignInPasscode(visitor, email, code, client.id)
    await logOf(other)
    const bearer = await tokenFor(other)
    const { body } = await app.rest(other, bearer, 'GET', `/events?actorId=${person.id}`)
    const query = `{ events(filter: { actorId: "${person.id}" }) { nodes { type actor { userId clientId tenantId ip } } } }`
    const { nodes } = (await app.gql(other, bearer, query)).body.data.events
    const actor = { userId: person.id, clientId: client.id, tenantId: null, ip: visitor.ip }
    for (const entries of [body.events, nodes])
      expect(entries).toMatchObject([{ type: 'session.started', actor }])
  })

  test('of somebody unknown says from where, and of the platform nothing', async () => {
    const other = await newTenant()
    const anonymous: Ctx = { ...platformCtx(other), actor: { kind: 'anonymous' }, ip: '198.51.100.7' }
    await inTransaction((sql) => recordEvents(sql, anonymous, [{ type: 'signin.failed' }]))
    const bearer = await tokenFor(other)
    await logOf(other)
    const { body } = await app.rest(other, bearer, 'GET', '/events')
    const query = '{ events { nodes { type actor { userId clientId tenantId ip } } } }'
    const { nodes } = (await app.gql(other, bearer, query)).body.data.events
    const nobody = { userId: null, clientId: null, tenantId: null }
    for (const entries of [body.events, nodes])
      expect(entries.map(({ type, actor }: { type: string; actor: object }) => [type, actor])).toEqual([
        ['tenant.created', null],
        ['signin.failed', { ...nobody, ip: '198.51.100.7' }],
        ['client.created', null],
      ])
  })
})

describe('a filter', () => {
  const isOf = (entry: LogEvent, id: string) =>
    [entry.userId, entry.sessionId, entry.subjectIds[0]].includes(id)
  const within = (entry: LogEvent, gte: Date | null, lt: Date | null) =>
    (!gte || entry.occurredAt >= gte) && (!lt || entry.occurredAt < lt)
  const machine = () => (ctx.actor as { clientId: string }).clientId
  const requestId = () => log.find(({ type }) => type === 'user.locked')?.requestId ?? ''
  const instant = (at: Date) => at.toISOString()

  const CASES: [string, () => object, (entry: LogEvent) => boolean, least: number][] = [
    ['nothing', () => ({}), () => true, 12],
    ['a type', () => ({ types: ['user.created'] }), ({ type }) => type === 'user.created', 2],
    [
      'types',
      () => ({ types: ['user.locked', 'key.rotated', 'user.locked'] }),
      ({ type }) => ['user.locked', 'key.rotated'].includes(type),
      5,
    ],
    ['a user', () => ({ subjectId: userId }), (entry) => isOf(entry, userId), 5],
    ['a session', () => ({ subjectId: sessionId }), (entry) => isOf(entry, sessionId), 2],
    ['a client', () => ({ subjectId: clientId }), (entry) => isOf(entry, clientId), 2],
    ['any other thing', () => ({ subjectId: 'key-2' }), (entry) => isOf(entry, 'key-2'), 1],
    ['nothing there is', () => ({ subjectId: 'nothing' }), () => false, 0],
    ['a person who did it', () => ({ actorId: adminId }), ({ actorUserId }) => actorUserId === adminId, 4],
    [
      'a client that did it',
      () => ({ actorId: machine() }),
      ({ actorClientId }) => actorClientId === machine(),
      7,
    ],
    [
      'the client that a person used',
      () => ({ actorId: clientId }),
      ({ actorClientId }) => actorClientId === clientId,
      4,
    ],
    [
      'a request, but for refreshes',
      () => ({ requestId: requestId() }),
      (entry) => entry.requestId === requestId() && !entry.type.endsWith('.refreshed'),
      1,
    ],
    [
      'a subject and types',
      () => ({ subjectId: userId, types: ['user.locked', 'session.started'] }),
      (entry) => isOf(entry, userId) && ['user.locked', 'session.started'].includes(entry.type),
      2,
    ],
    [
      'an actor, a subject and a type',
      () => ({ subjectId: userId, actorId: adminId, types: ['user.updated'] }),
      (entry) => entry.type === 'user.updated',
      1,
    ],
    ...[
      [past(3), past(2)],
      [past(2), null],
      [null, past(1)],
      [past(1), past(1, 30)],
      [past(1, 1), past(1, 31)],
      [past(1, 30), past(1, 89)],
      [past(1, 89), past(0)],
      [past(4), past(3)],
      [past(20), null],
      [past(20), past(1, 30)],
      [null, past(20)],
      [past(0), past(0)],
      [past(0), past(4)],
      [new Date(Date.now() + DAY_MS), null],
      [null, new Date(Date.now() + DAY_MS)],
    ].flatMap(([gte = null, lt = null]): typeof CASES => {
      const occurredAt = { ...(gte && { gte: instant(gte) }), ...(lt && { lt: instant(lt) }) }
      const name = `from ${gte?.toISOString()} to ${lt?.toISOString()}`
      return [
        [name, () => ({ occurredAt }), (entry) => within(entry, gte, lt), 0],
        [
          `${name} of a type`,
          () => ({ occurredAt, types: ['key.rotated'] }),
          (entry) => entry.type === 'key.rotated' && within(entry, gte, lt),
          0,
        ],
      ]
    }),
  ]

  const parametersOf = (filter: Record<string, unknown>) =>
    Object.entries(filter)
      .flatMap(([name, value]): [string, string][] =>
        typeof value === 'object' && value !== null && !Array.isArray(value)
          ? Object.entries(value).map(([member, bound]) => [`${name}.${member}`, String(bound)])
          : [[name, String(value)]],
      )
      .map(([name, value]) => `&${name}=${encodeURIComponent(value)}`)
      .join('')

  test.each(CASES)(
    'by %s finds the same on both surfaces, and nothing else, either way round',
    async (_name, of, matches, least) => {
      const filter = of() as Record<string, unknown>
      const expected = idsOf(log.filter(matches))
      expect(expected.length).toBeGreaterThanOrEqual(least)
      const parameters = parametersOf(filter)
      expect(idsOf(await rest(parameters))).toEqual(expected)
      expect(idsOf((await graphql({ first: 1000, filter })).nodes)).toEqual(expected)
      expect(idsOf((await graphql({ last: 1000, filter })).nodes)).toEqual(expected)
      expect(idsOf(await rest(`${parameters}&direction=desc`))).toEqual([...expected].reverse())
      expect(idsOf((await graphql({ filter, direction: 'DESC' })).nodes)).toEqual([...expected].reverse())
      expect(idsOf((await graphql({ filter, last: 2 })).nodes)).toEqual(expected.slice(-2))
      const small = await walk(app, tenant, token, `/events?pageSize=2${parameters}`, 'events', 'next')
      expect(idsOf(small.flat())).toEqual(expected)
    },
  )

  test('of a list that is empty finds nothing', async () => {
    expect((await graphql({ filter: { types: [] } })).nodes).toEqual([])
  })

  it.each([
    [{ types: ['user.created', 'nonsense', 'x'] }, '&types=user.created,nonsense,x', ['types.1', 'types.2']],
    [{ types: [''] }, '&types=', ['types.0']],
    [{ actorId: 'nobody' }, '&actorId=nobody', ['actorId']],
    [
      { actorId: 'session_01m7xeb1sbendby702xerkqv3p' },
      '&actorId=session_01m7xeb1sbendby702xerkqv3p',
      ['actorId'],
    ],
    [{ subjectId: '', actorId: 'user_1' }, '&subjectId=&actorId=user_1', ['actorId', 'subjectId']],
    [{ subjectId: 'x'.repeat(201) }, `&subjectId=${'x'.repeat(201)}`, ['subjectId']],
  ])('%j is refused by name', async (filter, parameters, fields) => {
    const answer = await app.rest(tenant, token, 'GET', `/events?pageSize=5${parameters}`)
    expect([answer.status, answer.body.code]).toEqual([400, 'BAD_USER_INPUT'])
    const { body } = await app.gql(tenant, token, LIST, { filter })
    const named = (faults: { field: string }[]) => faults.map(({ field }) => field).sort()
    expect(named(answer.body.fields)).toEqual(fields)
    expect(named(body.errors?.[0]?.extensions.fields)).toEqual(fields)
  })

  it.each([
    ['occurredAt=2026-01-01', ['occurredAt']],
    ['occurredAt.gte=2026-01-01', ['occurredAt.gte']],
    ['occurredAt.lt=', ['occurredAt.lt']],
    ['occurredAt.gt=2026-01-01T00:00:00Z', ['occurredAt.gt']],
    ['direction=up', ['direction']],
    ['type=user.created&userId=x&ip=1', ['type', 'userId', 'ip']],
    ['page=0&totalSize=1', ['page', 'totalSize']],
    ['pageSize=0&types=user.born&actorId=x&direction=up', ['pageSize', 'actorId', 'types.0', 'direction']],
    ['types=user.born&direction=up', ['types.0', 'direction']],
  ])('%s is refused by name over REST', async (query, fields) => {
    const { status, body } = await app.rest(tenant, token, 'GET', `/events?${query}`)
    expect([status, body.fields.map(({ field }: { field: string }) => field)]).toEqual([400, fields])
  })

  test('every faulty field is named at once over GraphQL, too', async () => {
    const query = `{ events(first: 5000, filter: { types: ["user.born"], actorId: "x" }) { pageInfo { endCursor } } }`
    const { body } = await app.gql(tenant, token, query)
    const named = body.errors?.[0]?.extensions.fields.map(({ field }: { field: string }) => field)
    expect(named).toEqual(['actorId', 'types.0', 'first'])
  })

  test('what is no type of event is refused with those that are', async () => {
    const { body } = await app.rest(tenant, token, 'GET', '/events?types=user.created,user.born')
    const description = `must be one of ${EVENT_TYPES.join(', ')}`
    expect(body.fields).toEqual([{ field: 'types.1', description }])
  })
})

describe('the pages', () => {
  test.each(['', '&direction=desc'])('lead over the whole log and back (%j)', async (direction) => {
    const all = idsOf(await rest(direction))
    const pages = await walk(app, tenant, token, `/events?pageSize=3${direction}`, 'events', 'next')
    expect(idsOf(pages.flat())).toEqual(all)
    expect(new Set(pages.slice(0, -1).map((rows) => rows.length))).toEqual(new Set([3]))
    const end = pages.flat().at(-1).position
    const back = await walk(
      app,
      tenant,
      token,
      `/events?pageSize=3&before=${end}${direction}`,
      'events',
      'prev',
    )
    expect(idsOf(back.reverse().flat())).toEqual(all.slice(0, -1))
  })

  test('are the same on GraphQL, with positions for cursors', async () => {
    const { edges, nodes, pageInfo } = await graphql({ first: 3 })
    const positions = nodes.map(({ position }: LogEvent) => position)
    expect(edges.map(({ cursor }: { cursor: string }) => cursor)).toEqual(positions)
    expect(pageInfo).toEqual({
      hasNextPage: true,
      hasPreviousPage: false,
      startCursor: positions[0],
      endCursor: positions[2],
    })
    const next = await graphql({ first: 3, after: pageInfo.endCursor })
    expect(idsOf(next.nodes)).toEqual(idsOf(log.slice(3, 6)))
    expect(next.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: true })
    const previous = await graphql({ last: 2, before: next.pageInfo.startCursor })
    expect(idsOf(previous.nodes)).toEqual(idsOf(log.slice(1, 3)))
    expect(previous.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: true })
    const newest = await graphql({ first: 2, direction: 'DESC' })
    expect(idsOf(newest.nodes)).toEqual(idsOf(log.slice(-2).reverse()))
  })

  test('carry their filter in their links, and no page number', async () => {
    const { headers, body } = await app.rest(tenant, token, 'GET', '/events?types=key.rotated&pageSize=2')
    expect(Object.keys(body)).toEqual(['pageSize', 'events'])
    const [, second] = body.events
    expect(linksIn(headers)).toEqual({
      first: `/${tenant}/api/v1/events?types=key.rotated&pageSize=2`,
      next: `/${tenant}/api/v1/events?types=key.rotated&pageSize=2&after=${second.position}`,
    })
  })

  test.each([
    'x',
    '',
    'MS4yLjM=',
    Buffer.from('1.2.3.4').toString('base64url'),
    Buffer.from('99.1.1').toString('base64url'),
  ])('start from no position that never was: %j', async (cursor) => {
    for (const field of ['after', 'before']) {
      const answer = await app.rest(tenant, token, 'GET', `/events?${field}=${encodeURIComponent(cursor)}`)
      expect([answer.status, answer.body.fields]).toEqual([
        400,
        [{ field, description: 'is not a cursor of this list' }],
      ])
      const { body } = await app.gql(tenant, token, LIST, { [field]: cursor })
      expect(body.errors?.[0]?.extensions.fields).toEqual(answer.body.fields)
    }
  })

  test.each([
    [{ first: 0 }, ['first']],
    [{ last: 1001 }, ['last']],
    [{ first: 1, last: 1 }, ['first']],
  ])('%j is refused by name', async (variables, fields) => {
    const { body } = await app.gql(tenant, token, LIST, variables)
    expect(body.errors?.[0]?.extensions.fields.map(({ field }: { field: string }) => field)).toEqual(fields)
  })

  test('are one statement each', async () => {
    const filter = { types: ['user.created', 'user.locked'], occurredAt: { gte: past(1).toISOString() } }
    expect(await countStatements(() => listEvents(ctx, { filter, first: 5 }))).toBe(1)
    const page = () => graphql({ filter, last: 5 })
    expect(await countWarmStatements(page, page)).toBe(1)
  })

  test("hold nothing of another tenant's log", async () => {
    const other = await newTenant()
    const bearer = await tokenFor(other)
    await logOf(other)
    const position = log.at(-1)?.position
    const newest = await app.rest(other, bearer, 'GET', '/events?direction=desc')
    expect(newest.body.events.map(({ type }: LogEvent) => type)).toEqual(['client.created', 'tenant.created'])
    for (const query of [
      `subjectId=${userId}`,
      `actorId=${adminId}`,
      `before=${position}&types=user.created`,
    ])
      expect((await app.rest(other, bearer, 'GET', `/events?${query}`)).body.events).toEqual([])
  })

  test('need the scope events:read', async () => {
    const bearer = await tokenFor(
      tenant,
      TENANT_SCOPES.filter((scope) => scope !== 'events:read'),
    )
    expect((await app.rest(tenant, bearer, 'GET', '/events')).status).toBe(403)
    expect((await app.gql(tenant, bearer, LIST)).body.errors?.[0]?.extensions.code).toBe('FORBIDDEN')
  })

  test('show what became of a client that is gone', async () => {
    const { body } = await app.rest(
      tenant,
      token,
      'GET',
      `/events?subjectId=${clientId}&types=client.created`,
    )
    expect(body.events[0].subjectIds).toEqual([(await getClient(ctx, clientId)).id])
  })
})

describe.skipIf(!isPostgres)('an open transaction', () => {
  test('hides what others commit meanwhile from every page, so that going on skips and repeats nothing', async () => {
    const at = (await logOf(tenant)).at(-1)?.position
    const late = new pg.Client({ connectionString: process.env.DATABASE_URL })
    await late.connect()
    const lateSql = async <Row>(text: string, values: unknown[]) =>
      (await late.query(text, values)).rows as Row[]
    const note = (name: string) => [{ type: 'consent.granted' as const, subjectIds: [name] }]
    await late.query('BEGIN')
    await recordEvents(lateSql, ctx, note('late'))
    await inTransaction((sql) => recordEvents(sql, ctx, note('early')))
    const newer = { filter: { types: ['consent.granted'] }, after: at }
    expect((await listEvents(ctx, newer)).rows).toEqual([])
    expect((await listEvents(ctx, { after: at })).rows).toEqual([])
    expect((await listEvents(ctx, { direction: 'desc', first: 1 })).rows[0]?.position).toBe(at)
    expect(
      (await listEvents(ctx, { last: 1, filter: { actorId: (ctx.actor as { clientId: string }).clientId } }))
        .rows[0]?.subjectIds,
    ).not.toContain('early')
    await late.query('COMMIT')
    await late.end()
    await logOf(tenant)
    const { rows } = await listEvents(ctx, newer)
    expect(rows.map(({ subjectIds }) => subjectIds)).toEqual([['late'], ['early']])
  })
})
