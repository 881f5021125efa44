import type { GraphqlBody } from './app.ts'
import { test as base } from './fixtures.ts'
import { serveGraphql } from './graphql-server.ts'

type GraphqlError = NonNullable<GraphqlBody['errors']>[number]

/** The first error of a response. */
export const errorOf = (body: GraphqlBody): GraphqlError | undefined => body.errors?.[0]

/** `test` with the GraphQL endpoint alone, on its own ports. */
export const test = base
  .extend('server', { scope: 'file' }, async ({ app: _ }, { onCleanup }) => {
    const server = await serveGraphql()
    onCleanup(server.close)
    return server
  })
  /** A server with the settings of production. */
  .extend('production', { scope: 'file' }, async ({ app: _ }, { onCleanup }) => {
    const server = await serveGraphql({ isProduction: true })
    onCleanup(server.close)
    return server
  })
  /** Sends a request to the tenant's endpoint of `server`, with the headers of `init` alone. */
  .extend(
    'send',
    { scope: 'file' },
    ({ server, tenant }) =>
      (init: RequestInit & { path?: string }, at = server) =>
        fetch(`${at.urlOf(tenant)}${init.path ?? ''}`, { redirect: 'manual', ...init }),
  )
