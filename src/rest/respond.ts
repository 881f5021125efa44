import { z } from 'zod'
import { type AppError, describeError, ERROR_CODES } from '../errors.ts'
import { jsonAnswer } from '../http.ts'
import { log } from '../log.ts'
import { requestId } from '../shapes.ts'

/** Nothing of the management surface may be kept by a cache or taken for anything but JSON. */
const HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }

export const headersWith = (requestId: string, headers: Record<string, string>) => ({
  ...HEADERS,
  'x-request-id': requestId,
  ...headers,
})

/** An answer that is made as it is taken (src/rest/lines.ts). */
export type Lines = {
  lines: AsyncGenerator<object[]>
  /** Throws when the caller may no longer be answered. Called for each part; asks no more than it must. */
  recheck: () => Promise<void>
  /** Called once nothing more is made. */
  release: () => void
  /** Whether an error becomes the last line, as where each line is a result; else the connection breaks off. */
  tellsErrors: boolean
}

/** An answer before it is written. One of `lines` is written as they come, and has no other body. */
export type Answer = { status: number; headers: Record<string, string>; body: object; lines?: Lines }

/** Any answer of the REST surface. */
export const toResponse = (requestId: string, { status, headers, body }: Answer): Response =>
  jsonAnswer(body, { status, headers: headersWith(requestId, headers) })

export const ErrorShape = z
  .object({
    message: z.string().meta({ description: 'What was wrong, for whoever writes the caller.' }),
    requestId,
    fields: z
      .array(
        z.object({
          field: z.string().meta({
            description:
              'The field or parameter, dots between levels; empty when it is the request as a whole.',
          }),
          description: z.string().meta({ description: 'What is wrong with it.' }),
        }),
      )
      .meta({ description: 'Every faulty field of the request, at once.' }),
    code: z.enum(ERROR_CODES).meta({ description: 'What programs go by; GraphQL has the same codes.' }),
  })
  .meta({ id: 'Error', description: 'The request was not done.' })

/** Error body of the spec, with the code that GraphQL gives too. */
export const toErrorBody = (
  { message, fields, code }: AppError,
  requestId: string,
): z.input<typeof ErrorShape> => ({ message, requestId, fields, code })

/** The answer to whatever was thrown; what is not for the caller goes to the log. */
export function toErrorAnswer(requestId: string, thrown: unknown): Answer {
  const error = describeError(thrown)
  if (error.status >= 500) log.error({ requestId, err: error.cause ?? error }, error.message)
  return { status: error.status, headers: error.headers, body: toErrorBody(error, requestId) }
}

export const errorResponse = (requestId: string, thrown: unknown): Response =>
  toResponse(requestId, toErrorAnswer(requestId, thrown))
