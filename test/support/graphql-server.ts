import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createGraphqlHandler, type GraphqlHandler } from '../../src/graphql/server.ts'
import { buildSchema } from '../../src/server/graphql-schema.ts'
import type { GraphqlBody } from './app.ts'
import { withoutCost } from './cost.ts'
import { compilation } from './test-ways.ts'

/** One complete response. */
export type GraphqlAnswer = { status: number; headers: Headers; body: GraphqlBody }

/** The GraphQL surface alone on a port of its own, as production or as development. */
export type GraphqlServer = {
  graphql: GraphqlHandler
  server: Server
  urlOf: (tenant: string) => string
  socketUrlOf: (tenant: string) => string
  post: (
    tenant: string,
    token: string | null,
    query: string,
    variables?: object,
    headers?: Record<string, string>,
  ) => Promise<GraphqlAnswer>
  close: () => Promise<void>
}

/** Starts the server; the runtime must be open. */
export async function serveGraphql(
  options: Parameters<typeof createGraphqlHandler>[1] = {},
): Promise<GraphqlServer> {
  const graphql = createGraphqlHandler(buildSchema(), { compilation, ...options })
  const tenantOf = (url = '') => url.split('?', 1)[0]?.split('/')[1] ?? ''
  const server = createServer(
    (request, response) => void graphql.handle(request, response, tenantOf(request.url)),
  )
  server.on('upgrade', (request, socket, head) =>
    graphql.upgrade(request, socket, head, tenantOf(request.url)),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const urlOf = (tenant: string) => `http://${origin}/${tenant}/graphql`
  return {
    graphql,
    server,
    urlOf,
    socketUrlOf: (tenant) => `ws://${origin}/${tenant}/graphql`,
    post: async (tenant, token, query, variables, headers = {}) => {
      const response = await fetch(urlOf(tenant), {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/graphql-response+json',
          ...(token && { authorization: `Bearer ${token}` }),
          ...headers,
        },
        body: JSON.stringify({ query, variables }),
      })
      const body = withoutCost(JSON.parse(await response.text()))
      return { status: response.status, headers: response.headers, body }
    },
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      await graphql.close()
      const limit = setTimeout(() => server.closeAllConnections(), 300)
      await closed
      clearTimeout(limit)
    },
  }
}
