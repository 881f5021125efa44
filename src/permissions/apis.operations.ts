import { Conflict, NotFound } from '../core/errors.ts'
import { withScope } from '../graphql/field-access.ts'
import { Node, registerNode } from '../graphql/node.graphql.ts'
import { defineObjectType } from '../graphql/shape-fields.ts'
import { defineList } from '../operations/list.ts'
import { defineMutation } from '../operations/mutation.ts'
import { defineLookup } from '../operations/query.ts'
import { defineResource } from '../operations/resource.ts'
import type { RestRoute } from '../rest/route.ts'
import { encodeIdCursor } from '../schema/page.ts'
import { idShape } from '../schema/response-shapes.ts'
import { ApiCreate, ApiPatch, ApiShape } from './apis.fields.ts'
import {
  type Api,
  createApi,
  deleteApi,
  findApis,
  getApi,
  listApis,
  toApiListName,
  updateApi,
} from './apis.ts'

const API = defineResource<Api>({
  member: 'api',
  words: 'API',
  ref: defineObjectType<Api>(ApiShape, {
    ...withScope('roles:read', "An API of the tenant's own, a resource server, which accepts access tokens."),
    interfaces: [Node],
  }),
  scope: 'roles:read',
  shape: ApiShape,
  toCursor: ({ tenant }, { id }) => encodeIdCursor(toApiListName(tenant), id),
})

registerNode('api', {
  ref: API.ref,
  scope: API.scope,
  load: (id, { loaders }) => loaders.over(findApis).load(id),
})

export const apiOperations: readonly RestRoute[] = [
  ...defineMutation({
    name: 'createApi',
    summary:
      'Creates an API with its permissions. Clients may request tokens for its identifier from then on.',
    scope: 'roles:write',
    isCreation: true,
    input: ApiCreate,
    errors: [Conflict],
    output: { api: API },
    rest: { method: 'POST', path: '/apis', status: 201, location: ({ id }) => `/apis/${id}` },
    run: async (ctx, _ids, input) => ({ api: await createApi(ctx, input) }),
  }),
  ...defineList({
    name: 'listApis',
    summary: 'The APIs of the tenant with their permissions, oldest first.',
    resource: API,
    path: '/apis',
    run: listApis,
  }),
  ...defineLookup({
    name: 'getApi',
    field: 'api',
    summary: 'An API.',
    resource: API,
    target: 'apiId',
    path: '/apis/:apiId',
    run: getApi,
  }),
  ...defineMutation({
    name: 'updateApi',
    summary:
      'Updates an API. Omitted fields are unchanged; null unsets. Permissions that are left out are deleted, and taken from every role.',
    scope: 'roles:write',
    targets: ['apiId'],
    input: ApiPatch,
    errors: [Conflict, NotFound],
    output: { api: API },
    rest: { method: 'PATCH', path: '/apis/:apiId' },
    run: async (ctx, { apiId }, input) => ({ api: await updateApi(ctx, apiId, input) }),
  }),
  ...defineMutation({
    name: 'deleteApi',
    summary: 'Deletes an API with its permissions, which every role loses.',
    scope: 'roles:write',
    targets: ['apiId'],
    errors: [NotFound],
    output: { deletedApiId: idShape.meta({ description: 'Id of the deleted API.' }) },
    rest: { method: 'DELETE', path: '/apis/:apiId', message: 'The API was deleted.' },
    run: (ctx, { apiId }) => deleteApi(ctx, apiId),
  }),
]
