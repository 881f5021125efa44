import { Client, fetchExchange, subscriptionExchange } from '@urql/core'
import { cacheExchange } from '@urql/exchange-graphcache'
import { relayPagination } from '@urql/exchange-graphcache/extras'
import { getIntrospectionQuery, type IntrospectionQuery } from 'graphql'
import type { Connection } from './connection.ts'
import type { CreateUserMutation, UsersQueryVariables } from './generated/graphql.ts'
import { UsersDocument } from './operations.ts'

/** urql with its normalized cache, as its documentation sets it up. */
export async function createUrqlClient(connection: Connection): Promise<Client> {
  const { url, headers, socket } = connection
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ query: getIntrospectionQuery() }),
  })
  const { data: schema } = (await response.json()) as { data: IntrospectionQuery }
  return new Client({
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
              if (createUser?.__typename !== 'CreateUserPayload' || !createUser.user) return
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
}
