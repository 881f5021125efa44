import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { createClient } from '../src/clients/clients.ts'
import { type Ctx, platformCtx } from '../src/ctx.ts'
import { inTransaction, sql } from '../src/db.ts'
import { normalIp } from '../src/ip.ts'
import { FILTER_MEMBERS, type FilterMember } from '../src/sessions/session-list.fields.ts'
import { listSessions } from '../src/sessions/session-list.ts'
import { SESSION_LISTS } from '../src/sessions/session-list-choice.ts'
import { revokeSession, startSession } from '../src/sessions/sessions.ts'
import { createUser } from '../src/users/users.ts'
import { ctxFor, newTenant, tokenFor } from './support/actors.ts'
import { linksIn, walk } from './support/lists.ts'
import { countStatements } from './support/statements.ts'
import { openSurfaces, type Surfaces } from './support/surfaces.ts'

type Row = {
  id: string
  userId: string
  clientId: string | null
  lastSeenIp: string
  createdAt: Date
  lastSeenAt: Date
}

let app: Surfaces
let tenant: string
let token: string
let ctx: Ctx
let ada: string
let grace: string
let clientId: string
/** What is active, by id. */
let active: Row[]

const HOUR_MS = 3_600_000
const NOON = Date.UTC(2026, 10, 20, 12)
const hour = (hours: number) => new Date(NOON + hours * HOUR_MS)

async function start(userId: string, withClient: boolean, ip: string, started: number, seen: number) {
  const { session } = await inTransaction((tx) =>
    startSession(tx, ctx, {
      userId,
      clientId: withClient ? clientId : null,
      kind: 'api',
      expiresAt: new Date(Date.now() + 100 * HOUR_MS),
      refreshable: true,
      amr: ['otp'],
      seenFrom: { ip, userAgent: null },
    }),
  )
  await sql(
    `UPDATE "Session" SET "createdAt" = $3::timestamptz, "lastSeenAt" = $4::timestamptz WHERE "tenantId" = $1 AND "id" = $2`,
    [tenant, session.id, hour(started), hour(seen)],
  )
  return session.id
}

beforeAll(async () => {
  app = await openSurfaces()
  tenant = await newTenant()
  token = await tokenFor(tenant)
  ctx = await ctxFor(tenant)
  ada = (await createUser(ctx, { name: 'Ada' })).id
  grace = (await createUser(ctx, { name: 'Grace' })).id
  const { client } = await createClient(platformCtx(tenant), { name: 'App', appType: 'web', type: 'login' })
  clientId = client.id
  // Times run against the ids and have equals, so that each order is another.
  for (let number = 0; number < 12; number += 1)
    await start(
      number % 3 === 0 ? grace : ada,
      number % 4 === 0,
      number % 5 === 0 ? '2001:db8::1' : '203.0.113.7',
      -number + (number % 2),
      (number * 5) % 3,
    )
  active = await sql<Row>(`SELECT * FROM "Session" WHERE "tenantId" = $1 ORDER BY "id"`, [tenant])
  const ended = await start(ada, true, '203.0.113.7', 0, 0)
  await revokeSession(ctx, ended)
  const expired = await start(ada, true, '203.0.113.7', 0, 0)
  await sql(
    `UPDATE "Session" SET "expiresAt" = now() - interval '1 second' WHERE "tenantId" = $1 AND "id" = $2`,
    [tenant, expired],
  )
})
afterAll(() => app.close())

const LIST = `query ($page: Int, $pageSize: Int, $first: Int, $after: String, $last: Int, $before: String, $filter: SessionFilter, $orderBy: SessionOrder) {
  sessions(page: $page, pageSize: $pageSize, first: $first, after: $after, last: $last, before: $before, filter: $filter, orderBy: $orderBy) {
    nodes { id } totalSize page pageSize pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`
const graphql = async (variables: object = {}) => (await app.gql(tenant, token, LIST, variables)).body
const rest = (query: string) => app.rest(tenant, token, 'GET', `/sessions?${query}`)
const idsOf = (rows: { id: string }[]) => rows.map(({ id }) => id)

const ORDER_ENUM = { id: undefined, createdAt: 'CREATED_AT', lastSeenAt: 'LAST_SEEN_AT' } as const
const VALUES: Record<FilterMember, () => unknown> = {
  userId: () => ada,
  clientId: () => clientId,
  ip: () => '::FFFF:203.0.113.7',
  createdAt: () => ({ gte: hour(-8).toISOString(), lt: hour(-2).toISOString() }),
  lastSeenAt: () => ({ gte: hour(1).toISOString() }),
}
const MATCHES: Record<FilterMember, (row: Row) => boolean> = {
  userId: ({ userId }) => userId === ada,
  clientId: (row) => row.clientId === clientId,
  ip: ({ lastSeenIp }) => lastSeenIp === '203.0.113.7',
  createdAt: ({ createdAt }) => createdAt >= hour(-8) && createdAt < hour(-2),
  lastSeenAt: ({ lastSeenAt }) => lastSeenAt >= hour(1),
}
const filterOf = (members: readonly FilterMember[]) =>
  Object.fromEntries(members.map((member) => [member, VALUES[member]()]))
const parametersOf = (filter: Record<string, unknown>) =>
  Object.entries(filter)
    .flatMap(([name, value]): [string, string][] =>
      typeof value === 'object' && value !== null
        ? Object.entries(value).map(([bound, at]) => [`${name}.${bound}`, String(at)])
        : [[name, String(value)]],
    )
    .map(([name, value]) => `&${name}=${encodeURIComponent(value)}`)
    .join('')

describe('every list that there is', () => {
  const cases = SESSION_LISTS.flatMap(({ by, with: more, orders }) =>
    orders.flatMap((order) =>
      [[], more.slice(0, 1), more].map((also) => {
        const members = [...new Set([...(by ? [by] : []), ...also])]
        return [members.join(', ') || 'no filter', order, members] as const
      }),
    ),
  )

  test.each(cases)(
    'by %s, in the order of %s: the same on both surfaces, page by page, there and back',
    async (_, order, members) => {
      const filter = filterOf(members)
      const rows = active.filter((row) => members.every((member) => MATCHES[member](row)))
      const sortedBy = (row: Row) => (order === 'id' ? 0 : row[order].getTime())
      // Ids break ties, and are in order already.
      const expected = idsOf([...rows].sort((a, b) => sortedBy(a) - sortedBy(b)))
      expect(rows.length).toBeGreaterThan(0)
      const given = parametersOf(filter) + (order === 'id' ? '' : `&orderBy=${order}`)
      for (const direction of ['asc', 'desc'] as const) {
        const wanted = direction === 'asc' ? expected : [...expected].reverse()
        const { status, body } = await rest(`direction=${direction}${given}`)
        expect([status, body.totalSize, idsOf(body.sessions)]).toEqual([200, wanted.length, wanted])
        const orderBy = { field: ORDER_ENUM[order], direction: direction.toUpperCase() }
        const { sessions } = (await graphql({ filter, orderBy })).data
        expect([sessions.totalSize, idsOf(sessions.nodes)]).toEqual([wanted.length, wanted])
        expect(idsOf((await graphql({ filter, orderBy, last: 3 })).data.sessions.nodes)).toEqual(
          wanted.slice(-3),
        )
        const path = `/sessions?pageSize=2&direction=${direction}${given}`
        const there = await walk(app, tenant, token, path, 'sessions', 'next')
        expect(idsOf(there.flat())).toEqual(wanted)
        const end = Math.ceil(wanted.length / 2) - 1
        const back = await walk(app, tenant, token, `${path}&page=${end}`, 'sessions', 'prev')
        expect(idsOf(back.reverse().flat())).toEqual(wanted)
      }
    },
  )

  test('orders a range of time by that time unless told, and counts an empty range as none', async () => {
    const { createdAt } = filterOf(['createdAt'])
    expect((await rest(parametersOf({ createdAt }))).body.sessions).toEqual(
      (await rest(`${parametersOf({ createdAt })}&orderBy=createdAt`)).body.sessions,
    )
    const filter = { userId: null, createdAt: {}, lastSeenAt: { gte: null } }
    expect(idsOf((await graphql({ filter })).data.sessions.nodes)).toEqual(idsOf(active))
  })
})

describe('what is not a list', () => {
  const isListed = (a: FilterMember, b: FilterMember) => a === 'userId' || b === 'userId'
  const pairs = FILTER_MEMBERS.flatMap((a, index) =>
    FILTER_MEMBERS.slice(index + 1).flatMap((b) => (isListed(a, b) ? [] : [[a, b] as const])),
  )
  const faults = (body: { fields: { field: string; description: string }[] }) => body.fields

  async function refused(filter: object, more: string, variables: object, fields: object[]) {
    const { status, body } = await rest(parametersOf(filter as Record<string, unknown>) + more)
    expect([status, faults(body)]).toEqual([400, fields])
    expect((await graphql({ filter, ...variables })).errors?.[0]?.extensions).toMatchObject({
      code: 'BAD_USER_INPUT',
      fields,
    })
  }

  test.each(pairs)('%s with %s is refused by name', async (a, b) => {
    const description = `cannot be combined with ${a}: userId combines with everything, the others stand alone`
    await refused(filterOf([a, b]), '', {}, [{ field: b, description }])
  })

  test.each([
    ['clientId', 'createdAt', '; it is in order of the start'],
    ['ip', 'lastSeenAt', '; it is in order of the start'],
    ['createdAt', 'lastSeenAt', ', only createdAt'],
    ['lastSeenAt', 'createdAt', ', only lastSeenAt'],
  ] as const)('%s in the order of %s is refused by name', async (member, order, instead) => {
    const orderBy = { field: ORDER_ENUM[order] }
    await refused(filterOf([member]), `&orderBy=${order}`, { orderBy }, [
      { field: 'orderBy', description: `cannot be combined with ${member}${instead}` },
    ])
  })

  it.each([
    ['userId=x', ['userId']],
    ['userId=client_01m7xeb1sbendby702xerkqv3p&clientId=x&ip=x', ['userId', 'clientId', 'ip']],
    ['ip=1.2.3&createdAt.gte=x&createdAt.gt=2026-01-01T00:00:00Z', ['createdAt.gt', 'ip', 'createdAt.gte']],
    ['ip=1.2.3&createdAt.gte=x', ['ip', 'createdAt.gte']],
    ['ip=', ['ip']],
    ['orderBy=userAgent&direction=up', ['orderBy', 'direction']],
    ['orderBy=tokenHash', ['orderBy']],
    ['page=-1&ip=1.2.3&orderBy=x&x=1', ['x', 'page', 'ip', 'orderBy']],
    ['ip=1.2.3&orderBy=x', ['ip', 'orderBy']],
    // Nothing secret can be asked for (security, row 54).
    ...['tokenHash', 'previousTokenHash', 'parentId', 'grantId', 'user.email'].map(
      (field): [string, string[]] => [`${field}=x`, [field]],
    ),
  ])('%s is refused by name', async (query, fields) => {
    const { status, body } = await rest(query)
    expect([status, faults(body).map(({ field }) => field)]).toEqual([400, fields])
  })

  test('every faulty field is named at once over GraphQL, too', async () => {
    const query = `{ sessions(pageSize: 5000, filter: { ip: "1.2.3", userId: "x" }) { totalSize } }`
    const { errors } = (await app.gql(tenant, token, query)).body
    const named = errors?.[0]?.extensions.fields.map(({ field }: { field: string }) => field)
    expect(named).toEqual(['userId', 'ip', 'pageSize'])
  })
})

describe('the pages', () => {
  test('are of the spec’s envelope, and go on by cursor', async () => {
    const { headers, body } = await rest('pageSize=5')
    expect(Object.keys(body)).toEqual(['page', 'pageSize', 'totalSize', 'sessions'])
    expect(body).toMatchObject({ page: 0, pageSize: 5, totalSize: 12 })
    expect(Object.keys(linksIn(headers))).toEqual(['first', 'next'])
    const { data } = await graphql({ page: 1, pageSize: 5 })
    expect(data.sessions).toMatchObject({ page: 1, pageSize: 5, totalSize: 12 })
    const next = await graphql({ first: 5, after: data.sessions.pageInfo.endCursor })
    expect(idsOf(next.data.sessions.nodes)).toEqual(idsOf(active.slice(10)))
    expect(next.data.sessions.page).toBeNull()
  })

  test('take no cursor of another filter, order, list or tenant (security, row 53)', async () => {
    const { endCursor } = (await graphql({ first: 2, filter: { userId: ada } })).data.sessions.pageInfo
    const other = await newTenant()
    const bearer = await tokenFor(other)
    const at = `after=${endCursor}`
    const mine = `/sessions?userId=${ada}&${at}`
    expect((await app.rest(tenant, token, 'GET', mine)).status).toBe(200)
    for (const answer of [
      await rest(at),
      await rest(`${at}&userId=${grace}`),
      await rest(`${at}&userId=${ada}&direction=desc`),
      await rest(`${at}&userId=${ada}&orderBy=createdAt`),
      await rest(`${at}&userId=${ada}&clientId=${clientId}`),
      await app.rest(tenant, token, 'GET', `/users/${ada}/sessions?${at}`),
      await app.rest(tenant, token, 'GET', `/users?${at}`),
      await app.rest(other, bearer, 'GET', mine),
    ])
      expect([answer.status, answer.body.fields.map(({ field }: { field: string }) => field)]).toEqual([
        400,
        ['after'],
      ])
  })

  test('are one statement, and one more for totalSize', async () => {
    const filter = { userId: ada }
    expect(await countStatements(() => listSessions(ctx, { filter, first: 5 }))).toBe(1)
    const counted = async () => (await listSessions(ctx, { filter, orderBy: 'createdAt' })).countAll()
    expect(await countStatements(counted)).toBe(2)
    const nested = '{ sessions { nodes { id userAgent user { id } client { id } } } }'
    expect(await countStatements(() => app.gql(tenant, token, nested))).toBe(3)
  })

  test("hold nothing of another tenant's, nor count it (security, row 50)", async () => {
    const other = await newTenant()
    const bearer = await tokenFor(other)
    for (const query of [
      '',
      `?userId=${ada}`,
      `?clientId=${clientId}`,
      '?ip=203.0.113.7',
      '?orderBy=lastSeenAt',
    ])
      expect((await app.rest(other, bearer, 'GET', `/sessions${query}`)).body).toMatchObject({
        totalSize: 0,
        sessions: [],
      })
  })

  test('of one user go on by cursor too', async () => {
    const pages = await walk(app, tenant, token, `/users/${ada}/sessions?pageSize=3`, 'sessions', 'next')
    expect(idsOf(pages.flat())).toEqual(idsOf(active.filter(({ userId }) => userId === ada)))
  })
})

describe('an address', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['2001:DB8::1', '2001:db8::1'],
    ['2001:0db8:0000:0000:0000:0000:0000:0001', '2001:db8::1'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::FFFF:cb00:7107', '203.0.113.7'],
    ['::1', '::1'],
    ['::', '::'],
    ['fe80::1%eth0', 'fe80::1'],
    ['203.0.113.007', null],
    ['203.0.113', null],
    ['2001:db8::1::', null],
    ['[::1]', null],
    ['unknown', null],
    ['', null],
  ])('%s is kept as %s', (given, kept) => {
    expect(normalIp(given)).toBe(kept)
  })
})
