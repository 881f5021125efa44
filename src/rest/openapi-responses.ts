import { NDJSON } from '../core/json/ndjson.ts'
import { buildErrorRefs } from './openapi-errors.ts'
import { buildExample } from './openapi-examples.ts'
import {
  COMMON_HEADERS,
  createHeaderRefs,
  type Header,
  type OpenApiResponse,
  REPLAYED_NAME,
  type Ref,
  text,
} from './openapi-headers.ts'
import type { createSchemas } from './openapi-schemas.ts'
import type { RestRoute } from './route.ts'

type Schemas = ReturnType<typeof createSchemas>

/** For a stream of lines, the schema is that of one line. */
const getMediaType = (isLines: boolean): string => (isLines ? NDJSON : 'application/json')

/** Builds the request body of an operation; undefined when it has none. */
export function buildRequestBody(route: RestRoute, { toSchema, components }: Schemas) {
  if (!route.body) return undefined
  const schema = toSchema(route.body, 'input')
  return {
    required: !route.isBodyOptional,
    content: {
      [route.streamType ?? getMediaType(route.ndjson === 'both')]: {
        schema,
        example: buildExample(schema, components),
      },
    },
  }
}

/** Builds the responses of an operation, by status. */
export function buildResponses(
  route: RestRoute,
  { toSchema, components }: Schemas,
): Record<string, OpenApiResponse | Ref> {
  const schema = toSchema(route.response, 'output')
  const ownHeaders = Object.entries(route.headers ?? {}).map(([name, description]): [string, Header] => [
    name,
    { description, required: true, schema: text },
  ])
  const names = [
    ...COMMON_HEADERS,
    ...(route.location ? ['Location'] : []),
    ...(route.paged ? ['Link'] : []),
    ...(route.idempotent ? [REPLAYED_NAME] : []),
  ]
  const success: OpenApiResponse = {
    description: route.status === 201 ? 'Created.' : 'Success.',
    headers: { ...createHeaderRefs(names), ...Object.fromEntries(ownHeaders) },
    content: {
      [getMediaType(route.ndjson !== undefined)]: { schema, example: buildExample(schema, components) },
    },
  }
  return {
    [route.status ?? 200]: success,
    ...buildErrorRefs(route),
  }
}
