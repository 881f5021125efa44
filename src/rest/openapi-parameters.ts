import { z } from 'zod'
import { IDEMPOTENCY_KEY } from '../idempotency.ts'
import { DEFAULT_PAGE_SIZE, MAX_PAGE, MAX_PAGE_SIZE } from '../page.ts'
import { clientId, idOf } from '../shapes.ts'
import { slug } from '../tenants/tenants.fields.ts'
import { filterParameters } from './filter.ts'
import type { createSchemas, JsonSchema } from './openapi-schemas.ts'
import { PAGING } from './query.ts'
import type { RestRoute } from './route.ts'

type Parameter = Record<string, unknown> & { name: string; in: 'path' | 'query' | 'header' }
type Schemas = ReturnType<typeof createSchemas>

/** What stands in paths. An identity provider's id is chosen by whoever makes it. */
const PATH_PARAMETERS: Record<string, { shape: z.ZodType; description: string }> = {
  userId: { shape: idOf('user'), description: 'Id of the user.' },
  sessionId: { shape: idOf('session'), description: 'Id of the session.' },
  credentialId: { shape: idOf('cred'), description: 'Id of the credential.' },
  clientId: {
    shape: clientId,
    description: 'Id of the client; where that is a URL, `url_` and the base64url of it.',
  },
  registrationTokenId: { shape: idOf('regtoken'), description: 'Id of the registration token.' },
  idpId: { shape: z.string().meta({ example: 'google' }), description: 'Id of the identity provider.' },
  slug: { shape: slug.meta({ example: 'example' }), description: 'Slug of the tenant.' },
}

const cursor = { type: 'string', examples: ['WyJ1c2VyXzAxIixudWxsXQ.dGhpcyBpcyBubyBtYWM'] }

/** The parameters of lists, which operations refer to. */
export const PAGING_PARAMETERS: Record<(typeof PAGING)['true'][number], Parameter> = {
  page: {
    name: 'page',
    in: 'query',
    description: 'Index of the page, from 0. Not beside a cursor, which is faster on later pages.',
    schema: { type: 'integer', minimum: 0, maximum: MAX_PAGE, default: 0 },
  },
  pageSize: {
    name: 'pageSize',
    in: 'query',
    description: 'How many to answer at most.',
    schema: { type: 'integer', minimum: 1, maximum: MAX_PAGE_SIZE, default: DEFAULT_PAGE_SIZE },
  },
  after: {
    name: 'after',
    in: 'query',
    description: 'A cursor: what comes after it. `next` of the Link header has it.',
    schema: cursor,
  },
  before: {
    name: 'before',
    in: 'query',
    description: 'A cursor: what comes before it, in the same order. `prev` of the Link header has it.',
    schema: cursor,
  },
}

/** The header of creations, which they refer to. */
export const IDEMPOTENCY_PARAMETER: Parameter = {
  name: IDEMPOTENCY_KEY,
  in: 'header',
  description:
    'A key of your choice, 1 to 255 visible ASCII characters. The same request under the same key is done once: for 24 hours its repetition answers the same. Another request under the key is refused (409).',
  schema: {
    type: 'string',
    minLength: 1,
    maxLength: 255,
    examples: ['8e03978e-40d5-43dd-bc93-6894a57f9324'],
  },
}

const refTo = (name: string) => ({ $ref: `#/components/parameters/${name}` })

/** A query parameter has no null; left out is unset. */
function withoutNull({ description, ...schema }: JsonSchema): { description?: string; schema: JsonSchema } {
  const types = [schema.type ?? []].flat().filter((type) => type !== 'null')
  const values = schema.enum?.filter((value) => value !== null)
  return {
    description,
    schema: {
      ...schema,
      ...(types.length > 0 && { type: types.length === 1 ? types[0] : types }),
      ...(values && { enum: values }),
    },
  }
}

function pathParameters({ path }: RestRoute, { schemaOf }: Schemas): Parameter[] {
  return [...path.matchAll(/:([A-Za-z]+)/g)].map(([, name = '']) => {
    const known = PATH_PARAMETERS[name]
    if (!known) throw new Error(`openapi: no shape for the path parameter ${name}`)
    return {
      name,
      in: 'path',
      required: true,
      description: known.description,
      schema: schemaOf(known.shape, 'input'),
    }
  })
}

function queryParameters({ query }: RestRoute, { schemaOf }: Schemas): Parameter[] {
  return Object.entries(query?.shape ?? {}).map(([name, shape]) => ({
    name,
    in: 'query',
    required: !(shape as z.ZodType).safeParse(undefined).success,
    ...withoutNull(schemaOf(shape as z.ZodType, 'input')),
  }))
}

/** Lists have commas. OpenAPI has no words for `appMetadata.plan=pro`: the name says what stands behind the dot. */
function filterParametersOf({ filter }: RestRoute, { schemaOf }: Schemas): Parameter[] {
  return (filter ? filterParameters(filter) : []).map(({ name, shape, open }) => {
    const described = withoutNull(schemaOf(shape, 'input'))
    if (open) return { name: `${name}.{member}`, in: 'query', ...described, schema: {} }
    const isList = described.schema.type === 'array'
    return { name, in: 'query', ...described, ...(isList && { style: 'form', explode: false }) }
  })
}

/** Every parameter of an operation; any other query parameter is refused. */
export function parametersOf(route: RestRoute, schemas: Schemas): (Parameter | { $ref: string })[] {
  return [
    ...pathParameters(route, schemas),
    ...queryParameters(route, schemas),
    ...filterParametersOf(route, schemas),
    ...PAGING[`${route.paged}`].map(refTo),
    ...(route.idempotent ? [refTo(IDEMPOTENCY_KEY)] : []),
  ]
}
