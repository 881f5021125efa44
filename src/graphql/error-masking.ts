import { GraphQLError, type GraphQLFormattedError } from 'graphql'
import { type AppError, RateLimited } from '../core/errors.ts'
import { log } from '../core/log.ts'
import { toAppError } from '../core/to-app-error.ts'

/** Errors that the client did not cause; they are logged with their cause. */
const isServerError = (error: AppError): boolean => error.status >= 500

/**
 * The status and headers of an error without data. `spec` limits the status to media types that permit it
 * (GraphQL over HTTP).
 */
const toHttpExtension = (error: AppError) => ({
  status: error.status,
  headers: error.headers,
  spec: error.status === 400,
})

const MAX_MESSAGE_LENGTH = 500

/** Messages of GraphQL quote names and values of the request, which may have 100 KB each. */
const shorten = (message: string): string =>
  message.length > MAX_MESSAGE_LENGTH
    ? `${message.slice(0, MAX_MESSAGE_LENGTH / 2)} … ${message.slice(-MAX_MESSAGE_LENGTH / 2)}`
    : message

/** Converts an AppError to a top-level error. `source` has its place in the operation. */
export function toGraphQLError(error: AppError, requestId: string, source?: GraphQLError): GraphQLError {
  return new GraphQLError(shorten(error.message), {
    nodes: source?.nodes,
    path: source?.path,
    extensions: {
      code: error.code,
      requestId,
      ...(error.fields.length > 0 && { fields: error.fields }),
      ...(error instanceof RateLimited && { retryAfterSeconds: error.retryAfterSeconds }),
      // Errors of fields are returned with data and do not change the status.
      ...(!source?.path && { http: toHttpExtension(error) }),
    },
  })
}

/**
 * The error that a resolver or hook threw; undefined for an error of GraphQL itself, such as of validation.
 */
function findCause(error: GraphQLError): unknown {
  let cause: unknown = error
  while (cause instanceof GraphQLError && cause.originalError) cause = cause.originalError
  return cause instanceof GraphQLError ? undefined : cause
}

/**
 * The code of an error of Yoga or GraphQL itself, such as for a body that is not JSON: the same code as in
 * REST.
 */
function resolveErrorCode({ extensions }: GraphQLError): unknown {
  if (extensions.code !== 'BAD_REQUEST') return extensions.code ?? 'BAD_USER_INPUT'
  return (extensions.http as { status?: number } | undefined)?.status === 405
    ? 'METHOD_NOT_ALLOWED'
    : 'BAD_USER_INPUT'
}

function maskError(thrown: unknown, requestId: string): GraphQLError {
  const source = thrown instanceof GraphQLError ? thrown : undefined
  const cause = source ? findCause(source) : thrown
  if (source && cause === undefined) {
    const { code } = source.extensions
    // Without a path nothing was executed: the document or the variables are invalid.
    if (code || !source.path) {
      // Yoga sets `originalError` for invalid JSON, which is answered with 400 for every media type.
      const { originalError, ...extensions } = source.extensions
      return new GraphQLError(shorten(source.message), {
        nodes: source.nodes,
        source: source.source,
        positions: source.positions,
        path: source.path,
        extensions: {
          http: { status: 400, spec: true },
          ...extensions,
          ...(originalError !== undefined && { http: { status: 400 } }),
          code: resolveErrorCode(source),
          requestId,
        },
      })
    }
  }
  const error = toAppError(cause ?? source)
  if (isServerError(error))
    log.error({ err: error.cause ?? error, requestId, path: source?.path?.join('.') }, 'graphql')
  return toGraphQLError(error, requestId, source)
}

/**
 * Replaces internal errors by general ones, shortens messages, and adds the request id. Applied to every result of every
 * transport.
 */
export const maskErrors = (errors: readonly unknown[], requestId: string): GraphQLError[] =>
  errors.map((error) => maskError(error, requestId))

/** Serializes an error, without the extension `http`. */
export function toErrorJson(error: GraphQLError): GraphQLFormattedError {
  const { http: _, ...extensions } = error.extensions
  return { ...error.toJSON(), extensions }
}
