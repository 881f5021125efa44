import { GraphQLError, type GraphQLFormattedError } from 'graphql'
import { type AppError, describeError, RateLimited, SignInTooOld } from '../errors.ts'
import { log } from '../log.ts'

/** What the client did not cause: the log gets it, with what was thrown. */
const isOurs = (error: AppError): boolean => error.status >= 500

/** How Yoga turns an error without data into a status (GraphQL over HTTP: only where the media type admits one). */
const httpOf = (error: AppError) => ({
  status: error.status,
  headers: error.headers,
  spec: error.status === 400,
})

/** The top-level error of an expected failure. `source` says where in the operation it happened. */
export function toGraphQLError(error: AppError, requestId: string, source?: GraphQLError): GraphQLError {
  return new GraphQLError(error.message, {
    nodes: source?.nodes,
    path: source?.path,
    extensions: {
      code: error.code,
      requestId,
      ...(error.fields.length > 0 && { fields: error.fields }),
      ...(error instanceof RateLimited && { retryAfterSeconds: error.retryAfterSeconds }),
      ...(error instanceof SignInTooOld && {
        challenge: 'insufficient_user_authentication',
        maxAgeSeconds: error.maxAgeSeconds,
      }),
      // Errors of single fields stand beside data and leave the status alone.
      ...(!source?.path && { http: httpOf(error) }),
    },
  })
}

/** What a resolver or hook threw, when it is not GraphQL's own refusal of the document. */
function causeOf(error: GraphQLError): unknown {
  let cause: unknown = error
  while (cause instanceof GraphQLError && cause.originalError) cause = cause.originalError
  return cause instanceof GraphQLError ? undefined : cause
}

/** Refusals of Yoga's own, such as a body that is no JSON, under the codes that REST has for them. */
function codeOf({ extensions }: GraphQLError): unknown {
  if (extensions.code !== 'BAD_REQUEST') return extensions.code ?? 'BAD_USER_INPUT'
  return (extensions.http as { status?: number } | undefined)?.status === 405
    ? 'METHOD_NOT_ALLOWED'
    : 'BAD_USER_INPUT'
}

function maskError(thrown: unknown, requestId: string): GraphQLError {
  const source = thrown instanceof GraphQLError ? thrown : undefined
  const cause = source ? causeOf(source) : thrown
  if (source && cause === undefined) {
    const { code } = source.extensions
    // Without a path nothing was executed: the variables did not fit, or the document is not one.
    if (code || !source.path) {
      // Of JSON that could not be parsed: by it, Yoga tells that the request was no GraphQL one, and answers 400 to all.
      const { originalError, ...extensions } = source.extensions
      return new GraphQLError(source.message, {
        nodes: source.nodes,
        source: source.source,
        positions: source.positions,
        path: source.path,
        extensions: {
          http: { status: 400, spec: true },
          ...extensions,
          ...(originalError !== undefined && { http: { status: 400 } }),
          code: codeOf(source),
          requestId,
        },
      })
    }
  }
  const known = describeError(cause ?? source)
  if (isOurs(known))
    log.error({ err: known.cause ?? known, requestId, path: source?.path?.join('.') }, 'graphql')
  return toGraphQLError(known, requestId, source)
}

/** Hides whatever is not meant for callers, and names the request. For every result, whatever the transport. */
export const maskErrors = (errors: readonly unknown[], requestId: string): GraphQLError[] =>
  errors.map((error) => maskError(error, requestId))

/** As JSON, without what is only for our own HTTP layer. */
export function toJson(error: GraphQLError): GraphQLFormattedError {
  const { http: _, ...extensions } = error.extensions
  return { ...error.toJSON(), extensions }
}
