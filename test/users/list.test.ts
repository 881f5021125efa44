import { describe, expect } from 'vitest'
import { newTenant } from '../support/actors.ts'
import { test as base } from '../support/fixtures.ts'
import { invalidFields } from '../support/issues.ts'
import type { Json } from '../support/json.ts'
import { toOutcome } from '../support/user-writers.ts'

const LIST =
  'query ($page: Int, $pageSize: Int, $first: Int, $after: String, $last: Int, $before: String) { users(page: $page, pageSize: $pageSize, first: $first, after: $after, last: $last, before: $before) { edges { cursor node { id } } nodes { id } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } totalSize page pageSize } }'

/** Seven users, and lists of them in which each is its index. */
const test = base
  .extend('ids', { scope: 'file' }, async ({ create }) => {
    const ids: string[] = []
    for (let index = 0; index < 7; index++) ids.push((await create('/users', { name: `User ${index}` })).id)
    return ids
  })
  .extend('page', { scope: 'file' }, ({ rest, ids }) => async (query: string) => {
    const { status, body } = await rest('GET', `/users${query}`)
    if (status !== 200) return toOutcome({ status, headers: new Headers(), body })
    return { ...body, users: body.users.map(({ id }: Json) => ids.indexOf(id)) }
  })
  .extend('connection', { scope: 'file' }, ({ gql, ids }) => async (variables: object): Promise<Json> => {
    const { body } = await gql(LIST, variables)
    if (!body.data?.users) return body.errors?.[0]
    const { edges, nodes, pageInfo, ...rest } = body.data.users
    expect(edges.map(({ node }: Json) => node)).toEqual(nodes)
    return {
      ...rest,
      next: pageInfo.hasNextPage,
      previous: pageInfo.hasPreviousPage,
      start: pageInfo.startCursor as string,
      end: pageInfo.endCursor as string,
      users: nodes.map(({ id }: Json) => ids.indexOf(id)),
    }
  })

const notWhole = 'must be a whole number from 0 to 1000000000'

describe('lists of users', () => {
  test.for<[query: string, page: object]>([
    ['', { page: 0, pageSize: 50, totalSize: 7, endsEarly: false, users: [0, 1, 2, 3, 4, 5, 6] }],
    ['?pageSize=3', { page: 0, pageSize: 3, totalSize: 7, endsEarly: false, users: [0, 1, 2] }],
    ['?page=2&pageSize=3', { page: 2, pageSize: 3, totalSize: 7, endsEarly: false, users: [6] }],
    ['?page=3&pageSize=3', { page: 3, pageSize: 3, totalSize: 7, endsEarly: false, users: [] }],
    [
      '?pageSize=1000',
      { page: 0, pageSize: 1000, totalSize: 7, endsEarly: false, users: [0, 1, 2, 3, 4, 5, 6] },
    ],
    [
      '?page=1000000000&pageSize=1000',
      { page: 1_000_000_000, pageSize: 1000, totalSize: 7, endsEarly: false, users: [] },
    ],
  ])('returns the page that %s asks for', async ([query, expected], { page }) => {
    expect(await page(query)).toEqual(expected)
  })

  test.for<[string, [string, string][]]>([
    ['?pageSize=0', [['pageSize', 'must be a whole number from 1 to 1000']]],
    ['?pageSize=1001', [['pageSize', 'must be a whole number from 1 to 1000']]],
    ['?page=-1', [['page', notWhole]]],
    ['?page=1e3', [['page', notWhole]]],
    ['?page=%205', [['page', notWhole]]],
    ['?page=0x10', [['page', notWhole]]],
    ['?page=', [['page', notWhole]]],
    ['?page=1.0', [['page', notWhole]]],
    ['?page=01', [['page', notWhole]]],
    ['?page=1&page=1', [['page', 'is given more than once']]],
    [
      '?page=-1&pageSize=0&limit=5&__proto__=1',
      [
        ['limit', 'is not a parameter of this request'],
        ['__proto__', 'is not a parameter of this request'],
        ['page', notWhole],
        ['pageSize', 'must be a whole number from 1 to 1000'],
      ],
    ],
  ])('rejects %s', async ([query, expected], { page }) => {
    expect(await page(query)).toEqual(invalidFields(...expected))
  })

  test('continues by cursor from a page that was read by number, in both directions', async ({
    connection,
  }) => {
    const second = await connection({ page: 1, pageSize: 2 })
    expect(second).toMatchObject({
      page: 1,
      pageSize: 2,
      totalSize: 7,
      users: [2, 3],
      next: true,
      previous: true,
    })
    const on = await connection({ first: 2, after: second.end })
    expect(on).toMatchObject({
      page: null,
      pageSize: 2,
      totalSize: 7,
      users: [4, 5],
      next: true,
      previous: true,
    })
    expect(await connection({ first: 2, after: on.end })).toMatchObject({
      users: [6],
      next: false,
      previous: true,
    })
    expect(await connection({ last: 2, before: on.start })).toMatchObject({
      users: [2, 3],
      next: true,
      previous: true,
    })
    expect(await connection({ last: 2, before: second.start })).toMatchObject({
      users: [0, 1],
      next: true,
      previous: false,
    })
    expect(await connection({ last: 3 })).toMatchObject({ users: [4, 5, 6], next: false, previous: true })
    expect(await connection({ first: 3 })).toMatchObject({ users: [0, 1, 2], next: true, previous: false })
  })

  test('rejects a cursor of another tenant, a forged cursor, and page together with first', async ({
    gql,
    connection,
  }) => {
    const { end } = await connection({ first: 1 })
    const elsewhere = await gql(LIST, { first: 1, after: end }, { tenant: await newTenant() })
    expect(elsewhere.body.errors).toMatchObject([
      { extensions: { code: 'BAD_USER_INPUT', fields: [{ field: 'after' }] } },
    ])
    const payload = Buffer.from(JSON.stringify(['user_0', null])).toString('base64url')
    expect(
      await connection({ first: 1, after: `${payload}.${(end as string).split('.')[1]}` }),
    ).toMatchObject({ extensions: { code: 'BAD_USER_INPUT' } })
    expect(await connection({ page: 0, first: 1 })).toMatchObject({ extensions: { code: 'BAD_USER_INPUT' } })
  })

  test('accepts a cursor whose row was deleted', async ({ rest, ids, connection }) => {
    const all = await connection({ first: 4 })
    await rest('DELETE', `/users/${ids[3]}`)
    expect(await connection({ first: 2, after: all.end })).toMatchObject({ users: [4, 5], totalSize: 6 })
  })
})
