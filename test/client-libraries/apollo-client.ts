import { ApolloClient, ApolloLink, HttpLink, InMemoryCache } from '@apollo/client'
import { GraphQLWsLink } from '@apollo/client/link/subscriptions'
import { getMainDefinition, relayStylePagination } from '@apollo/client/utilities'
import { Kind, OperationTypeNode } from 'graphql'
import type { Connection } from './connection.ts'

/** Apollo Client with its cache, as its documentation sets it up. */
export async function createApolloClient(connection: Connection): Promise<ApolloClient> {
  const { url, headers, socket } = connection
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ query: '{ __schema { types { name possibleTypes { name } } } }' }),
  })
  const { data } = (await response.json()) as {
    data: { __schema: { types: { name: string; possibleTypes: { name: string }[] | null }[] } }
  }
  // Apollo's cache needs the members of unions and interfaces.
  const possibleTypes = Object.fromEntries(
    data.__schema.types.flatMap(({ name, possibleTypes: of }) =>
      of ? [[name, of.map((type) => type.name)]] : [],
    ),
  )
  const client = new ApolloClient({
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
  return client
}
