import {
  type AppError,
  Conflict,
  describeError,
  Forbidden,
  InvalidInput,
  NotFound,
  PayloadTooLarge,
  RateLimited,
  Unauthenticated,
  Unavailable,
  UnsupportedMediaType,
} from '../errors.ts'
import { JSON_LIMIT_BYTES } from '../http.ts'
import { REPLAYED } from '../idempotency.ts'
import { NDJSON } from '../ndjson.ts'
import { exampleOf } from './openapi-examples.ts'
import type { createSchemas, JsonSchema } from './openapi-schemas.ts'
import { ErrorShape, toErrorBody } from './respond.ts'
import type { RestRoute } from './route.ts'

type Schemas = ReturnType<typeof createSchemas>
type Ref = { $ref: string }
type Header = { description: string; required?: true; schema: JsonSchema; example?: unknown }
type Answer = {
  description: string
  headers?: Record<string, Ref | Header>
  content?: Record<string, unknown>
}

const text: JsonSchema = { type: 'string' }
const seconds: JsonSchema = { type: 'integer', minimum: 0 }
const REPLAYED_NAME = 'Idempotency-Replayed'

/** Headers that answers refer to. */
export const HEADERS: Record<string, Header> = {
  'X-Request-Id': {
    description: 'Which request it was: the one that was sent, where it is harmless, else a new one.',
    required: true,
    schema: text,
    example: 'a4e1c1c7-5f0c-4d39-9a5e-0d6d3a1f7b52',
  },
  'RateLimit-Limit': {
    description: 'How many calls the caller may make in the current minute.',
    required: true,
    schema: seconds,
    example: 6000,
  },
  'RateLimit-Remaining': {
    description: 'How many of them are left.',
    required: true,
    schema: seconds,
    example: 5999,
  },
  'RateLimit-Reset': {
    description: 'Seconds until all of them are there again.',
    required: true,
    schema: seconds,
    example: 42,
  },
  Location: {
    description: 'Path of what was created.',
    required: true,
    schema: { type: 'string', format: 'uri-reference' },
  },
  Link: {
    description:
      'The first page (`first`), and, while there are such, the next (`next`) and the one before (`prev`) by cursor (RFC 8288).',
    required: true,
    schema: text,
  },
  [REPLAYED_NAME]: {
    description: 'True when the answer was given before under the same Idempotency-Key; left out otherwise.',
    schema: { type: 'string', enum: Object.values(REPLAYED) },
  },
  'Retry-After': {
    description: 'Seconds to wait before another try.',
    required: true,
    schema: seconds,
    example: 30,
  },
  'DPoP-Nonce': {
    description: 'The nonce of the next DPoP proof, when it should be another one (RFC 9449, section 8.2).',
    schema: text,
  },
  'WWW-Authenticate': {
    description:
      'What is missing (RFC 6750, section 3; RFC 9449, section 7.1); `Credential` where the access token is good, but not what was to be authenticated.',
    schema: text,
  },
}

const refTo = (kind: 'headers' | 'responses' | 'schemas', name: string): Ref => ({
  $ref: `#/components/${kind}/${name}`,
})
const headersOf = (names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, refTo('headers', name)]))

const ALWAYS = [
  'X-Request-Id',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'DPoP-Nonce',
] as const

/** Errors by status: the component, when it comes about, one of them as it is, and its headers. */
const ERRORS: Record<number, { name: string; description: string; error: AppError; headers?: string[] }> = {
  400: {
    name: 'InvalidInput',
    description: 'Fields or parameters are invalid, missing or unknown; all of them are named.',
    error: new InvalidInput([{ field: 'email', description: 'must be an e-mail address' }]),
  },
  401: {
    name: 'Unauthenticated',
    description:
      'No access token, or none that is valid here; INVALID_CREDENTIAL when what the call was to authenticate is wrong.',
    error: new Unauthenticated(),
    headers: ['WWW-Authenticate'],
  },
  403: {
    name: 'Forbidden',
    description:
      'The token lacks the scope, or the change is above the caller; USER_LOCKED for locked users.',
    error: new Forbidden('This needs the scope users:write.', 'users:write'),
    headers: ['WWW-Authenticate'],
  },
  404: { name: 'NotFound', description: 'Not there, or of another tenant.', error: new NotFound('user') },
  409: {
    name: 'Conflict',
    description:
      'The value is taken, it was changed since `expectedUpdatedAt`, or the Idempotency-Key was used for something else.',
    error: new Conflict([{ field: 'email', description: 'is taken' }]),
  },
  413: {
    name: 'PayloadTooLarge',
    description: 'The body is too large.',
    error: new PayloadTooLarge(JSON_LIMIT_BYTES),
  },
  415: {
    name: 'UnsupportedMediaType',
    description: 'The body is of another media type.',
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
    description: 'Something went wrong on our side; the log knows what under the request id.',
    error: describeError(null),
  },
  503: {
    name: 'Unavailable',
    description: 'The service is busy, or a message could not be delivered.',
    error: new Unavailable('The service is busy; try again.'),
    headers: ['Retry-After'],
  },
}

/** The answers to errors, which operations refer to. */
export const errorAnswers = (schemas: Schemas): Record<string, Answer> =>
  Object.fromEntries(
    Object.values(ERRORS).map(({ name, description, error, headers = [] }) => [
      name,
      {
        description,
        headers: headersOf([...ALWAYS, ...headers]),
        content: {
          'application/json': {
            schema: schemas.schemaOf(ErrorShape, 'output'),
            example: toErrorBody(error, HEADERS['X-Request-Id']?.example as string),
          },
        },
      },
    ]),
  )

/** The statuses of errors that an operation can answer. Even what takes no query refuses one that is sent along. */
const errorStatuses = (route: RestRoute): number[] => [
  ...new Set([
    ...[400, 401, 403, 404, 429, 500, 503],
    ...(route.body ? [413, 415] : []),
    ...(route.idempotent ? [409] : []),
    ...(route.errors ?? []),
  ]),
]

/** Of lines, the document has the schema of one. */
const mediaTypeOf = (isLines: boolean): string => (isLines ? NDJSON : 'application/json')

/** The body that an operation takes; undefined for one that takes none. */
export function bodyOf(route: RestRoute, { schemaOf, components }: Schemas) {
  if (!route.body) return undefined
  const schema = schemaOf(route.body, 'input')
  return {
    required: !route.isBodyOptional,
    content: { [mediaTypeOf(route.ndjson === 'both')]: { schema, example: exampleOf(schema, components) } },
  }
}

/** Every answer of an operation, by status. */
export function answersOf(route: RestRoute, { schemaOf, components }: Schemas): Record<string, Answer | Ref> {
  const schema = schemaOf(route.response, 'output')
  const own = Object.entries(route.headers ?? {}).map(([name, description]): [string, Header] => [
    name,
    { description, required: true, schema: text },
  ])
  const names = [
    ...ALWAYS,
    ...(route.location ? ['Location'] : []),
    ...(route.paged ? ['Link'] : []),
    ...(route.idempotent ? [REPLAYED_NAME] : []),
  ]
  const success: Answer = {
    description: route.status === 201 ? 'It was created.' : 'It is done.',
    headers: { ...headersOf(names), ...Object.fromEntries(own) },
    content: {
      [mediaTypeOf(route.ndjson !== undefined)]: { schema, example: exampleOf(schema, components) },
    },
  }
  return {
    [route.status ?? 200]: success,
    ...Object.fromEntries(
      errorStatuses(route).map((status) => [status, refTo('responses', ERRORS[status]?.name ?? '')]),
    ),
  }
}
