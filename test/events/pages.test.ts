import { describe, expect } from 'vitest'
import { listEvents } from '../../src/events/list.ts'
import type { LogEvent } from '../../src/events/log.ts'
import { idsOf, LIST, past, test } from '../support/event-log.ts'
import { toFieldNames } from '../support/issues.ts'
import { linksIn } from '../support/lists.ts'
import { countStatements, countWarmStatements } from '../support/statements.ts'

describe('the pages of a list of events', () => {
  test.for(['', '&direction=desc'])(
    'contain each event once in both directions (%j)',
    async (direction, { restEvents, walkEvents }) => {
      const all = idsOf(await restEvents(direction))
      const pages = await walkEvents(`pageSize=3${direction}`)
      expect(idsOf(pages.flat())).toEqual(all)
      expect(new Set(pages.slice(0, -1).map((rows) => rows.length))).toEqual(new Set([3]))
      const end = pages.flat().at(-1).position
      const back = await walkEvents(`pageSize=3&before=${end}${direction}`, 'prev')
      expect(idsOf(back.reverse().flat())).toEqual(all.slice(0, -1))
    },
  )

  test('have positions as cursors over GraphQL', async ({ log, graphqlEvents }) => {
    const { edges, nodes, pageInfo } = await graphqlEvents({ first: 3 })
    const positions = nodes.map(({ position }: LogEvent) => position)
    expect(edges.map(({ cursor }: { cursor: string }) => cursor)).toEqual(positions)
    expect(pageInfo).toEqual({
      hasNextPage: true,
      hasPreviousPage: false,
      startCursor: positions[0],
      endCursor: positions[2],
    })
    const next = await graphqlEvents({ first: 3, after: pageInfo.endCursor })
    expect(idsOf(next.nodes)).toEqual(idsOf(log.slice(3, 6)))
    expect(next.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: true })
    const previous = await graphqlEvents({ last: 2, before: next.pageInfo.startCursor })
    expect(idsOf(previous.nodes)).toEqual(idsOf(log.slice(1, 3)))
    expect(previous.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: true })
    const newest = await graphqlEvents({ first: 2, direction: 'DESC' })
    expect(idsOf(newest.nodes)).toEqual(idsOf(log.slice(-2).reverse()))
  })

  test('have links with the filter and without a page number', async ({ world: _, tenant, rest }) => {
    const { headers, body } = await rest('GET', '/events?types=key.rotated&pageSize=2')
    expect(Object.keys(body)).toEqual(['pageSize', 'endsEarly', 'events'])
    const [, second] = body.events
    expect(linksIn(headers)).toEqual({
      first: `/${tenant}/api/v1/events?types=key.rotated&pageSize=2`,
      next: `/${tenant}/api/v1/events?types=key.rotated&pageSize=2&after=${second.position}`,
    })
  })

  test.for([
    'x',
    '',
    'MS4yLjM=',
    Buffer.from('1.2.3.4').toString('base64url'),
    Buffer.from('99.1.1').toString('base64url'),
  ])('are rejected for the invalid cursor %j', async (cursor, { rest, gql }) => {
    for (const field of ['after', 'before']) {
      const answer = await rest('GET', `/events?${field}=${encodeURIComponent(cursor)}`)
      expect([answer.status, answer.body.fields]).toEqual([
        400,
        [{ field, description: 'is not a cursor of this list' }],
      ])
      const { body } = await gql(LIST, { [field]: cursor })
      expect(body.errors?.[0]?.extensions.fields).toEqual(answer.body.fields)
    }
  })

  test.for([
    [{ first: 0 }, ['first']],
    [{ last: 1001 }, ['last']],
    [{ first: 1, last: 1 }, ['first']],
  ])('are rejected for %j with the names of the arguments', async ([variables, fields], { gql }) => {
    const { body } = await gql(LIST, variables)
    expect(toFieldNames(body.errors?.[0]?.extensions.fields)).toEqual(fields)
  })

  test('take one statement each', async ({ ctx, graphqlEvents }) => {
    const filter = { types: ['user.created', 'user.locked'], occurredAt: { gte: past(1).toISOString() } }
    expect(await countStatements(() => listEvents(ctx, { filter, first: 5 }))).toBe(1)
    const page = () => graphqlEvents({ filter, last: 5 })
    expect(await countWarmStatements(page, page)).toBe(1)
  })
})
