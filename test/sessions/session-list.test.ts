import { describe, expect } from 'vitest'
import type { SessionFilterMember } from '../../src/sessions/session-list.fields.ts'
import { listSessions, SESSION_LISTS } from '../../src/sessions/session-list.ts'
import { newTenant } from '../support/actors.ts'
import type { Json } from '../support/json.ts'
import { linksIn } from '../support/lists.ts'
import {
  atHour,
  filterBy,
  ORDER_ENUM,
  type SessionRow,
  test,
  toIds,
  toParameters,
  type Values,
} from '../support/session-list.ts'
import { countStatements, leastStatements } from '../support/statements.ts'

const MATCHES: Record<SessionFilterMember, (row: SessionRow, by: Values) => boolean> = {
  userId: ({ userId }, { ada }) => userId === ada,
  clientId: (row, { clientId }) => row.clientId === clientId,
  organizationId: ({ userId, lastSeenIp }, { ada }) => userId === ada && lastSeenIp === '203.0.113.7',
  ip: ({ lastSeenIp }) => lastSeenIp === '203.0.113.7',
  createdAt: ({ createdAt }) => createdAt >= atHour(-8) && createdAt < atHour(-2),
  lastSeenAt: ({ lastSeenAt }) => lastSeenAt >= atHour(1),
}
const isMatch = (members: readonly SessionFilterMember[], row: SessionRow, by: Values) =>
  members.every((member) => MATCHES[member](row, by))

describe('lists of sessions', () => {
  /** Each combination once, by its members and order. */
  const cases = new Map(
    SESSION_LISTS.flatMap(({ by, combinable: more, orders }) =>
      orders.flatMap((order) =>
        [[], more.slice(0, 1), more].map((also) => {
          const members = [...new Set([...(by ? [by] : []), ...also])]
          const name = members.join(', ') || 'no filter'
          return [`${name} by ${order}`, [name, order, members]] as const
        }),
      ),
    ),
  )

  test.for([...cases.values()])(
    'by %s in the order of %s are the same over REST and GraphQL, forward and backward',
    async ([_, order, members], {
      ada,
      clientId,
      organizationId,
      active,
      listOverGraphql,
      listOverRest,
      walkIds,
    }) => {
      const filter = filterBy(members, { ada, clientId, organizationId })
      const rows = active.filter((row) => isMatch(members, row, { ada, clientId, organizationId }))
      const sortedBy = (row: SessionRow) => (order === 'id' ? 0 : row[order].getTime())
      // Ids break ties, and are in order already.
      const expected = toIds([...rows].sort((a, b) => sortedBy(a) - sortedBy(b)))
      expect(rows.length).toBeGreaterThan(0)
      const given = toParameters(filter) + (order === 'id' ? '' : `&orderBy=${order}`)
      for (const direction of ['asc', 'desc'] as const) {
        const wanted = direction === 'asc' ? expected : [...expected].reverse()
        const { status, body } = await listOverRest(`direction=${direction}${given}`)
        expect([status, body.totalSize, toIds(body.sessions)]).toEqual([200, wanted.length, wanted])
        const orderBy = { field: ORDER_ENUM[order], direction: direction.toUpperCase() }
        const { sessions } = (await listOverGraphql({ filter, orderBy })).data
        expect([sessions.totalSize, toIds(sessions.nodes)]).toEqual([wanted.length, wanted])
        expect(toIds((await listOverGraphql({ filter, orderBy, last: 3 })).data.sessions.nodes)).toEqual(
          wanted.slice(-3),
        )
        const path = `/sessions?pageSize=2&direction=${direction}${given}`
        expect(await walkIds(path)).toEqual(wanted)
        const end = Math.ceil(wanted.length / 2) - 1
        expect(await walkIds(`${path}&page=${end}`, 'prev')).toEqual(wanted)
      }
    },
  )

  test('filtered by a range of time are ordered by that time by default, and an empty range filters nothing', async ({
    ada,
    clientId,
    organizationId,
    active,
    listOverGraphql,
    listOverRest,
  }) => {
    const { createdAt } = filterBy(['createdAt'], { ada, clientId, organizationId })
    expect((await listOverRest(toParameters({ createdAt }))).body.sessions).toEqual(
      (await listOverRest(`${toParameters({ createdAt })}&orderBy=createdAt`)).body.sessions,
    )
    const filter = { userId: null, createdAt: {}, lastSeenAt: { gte: null } }
    expect(toIds((await listOverGraphql({ filter })).data.sessions.nodes)).toEqual(toIds(active))
  })
})

describe('pages of sessions', () => {
  test('have page, pageSize, totalSize and sessions over REST, and continue by cursor over GraphQL', async ({
    active,
    listOverGraphql,
    listOverRest,
  }) => {
    const { headers, body } = await listOverRest('pageSize=5')
    expect(Object.keys(body)).toEqual(['page', 'pageSize', 'totalSize', 'endsEarly', 'sessions'])
    expect(body).toMatchObject({ page: 0, pageSize: 5, totalSize: 12 })
    expect(Object.keys(linksIn(headers))).toEqual(['first', 'next'])
    const { data } = await listOverGraphql({ page: 1, pageSize: 5 })
    expect(data.sessions).toMatchObject({ page: 1, pageSize: 5, totalSize: 12 })
    const next = await listOverGraphql({ first: 5, after: data.sessions.pageInfo.endCursor })
    expect(toIds(next.data.sessions.nodes)).toEqual(toIds(active.slice(10)))
    expect(next.data.sessions.page).toBeNull()
  })

  test('reject a cursor of another filter, order, list or tenant', async ({
    rest,
    ada,
    grace,
    clientId,
    listOverGraphql,
    listOverRest,
  }) => {
    const { endCursor } = (await listOverGraphql({ first: 2, filter: { userId: ada } })).data.sessions
      .pageInfo
    const other = await newTenant()
    const at = `after=${endCursor}`
    const mine = `/sessions?userId=${ada}&${at}`
    expect((await rest('GET', mine)).status).toBe(200)
    for (const answer of [
      await listOverRest(at),
      await listOverRest(`${at}&userId=${grace}`),
      await listOverRest(`${at}&userId=${ada}&direction=desc`),
      await listOverRest(`${at}&userId=${ada}&orderBy=createdAt`),
      await listOverRest(`${at}&userId=${ada}&clientId=${clientId}`),
      await rest('GET', `/users/${ada}/sessions?${at}`),
      await rest('GET', `/users?${at}`),
      await rest('GET', mine, undefined, { tenant: other }),
    ])
      expect([answer.status, answer.body.fields.map(({ field }: Json) => field)]).toEqual([400, ['after']])
  })

  test('need one statement, and one more for totalSize', async ({ ctx, gql, ada }) => {
    const filter = { userId: ada }
    expect(await countStatements(() => listSessions(ctx, { filter, first: 5 }))).toBe(1)
    const counted = async () => (await listSessions(ctx, { filter, orderBy: 'createdAt' })).countAll()
    expect(await countStatements(counted)).toBe(2)
    const nested = '{ sessions { nodes { id userAgent user { id } client { id } } } }'
    expect(await leastStatements(() => gql(nested))).toBe(3)
  })

  test('contain and count no session of another tenant', async ({ rest, ada, clientId }) => {
    const other = await newTenant()
    for (const query of [
      '',
      `?userId=${ada}`,
      `?clientId=${clientId}`,
      '?ip=203.0.113.7',
      '?orderBy=lastSeenAt',
    ])
      expect((await rest('GET', `/sessions${query}`, undefined, { tenant: other })).body).toMatchObject({
        totalSize: 0,
        sessions: [],
      })
  })

  test('of one user continue by cursor over REST', async ({ ada, active, walkIds }) => {
    expect(await walkIds(`/users/${ada}/sessions?pageSize=3`)).toEqual(
      toIds(active.filter(({ userId }) => userId === ada)),
    )
  })
})
