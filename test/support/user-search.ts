import { expect } from 'vitest'
import { createUser } from '../../src/users/users.ts'
import { ctxFor, newTenant } from './actors.ts'
import { test as base } from './fixtures.ts'
import type { Json } from './json.ts'

const PEOPLE: Record<string, object> = {
  lukasz: { name: 'Łukasz Żółć', email: 'lukasz@example.com', emailVerified: true },
  muller: { name: 'Jörg MÜLLER', email: 'j.mueller+shop@example.com' },
  soren: { givenName: 'Søren', familyName: 'Ångström', nickname: 'Ærlig', locked: true },
  strasse: { name: 'Anna Groß', preferredUsername: 'anna-straße' },
  thor: { name: 'Þórður Guðmundsson' },
  ivan: { name: 'Иван Ёлкин', email: 'ivan@пример.рф' },
  odysseas: { name: 'Οδυσσέας Ελύτης' },
  hindi: { name: 'हिन्दी शर्मा' },
  yamada: { name: '山田 太郎', middleName: 'がく' },
  tanaka: { name: '田中田太郎', nickname: 'たろう', preferredUsername: 'タロウ-tanaka' },
  kim: { name: '김철수' },
  somchai: { name: 'สมชายใจดี' },
  full: { name: 'Ａｄａ Ｌｏｖｅｌａｃｅ', email: 'ada.lovelace@example.com', emailVerified: true },
  wild: { name: '100% under_score back\\slash', email: "o'brien@example.com" },
  twice: { name: 'Anna Annabel Anna', nickname: 'Ann', email: 'anna@example.com', emailVerified: true },
  empty: {},
}

export const QUERY = `query ($filter: UserFilter, $orderBy: UserOrder, $first: Int, $after: String, $last: Int, $before: String) {
  users(filter: $filter, orderBy: $orderBy, first: $first, after: $after, last: $last, before: $before) {
    totalSize edges { cursor node { id } } nodes { id } pageInfo { hasNextPage hasPreviousPage endCursor startCursor } } }`

/** A filter as query parameters of REST. */
export const toParameters = (filter: object, above = ''): [string, string][] =>
  Object.entries(filter).flatMap(([name, value]): [string, string][] =>
    typeof value === 'object' && value !== null
      ? toParameters(value, `${above}${name}.`)
      : [[`${above}${name}`, String(value)]],
  )

type Order = { field?: string; direction?: string }

/** `test` with users of many scripts, and lists of them over both surfaces. */
export const test = base
  /** The ids of the users by the keys of PEOPLE. */
  .extend('ids', { scope: 'file' }, async ({ ctx }) => {
    const ids: Record<string, string> = {}
    for (const [key, input] of Object.entries(PEOPLE)) ids[key] = (await createUser(ctx, input)).id
    await createUser(await ctxFor(await newTenant()), {
      name: 'Anna Foreign Łukasz',
      email: 'anna@example.com',
      appMetadata: { plan: 'pro' },
    })
    return ids
  })
  /** The keys of the users that both surfaces return, in their order; ids of users that have no key. */
  .extend(
    'find',
    { scope: 'file' },
    ({ ids, rest, gql }) =>
      async (filter: object, orderBy?: Order): Promise<string[]> => {
        const graphql = await gql(QUERY, { filter, orderBy, first: 100 })
        expect(graphql.body.errors).toBeUndefined()
        const { nodes, edges, totalSize } = graphql.body.data.users
        const camel = orderBy?.field
          ?.toLowerCase()
          .replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())
        const query = new URLSearchParams([
          ...toParameters(filter),
          ...(camel ? [['orderBy', camel]] : []),
          ...(orderBy?.direction ? [['direction', orderBy.direction.toLowerCase()]] : []),
        ])
        const { status, body } = await rest('GET', `/users?${query}`)
        expect(status).toBe(200)
        const found: string[] = nodes.map(({ id }: Json) => id)
        expect(edges.map(({ node }: Json) => node.id)).toEqual(found)
        expect(body.users.map(({ id }: Json) => id)).toEqual(found)
        expect([totalSize, body.totalSize]).toEqual([found.length, found.length])
        const keys = new Map(Object.entries(ids).map(([key, id]) => [id, key]))
        return found.map((id) => keys.get(id) ?? id)
      },
  )
  .extend(
    'findSorted',
    { scope: 'file' },
    ({ find }) =>
      async (filter: object) =>
        (await find(filter)).sort(),
  )
  /** The names of the members that both surfaces reject in a filter or an order. */
  .extend(
    'findInvalid',
    { scope: 'file' },
    ({ rest, gql }) =>
      async (filter: object, orderBy?: { field: string }): Promise<string[]> => {
        const { body } = await gql(QUERY, { filter, orderBy })
        expect(body.errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT')
        const fields: Json = body.errors?.[0]?.extensions.fields
        if (!orderBy)
          expect(await rest('GET', `/users?${new URLSearchParams(toParameters(filter))}`)).toMatchObject({
            status: 400,
            body: { code: 'BAD_USER_INPUT', fields },
          })
        return fields.map(({ field }: Json) => field)
      },
  )
