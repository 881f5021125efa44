import { REPLAYED_HEADER } from '../http/idempotency.ts'
import type { JsonSchema } from './openapi-schemas.ts'

export type Ref = { $ref: string }
/** A header object of OpenAPI. */
export type Header = { description: string; required?: true; schema: JsonSchema; example?: unknown }
/** A response object of OpenAPI. */
export type OpenApiResponse = {
  description: string
  headers?: Record<string, Ref | Header>
  content?: Record<string, unknown>
}

export const text: JsonSchema = { type: 'string' }
const seconds: JsonSchema = { type: 'integer', minimum: 0 }
export const REPLAYED_NAME = 'Idempotency-Replayed'

/** The response headers, as components. */
export const HEADERS: Record<string, Header> = {
  'X-Request-Id': {
    description: 'Id of the request: that of the request header if it is acceptable, else a generated one.',
    required: true,
    schema: text,
    example: 'a4e1c1c7-5f0c-4d39-9a5e-0d6d3a1f7b52',
  },
  'RateLimit-Limit': {
    description: 'Number of calls that the caller may make per minute.',
    required: true,
    schema: seconds,
    example: 6000,
  },
  'RateLimit-Remaining': {
    description: 'Number of calls that remain in the current minute.',
    required: true,
    schema: seconds,
    example: 5999,
  },
  'RateLimit-Reset': {
    description: 'Seconds until the number is reset.',
    required: true,
    schema: seconds,
    example: 42,
  },
  Location: {
    description: 'Path of the created resource.',
    required: true,
    schema: { type: 'string', format: 'uri-reference' },
  },
  Link: {
    description:
      'The first page (`first`) and, if they exist, the next (`next`) and previous page (`prev`) by cursor (RFC 8288).',
    required: true,
    schema: text,
  },
  [REPLAYED_NAME]: {
    description:
      'True when the response is that of an earlier request with the same Idempotency-Key; absent otherwise.',
    schema: { type: 'string', enum: Object.values(REPLAYED_HEADER) },
  },
  'Retry-After': {
    description: 'Seconds to wait before a retry.',
    required: true,
    schema: seconds,
    example: 30,
  },
  'DPoP-Nonce': {
    description: 'A new nonce for the next DPoP proof (RFC 9449, section 8.2).',
    schema: text,
  },
  'WWW-Authenticate': {
    description:
      'The challenge (RFC 6750, section 3; RFC 9449, section 7.1), with the address of the metadata of this API (RFC 9728, section 5.1); `Credential` if the access token is valid, but the credential in the body is not.',
    schema: text,
  },
}

export const createRef = (kind: 'headers' | 'responses' | 'schemas', name: string): Ref => ({
  $ref: `#/components/${kind}/${name}`,
})
export const createHeaderRefs = (names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, createRef('headers', name)]))

/** Headers of every response. */
export const COMMON_HEADERS = [
  'X-Request-Id',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'DPoP-Nonce',
] as const
