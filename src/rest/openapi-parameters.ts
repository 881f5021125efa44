import * as z from 'zod'
import { IDEMPOTENCY_KEY, IDEMPOTENCY_KEY_PATTERN } from '../http/idempotency.ts'
import { IDP_ID_PATTERN } from '../schema/idp-id.ts'
import { DEFAULT_PAGE_SIZE, MAX_PAGE, MAX_PAGE_SIZE } from '../schema/page.ts'
import { clientIdShape, createIdShape } from '../schema/response-shapes.ts'
import { slug } from '../schema/slug.ts'
import { listFilterParameters } from './filter.ts'
import type { createSchemas, JsonSchema } from './openapi-schemas.ts'
import { PAGING } from './query.ts'
import type { RestRoute } from './route.ts'

type Parameter = Record<string, unknown> & { name: string; in: 'path' | 'query' | 'header' }
type Schemas = ReturnType<typeof createSchemas>

/** The path parameters. The creator of an identity provider chooses its id. */
const PATH_PARAMETERS: Record<string, { shape: z.ZodType; description: string }> = {
  userId: { shape: createIdShape('user'), description: 'Id of the user.' },
  sessionId: { shape: createIdShape('session'), description: 'Id of the session.' },
  credentialId: { shape: createIdShape('cred'), description: 'Id of the credential.' },
  clientId: {
    shape: clientIdShape,
    description: 'Id of the client; a URL is encoded as `url_` and its base64url.',
  },
  registrationTokenId: { shape: createIdShape('regtoken'), description: 'Id of the registration token.' },
  trustedDocumentId: { shape: createIdShape('trusteddoc'), description: 'Id of the registered document.' },
  apiKeyId: { shape: createIdShape('apikey'), description: 'Id of the API key.' },
  invitationId: { shape: createIdShape('invitation'), description: 'Id of the invitation.' },
  organizationId: { shape: createIdShape('organization'), description: 'Id of the organization.' },
  membershipId: { shape: createIdShape('membership'), description: 'Id of the membership.' },
  organizationDomainId: {
    shape: createIdShape('orgdomain'),
    description: 'Id of the domain of an organization.',
  },
  bulkJobId: { shape: createIdShape('bulkjob'), description: 'Id of the bulk job.' },
  groupId: { shape: createIdShape('group'), description: 'Id of the group.' },
  webhookId: { shape: createIdShape('webhook'), description: 'Id of the webhook.' },
  webhookDeliveryId: { shape: createIdShape('delivery'), description: 'Id of the message of a webhook.' },
  signalStreamId: { shape: createIdShape('stream'), description: 'Id of the stream.' },
  managementRoleId: { shape: createIdShape('mgmtrole'), description: 'Id of the management role.' },
  appRoleId: { shape: createIdShape('role'), description: 'Id of the role.' },
  apiId: { shape: createIdShape('api'), description: 'Id of the API.' },
  idpId: {
    shape: z.string().meta({ example: 'google', pattern: IDP_ID_PATTERN }),
    description: 'Id of the identity provider.',
  },
  slug: { shape: slug.meta({ example: 'example' }), description: 'Slug of the tenant.' },
}

const cursor = { type: 'string', format: 'cursor', examples: ['WyJ1c2VyXzAxIixudWxsXQ.dGhpcyBpcyBubyBtYWM'] }

/** The parameters of lists, as components. */
export const PAGING_PARAMETERS: Record<(typeof PAGING)[number], Parameter> = {
  page: {
    name: 'page',
    in: 'query',
    description: 'Page number, from 0. Not together with a cursor; cursors are faster for later pages.',
    schema: { type: 'integer', minimum: 0, maximum: MAX_PAGE, default: 0 },
  },
  pageSize: {
    name: 'pageSize',
    in: 'query',
    description: 'Maximum number of items.',
    schema: { type: 'integer', minimum: 1, maximum: MAX_PAGE_SIZE, default: DEFAULT_PAGE_SIZE },
  },
  after: {
    name: 'after',
    in: 'query',
    description: 'Only items after this cursor, which is in `next` of the Link header.',
    schema: cursor,
  },
  before: {
    name: 'before',
    in: 'query',
    description: 'Only items before this cursor, in the same order. It is in `prev` of the Link header.',
    schema: cursor,
  },
}

/** The Idempotency-Key header, as a component. */
export const IDEMPOTENCY_PARAMETER: Parameter = {
  name: IDEMPOTENCY_KEY,
  in: 'header',
  description:
    'A key of your choice, 1 to 255 visible ASCII characters, in quotes (RFC 9651, section 3.3.3) or without. A request is executed once per key: for 24 hours, a retry gets the same response. Another request with the same key is rejected (409).',
  schema: {
    type: 'string',
    pattern: IDEMPOTENCY_KEY_PATTERN,
    examples: ['8e03978e-40d5-43dd-bc93-6894a57f9324'],
  },
}

const createParameterRef = (name: string) => ({ $ref: `#/components/parameters/${name}` })

/** Removes null from a schema: a query parameter is omitted instead. */
function removeNull({ description, ...schema }: JsonSchema): { description?: string; schema: JsonSchema } {
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

function buildPathParameters({ path }: RestRoute, { toSchema }: Schemas): Parameter[] {
  return [...path.matchAll(/:([A-Za-z]+)/g)].map(([, name = '']) => {
    const declared = PATH_PARAMETERS[name]
    if (!declared) throw new Error(`openapi: no shape for the path parameter ${name}`)
    return {
      name,
      in: 'path',
      required: true,
      description: declared.description,
      schema: toSchema(declared.shape, 'input'),
    }
  })
}

function buildQueryParameters({ query }: RestRoute, { toSchema }: Schemas): Parameter[] {
  return Object.entries(query?.shape ?? {}).map(([name, shape]) => ({
    name,
    in: 'query',
    required: !(shape as z.ZodType).safeParse(undefined).success,
    ...removeNull(toSchema(shape as z.ZodType, 'input')),
  }))
}

/**
 * Lists are separated by commas. OpenAPI cannot describe `appMetadata.plan=pro`: the name is
 * `appMetadata.{member}`.
 */
function buildFilterParameters({ filter }: RestRoute, { toSchema }: Schemas): Parameter[] {
  return (filter ? listFilterParameters(filter) : []).map(({ name, shape, isOpen }) => {
    const described = removeNull(toSchema(shape, 'input'))
    if (isOpen) return { name: `${name}.{member}`, in: 'query', ...described, schema: {} }
    const isList = described.schema.type === 'array'
    return { name, in: 'query', ...described, ...(isList && { style: 'form', explode: false }) }
  })
}

/** Builds all parameters of an operation. Other query parameters are rejected. */
export function buildParameters(route: RestRoute, schemas: Schemas): (Parameter | { $ref: string })[] {
  return [
    ...buildPathParameters(route, schemas),
    ...buildQueryParameters(route, schemas),
    ...buildFilterParameters(route, schemas),
    ...(route.paged ? PAGING.map(createParameterRef) : []),
    ...(route.idempotent ? [createParameterRef(IDEMPOTENCY_KEY)] : []),
  ]
}
