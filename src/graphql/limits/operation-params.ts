import { GraphQLError } from 'graphql'

/** The parameters of a request that has not been validated (GraphQL over HTTP, section 5). */
type RequestParams = { query?: unknown; operationName?: unknown; extensions?: unknown }

/**
 * Throws the error that tells clients with automatic persisted queries to send the document: this server keeps no
 * document by its hash. Message and code are those of Apollo Server, which its link compares.
 */
export function assertDocumentSent(params: unknown): void {
  const { query, extensions } = (params ?? {}) as RequestParams
  if (query || !(extensions as { persistedQuery?: unknown } | null | undefined)?.persistedQuery) return
  throw new GraphQLError('PersistedQueryNotSupported', {
    extensions: { code: 'PERSISTED_QUERY_NOT_SUPPORTED', http: { status: 400, spec: true } },
  })
}
