import { ApolloClient, ApolloLink, HttpLink, InMemoryCache } from '@apollo/client'
import { GraphQLWsLink } from '@apollo/client/link/subscriptions'
import { getMainDefinition, relayStylePagination } from '@apollo/client/utilities'
import { Kind, OperationTypeNode } from 'graphql'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { type Connection, connectTo, until } from './connection.ts'
import { CreateUserDocument, LocksDocument, LockUserDocument, UsersDocument } from './operations.ts'

let app: TestApp
let connection: Connection
let client: ApolloClient
/** What the introspection says of unions and interfaces, which Apollo's cache has to be told. */
let possibleTypes: Record<string, string[]>

beforeAll(async () => {
  app = await startApp()
  connection = await connectTo(app)
  const { url, headers, socket } = connection
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ query: '{ __schema { types { name possibleTypes { name } } } }' }),
  })
  const { data } = (await response.json()) as {
    data: { __schema: { types: { name: string; possibleTypes: { name: string }[] | null }[] } }
  }
  possibleTypes = Object.fromEntries(
    data.__schema.types.flatMap(({ name, possibleTypes: of }) =>
      of ? [[name, of.map((type) => type.name)]] : [],
    ),
  )
  client = new ApolloClient({
    link: ApolloLink.split(
      ({ query }) => {
        const definition = getMainDefinition(query)
        return (
          definition.kind === Kind.OPERATION_DEFINITION &&
          definition.operation === OperationTypeNode.SUBSCRIPTION
        )
      },
      new GraphQLWsLink(socket),
      new HttpLink({ uri: url, headers }),
    ),
    cache: new InMemoryCache({
      possibleTypes,
      typePolicies: { Query: { fields: { users: relayStylePagination() } } },
    }),
  })
})
afterAll(async () => {
  client.stop()
  await connection.socket.dispose()
  await app.close()
})

/** The whole list, as the cache has it. */
const listed = () =>
  client.readQuery({ query: UsersDocument, variables: { first: 3 } })?.users?.edges.map(({ node }) => node) ??
  []

test('pages through a list by relayStylePagination', async () => {
  const first = await client.query({ query: UsersDocument, variables: { first: 3 } })
  expect(listed().map(({ name }) => name)).toEqual(['Ada', 'Bob', 'Cleo'])
  const list = client.watchQuery({ query: UsersDocument, variables: { first: 3 } })
  const subscription = list.subscribe({})
  let pageInfo = first.data?.users?.pageInfo
  while (pageInfo?.hasNextPage) {
    const next = await list.fetchMore({ variables: { first: 3, after: pageInfo.endCursor } })
    pageInfo = next.data?.users?.pageInfo
  }
  expect(listed().map(({ id }) => id)).toEqual(connection.userIds)
  subscription.unsubscribe()
})

test('a mutation changes the rows in the cache, and its update adds new ones', async () => {
  const [, bob] = connection.userIds
  await client.mutate({ mutation: LockUserDocument, variables: { userId: bob as string } })
  expect(listed()[1]).toMatchObject({ name: 'Bob', locked: true })
  await client.mutate({
    mutation: CreateUserDocument,
    variables: { name: 'Hana' },
    update: (cache, { data }) => {
      const created = data?.createUser
      if (created?.__typename !== 'UserPayload' || !created.user) throw new Error('not created')
      const node = {
        ...created.user,
        sessions: { __typename: 'SessionConnection' as const, edges: [] },
      }
      const edge = { __typename: 'UserEdge' as const, cursor: '', node }
      cache.updateQuery({ query: UsersDocument, variables: { first: 3 } }, (list) =>
        list?.users ? { users: { ...list.users, edges: [...list.users.edges, edge] } } : undefined,
      )
    },
  })
  expect(listed().at(-1)).toMatchObject({ name: 'Hana', locked: false })
})

test('expected errors come as data, found by their interface', async () => {
  const { data } = await client.mutate({
    mutation: LockUserDocument,
    variables: { userId: 'user_01m7xeb1sbendby702xerkqv3p' },
  })
  expect(data?.lockUser).toMatchObject({ __typename: 'NotFoundError', code: 'NOT_FOUND' })
})

test('a subscription changes the rows in the cache', async () => {
  const [, , cleo] = connection.userIds
  const failures: unknown[] = []
  const subscription = client
    .subscribe({ query: LocksDocument, variables: { after: await connection.position() } })
    .subscribe({ error: (error) => failures.push(error) })
  await connection.lock(cleo as string)
  await until(() => failures.length > 0 || listed().some(({ id, locked }) => id === cleo && locked))
  subscription.unsubscribe()
  expect(failures).toEqual([])
})
