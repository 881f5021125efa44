import * as z from 'zod'
import { type AppError, ERROR_CODES } from '../core/errors.ts'
import { log } from '../core/log.ts'
import { toAppError } from '../core/to-app-error.ts'
import { createJsonResponse } from '../http/request.http.ts'
import { requestIdShape } from '../schema/response-shapes.ts'

/** Responses of the management API must not be cached, nor interpreted as another media type. */
const DEFAULT_HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }

export const buildHeaders = (requestId: string, headers: Record<string, string>) => ({
  ...DEFAULT_HEADERS,
  'x-request-id': requestId,
  ...headers,
})

/** A streamed body of lines (see ndjson-stream.ts). */
export type LinesBody = {
  lines: AsyncGenerator<object[]>
  /** Throws when the caller has lost its access. Called for each part; throttled. */
  recheck: () => Promise<void>
  /** Called when the stream has ended. */
  release: () => void
  /**
   * True when an error becomes the last line, since each line is a result; else the connection is aborted.
   */
  emitsErrorLine: boolean
}

/** A response before it is serialized. With `lines`, `body` is ignored. */
export type RestResponse = {
  status: number
  headers: Record<string, string>
  body: object
  lines?: LinesBody
}

/** Serializes a response of the REST API. */
export const toJsonResponse = (requestId: string, { status, headers, body }: RestResponse): Response =>
  createJsonResponse(body, { status, headers: buildHeaders(requestId, headers) })

export const ErrorShape = z
  .object({
    message: z.string().meta({ description: 'Message for developers.' }),
    requestId: requestIdShape,
    fields: z
      .array(
        z.object({
          field: z.string().meta({
            description:
              'The field or parameter, with dots between levels; empty for the request as a whole.',
          }),
          description: z.string().meta({ description: 'What is invalid.' }),
        }),
      )
      .meta({ description: 'All invalid fields of the request.' }),
    code: z.enum(ERROR_CODES).meta({ description: 'Machine-readable code; the same as in GraphQL.' }),
  })
  .meta({ id: 'Error', description: 'The request was rejected.' })

/** The JSON body of an error. */
export const toErrorBody = (
  { message, fields, code }: AppError,
  requestId: string,
): z.input<typeof ErrorShape> => ({ message, requestId, fields, code })

/**
 * Creates the response of an error. Logs server errors with their cause, which the response does not have.
 */
export function toRestErrorResponse(requestId: string, thrown: unknown): RestResponse {
  const error = toAppError(thrown)
  if (error.status >= 500) log.error({ requestId, err: error.cause ?? error }, error.message)
  return { status: error.status, headers: error.headers, body: toErrorBody(error, requestId) }
}

/** Serializes the response of an error. */
export const toErrorResponse = (requestId: string, thrown: unknown): Response =>
  toJsonResponse(requestId, toRestErrorResponse(requestId, thrown))
