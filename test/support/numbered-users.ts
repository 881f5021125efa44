import { expect } from 'vitest'
import { test as base } from './fixtures.ts'
import type { Json } from './json.ts'
import { toOutcome } from './user-writers.ts'

export const LIST =
  'query ($page: Int, $pageSize: Int, $first: Int, $after: String, $last: Int, $before: String) { users(page: $page, pageSize: $pageSize, first: $first, after: $after, last: $last, before: $before) { edges { cursor node { id } } nodes { id } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } totalSize page pageSize } }'

/** Seven users, and lists of them in which each is its index. */
export const test = base
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
