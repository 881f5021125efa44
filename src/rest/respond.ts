import type { AppError } from '../errors.ts'
import { describeError } from '../errors.ts'
import { jsonAnswer } from '../http.ts'
import { log } from '../log.ts'

/** Nothing of the management surface may be kept by a cache or taken for anything but JSON. */
const HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }

/** Any answer of the REST surface. */
export function jsonResponse(
  requestId: string,
  body: object,
  { status = 200, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
): Response {
  return jsonAnswer(body, { status, headers: { ...HEADERS, 'x-request-id': requestId, ...headers } })
}

/** Error body of the spec, with the code that GraphQL gives too. */
const toErrorBody = ({ message, fields, code }: AppError, requestId: string) => ({
  message,
  requestId,
  fields,
  code,
})

/** The answer to whatever was thrown; what is not for the caller goes to the log. */
export function errorResponse(requestId: string, thrown: unknown): Response {
  const error = describeError(thrown)
  if (error.status >= 500) log.error({ requestId, err: error.cause ?? error }, error.message)
  return jsonResponse(requestId, toErrorBody(error, requestId), {
    status: error.status,
    headers: error.headers,
  })
}
