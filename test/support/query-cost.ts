import type { GraphqlBody } from './app.ts'
import { test as base } from './fixtures.ts'
import { openSocket } from './streams.ts'

export const MAXIMUM = 10_000
export const LIST = `query ($n: Int) { users(first: $n) { nodes { id
  a: sessions(first: 5) { nodes { id } } b: sessions(first: 5) { nodes { id } } } } }`

/** Answers with `extensions.cost`, which `gql` leaves out. */
export const test = base
  .extend(
    'post',
    { scope: 'file' },
    ({ app, tenant, token }) =>
      async (query: string, variables: object = {}) => {
        const response = await app.fetch(`/${tenant}/graphql`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
          body: JSON.stringify({ query, variables }),
        })
        return { status: response.status, body: (await response.json()) as GraphqlBody }
      },
  )
  .extend(
    'readCost',
    { scope: 'file' },
    ({ post }) =>
      async (query: string, variables?: object) =>
        (await post(query, variables)).body.extensions?.cost?.requested as number,
  )
  .extend(
    'postBySocket',
    { scope: 'file' },
    ({ app, tenant, token }) =>
      (query: string, variables: Record<string, unknown> = {}) =>
        new Promise<GraphqlBody>((resolve) => {
          const client = openSocket(`${app.origin.replace('http', 'ws')}/${tenant}/graphql`, token)
          client.subscribe(
            { query, variables },
            {
              next: (result) => resolve(result as GraphqlBody),
              error: (errors) => resolve({ errors } as unknown as GraphqlBody),
              complete: () => void client.dispose(),
            },
          )
        }),
  )
