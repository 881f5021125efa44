import {
  type AppError,
  Conflict,
  Forbidden,
  InvalidInput,
  NotAcceptable,
  NotFound,
  PayloadTooLarge,
  RateLimited,
  Unauthenticated,
  Unavailable,
  UnsupportedMediaType,
} from '../core/errors.ts'
import { toAppError } from '../core/to-app-error.ts'
import { JSON_LIMIT_BYTES } from '../http/request-body.http.ts'
import {
  COMMON_HEADERS,
  createHeaderRefs,
  createRef,
  HEADERS,
  type OpenApiResponse,
  type Ref,
} from './openapi-headers.ts'
import type { createSchemas } from './openapi-schemas.ts'
import { ErrorShape, toErrorBody } from './responses.ts'
import type { RestRoute } from './route.ts'

/** Error responses by status: the name of the component, its description, an example and further headers. */
const ERROR_RESPONSES: Record<
  number,
  { name: string; description: string; error: AppError; headers?: string[] }
> = {
  400: {
    name: 'InvalidInput',
    description: 'Fields or parameters are invalid, missing or unknown; `fields` has all of them.',
    error: new InvalidInput([{ field: 'email', description: 'must be an e-mail address' }]),
  },
  401: {
    name: 'Unauthenticated',
    description:
      'The access token is missing or invalid; INVALID_CREDENTIAL if the credential in the body is wrong.',
    error: new Unauthenticated(),
    headers: ['WWW-Authenticate'],
  },
  403: {
    name: 'Forbidden',
    description:
      'The token lacks the scope, or the change needs scopes that the caller lacks; USER_LOCKED for locked users.',
    error: new Forbidden('This needs the scope users:write.', 'users:write'),
    headers: ['WWW-Authenticate'],
  },
  404: {
    name: 'NotFound',
    description: 'The object does not exist in this tenant.',
    error: new NotFound('user'),
  },
  406: {
    name: 'NotAcceptable',
    description: 'The Accept header excludes the media type of the answer.',
    error: new NotAcceptable('application/json'),
  },
  409: {
    name: 'Conflict',
    description:
      'The value is taken, the object has changed since `expectedUpdatedAt`, or the Idempotency-Key was used for another request.',
    error: new Conflict([{ field: 'email', description: 'is taken' }]),
  },
  413: {
    name: 'PayloadTooLarge',
    description: 'The body is too large.',
    error: new PayloadTooLarge(JSON_LIMIT_BYTES),
  },
  415: {
    name: 'UnsupportedMediaType',
    description: 'The media type of the body is not supported.',
    error: new UnsupportedMediaType('application/json'),
  },
  429: {
    name: 'RateLimited',
    description: 'Too many calls, or too many passcodes for one address or network.',
    error: new RateLimited(30),
    headers: ['Retry-After'],
  },
  500: {
    name: 'ServerError',
    description: 'An internal error; the log has the cause with the request id.',
    error: toAppError(null),
  },
  503: {
    name: 'Unavailable',
    description: 'The service is busy, or a message could not be delivered.',
    error: new Unavailable('The service is busy; try again.'),
    headers: ['Retry-After'],
  },
}

/** Builds the error responses, as components. */
export const buildErrorResponses = (
  schemas: ReturnType<typeof createSchemas>,
): Record<string, OpenApiResponse> =>
  Object.fromEntries(
    Object.values(ERROR_RESPONSES).map(({ name, description, error, headers = [] }) => [
      name,
      {
        description,
        headers: createHeaderRefs([...COMMON_HEADERS, ...headers]),
        content: {
          'application/json': {
            schema: schemas.toSchema(ErrorShape, 'output'),
            example: toErrorBody(error, HEADERS['X-Request-Id']?.example as string),
          },
        },
      },
    ]),
  )

/**
 * The error statuses of an operation. Every operation has 400, since unknown query parameters are
 * rejected.
 */
const listErrorStatuses = (route: RestRoute): number[] => [
  ...new Set([
    ...[400, 401, 403, 404, 429, 500, 503],
    ...(route.method === 'GET' ? [406] : []),
    ...(route.body ? [413, 415] : []),
    ...(route.idempotent ? [409] : []),
    ...(route.errors ?? []),
  ]),
]

/** References to the error responses of an operation, by status. */
export const buildErrorRefs = (route: RestRoute): Record<string, Ref> =>
  Object.fromEntries(
    listErrorStatuses(route).map((status) => [
      status,
      createRef('responses', ERROR_RESPONSES[status]?.name ?? ''),
    ]),
  )
