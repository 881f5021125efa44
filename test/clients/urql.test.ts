import { Client, fetchExchange, subscriptionExchange } from '@urql/core'
import { cacheExchange } from '@urql/exchange-graphcache'
import { relayPagination } from '@urql/exchange-graphcache/extras'
import { getIntrospectionQuery, type IntrospectionQuery } from 'graphql'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { type Connection, connectTo, until } from './connection.ts'
import type { CreateUserMutation, UsersQueryVariables } from './generated/graphql.ts'
import { CreateUserDocument, LocksDocument, LockUserDocument, UsersDocument } from './operations.ts'

let app: TestApp
let connection: Connection
let client: Client

beforeAll(async () => {
  app = await startApp()
  connection = await connectTo(app)
  const { url, headers, socket } = connection
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ query: getIntrospectionQuery() }),
  })
  const { data: schema } = (await response.json()) as { data: IntrospectionQuery }
  client = new Client({
    url,
    fetchOptions: { headers },
    preferGetMethod: false,
    exchanges: [
      cacheExchange({
        schema,
        resolvers: { Query: { users: relayPagination() } },
        updates: {
          Mutation: {
            createUser: ({ createUser }: CreateUserMutation, _args, cache) => {
              if (createUser?.__typename !== 'UserPayload' || !createUser.user) return
              const node = {
                ...createUser.user,
                sessions: { __typename: 'SessionConnection' as const, edges: [] },
              }
              const edge = { __typename: 'UserEdge' as const, cursor: '', node }
              const pages = cache.inspectFields('Query').filter(({ fieldName }) => fieldName === 'users')
              const variables = pages.at(-1)?.arguments as UsersQueryVariables
              cache.updateQuery({ query: UsersDocument, variables }, (list) => {
                list?.users?.edges.push(edge)
                return list
              })
            },
          },
        },
      }),
      fetchExchange,
      subscriptionExchange({
        forwardSubscription: ({ query, variables }) => ({
          subscribe: (sink) => ({
            unsubscribe: socket.subscribe({ query: query ?? '', variables }, sink as never),
          }),
        }),
      }),
    ],
  })
})
afterAll(async () => {
  await connection.socket.dispose()
  await app.close()
})

const listed = () =>
  client.readQuery(UsersDocument, { first: 3 })?.data?.users?.edges.map(({ node }) => node) ?? []

test('pages through a list by relayPagination', async () => {
  let after: string | null | undefined
  do {
    const { data, error } = await client.query(UsersDocument, { first: 3, after }).toPromise()
    expect(error).toBeUndefined()
    after = data?.users?.pageInfo.hasNextPage ? data.users.pageInfo.endCursor : undefined
  } while (after)
  expect(listed().map(({ id }) => id)).toEqual(connection.userIds)
})

test('a mutation changes the rows in the cache, and its update adds new ones', async () => {
  const [, bob] = connection.userIds
  await client.mutation(LockUserDocument, { userId: bob as string }).toPromise()
  expect(listed()[1]).toMatchObject({ name: 'Bob', locked: true })
  await client.mutation(CreateUserDocument, { name: 'Hana' }).toPromise()
  expect(listed().at(-1)).toMatchObject({ name: 'Hana', locked: false })
})

test('a subscription changes the rows in the cache', async () => {
  const [, , cleo] = connection.userIds
  const failures: unknown[] = []
  const { unsubscribe } = client
    .subscription(LocksDocument, { after: await connection.position() })
    .subscribe(({ error }) => error && failures.push(error))
  await connection.lock(cleo as string)
  await until(() => failures.length > 0 || listed().some(({ id, locked }) => id === cleo && locked))
  unsubscribe()
  expect(failures).toEqual([])
})
