import { Conflict, NotFound, UserLocked } from '../core/errors.ts'
import { orAdministrator, withScopeOrOwner } from '../graphql/field-access.ts'
import { Node, registerNode } from '../graphql/node.graphql.ts'
import { UserRef } from '../graphql/object-refs.ts'
import { defineObjectType } from '../graphql/shape-fields.ts'
import { defineList } from '../operations/list.ts'
import { defineMutation } from '../operations/mutation.ts'
import { defineLookup } from '../operations/query.ts'
import { defineResource } from '../operations/resource.ts'
import type { RestRoute } from '../rest/route.ts'
import { encodeIdCursor } from '../schema/page.ts'
import { idShape } from '../schema/response-shapes.ts'
import {
  API_KEY_FILTER,
  ApiKeyCreate,
  ApiKeyPatch,
  ApiKeyRotation,
  ApiKeyShape,
  NewApiKeyShape,
  RotatedApiKeyShape,
} from './api-keys.fields.ts'
import {
  type ApiKey,
  createApiKey,
  findApiKeys,
  getApiKey,
  listApiKeys,
  revokeApiKey,
  rotateApiKey,
  toApiKeyListName,
  updateApiKey,
} from './api-keys.ts'

export const API_KEY = defineResource<ApiKey>({
  member: 'apiKey',
  words: 'API key',
  ref: defineObjectType<ApiKey>(
    ApiKeyShape,
    {
      ...orAdministrator(
        withScopeOrOwner(
          'api_keys:read',
          'A key by which a program calls APIs in the name of its owner.',
          ({ userId }: ApiKey) => userId,
        ),
        ({ organizationId }: ApiKey) => organizationId,
      ),
      interfaces: [Node],
    },
    (t) => ({
      user: t.field({
        type: UserRef,
        nullable: true,
        description: 'The user whose key it is.',
        resolve: ({ userId }, _args, { loaders }) => (userId ? loaders.user.load(userId) : null),
      }),
    }),
  ),
  scope: 'api_keys:read',
  shape: ApiKeyShape,
  toCursor: ({ tenant }, { id }) => encodeIdCursor(toApiKeyListName(tenant), id),
})

registerNode('apikey', {
  ref: API_KEY.ref,
  scope: API_KEY.scope,
  load: (id, { loaders }) => loaders.over(findApiKeys).load(id),
})

/** What creations and rotations return: the key is shown once. */
export const NEW_KEY_OUTPUT = { apiKey: API_KEY, key: NewApiKeyShape.shape.key }
export const ROTATED_KEY_OUTPUT = {
  ...NEW_KEY_OUTPUT,
  previousExpiresAt: RotatedApiKeyShape.shape.previousExpiresAt,
}
export const REVOKED_KEY_OUTPUT = {
  revokedApiKeyId: idShape.meta({ description: 'Id of the revoked API key.' }),
}

export const apiKeyOperations: readonly RestRoute[] = [
  ...defineMutation({
    name: 'createApiKey',
    inOrganization: ['name', 'scopes', 'resources', 'allowedNetworks', 'expiresInSeconds'],
    summary:
      'Creates an API key of the tenant or of a user. The response has the key, which is shown only once. Callers can only give scopes that they have; for a user they need users:write and all scopes of the roles of the user.',
    scope: 'api_keys:write',
    isCreation: true,
    input: ApiKeyCreate,
    errors: [NotFound, Conflict, UserLocked],
    output: NEW_KEY_OUTPUT,
    rest: {
      method: 'POST',
      path: '/api-keys',
      status: 201,
      location: ({ id }) => `/api-keys/${id}`,
      response: NewApiKeyShape,
      toBody: (ctx, { apiKey, key }) => ({ ...API_KEY.toBody(ctx, apiKey), key }),
    },
    run: (ctx, _ids, input) => createApiKey(ctx, input),
  }),
  ...defineList({
    name: 'listApiKeys',
    inOrganization: true,
    summary: 'The API keys of the tenant and its users, oldest first.',
    resource: API_KEY,
    filter: API_KEY_FILTER,
    path: '/api-keys',
    run: listApiKeys,
  }),
  ...defineLookup({
    name: 'getApiKey',
    inOrganization: true,
    field: 'apiKey',
    summary: 'An API key.',
    resource: API_KEY,
    target: 'apiKeyId',
    path: '/api-keys/:apiKeyId',
    run: getApiKey,
  }),
  ...defineMutation({
    name: 'updateApiKey',
    inOrganization: ['name', 'scopes', 'allowedNetworks'],
    summary:
      'Changes an API key. Callers can only change keys with scopes that they have and of users whom they may change, and give such scopes.',
    scope: 'api_keys:write',
    targets: ['apiKeyId'],
    input: ApiKeyPatch,
    errors: [NotFound],
    output: { apiKey: API_KEY },
    rest: { method: 'PATCH', path: '/api-keys/:apiKeyId' },
    run: async (ctx, { apiKeyId }, input) => ({ apiKey: await updateApiKey(ctx, apiKeyId, input) }),
  }),
  ...defineMutation({
    name: 'rotateApiKey',
    inOrganization: ['overlapSeconds', 'expiresInSeconds'],
    summary:
      'Replaces an API key by a new one, which is shown only once. The current one is accepted for overlapSeconds; an older one is deleted.',
    scope: 'api_keys:write',
    isCreation: true,
    targets: ['apiKeyId'],
    input: ApiKeyRotation,
    isInputOptional: true,
    errors: [NotFound],
    output: ROTATED_KEY_OUTPUT,
    rest: {
      method: 'POST',
      path: '/api-keys/:apiKeyId/rotate',
      response: RotatedApiKeyShape,
      toBody: (ctx, { apiKey, ...rotation }) => ({ ...API_KEY.toBody(ctx, apiKey), ...rotation }),
    },
    run: (ctx, { apiKeyId }, input) => rotateApiKey(ctx, apiKeyId, input),
  }),
  ...defineMutation({
    name: 'revokeApiKey',
    inOrganization: [],
    summary: 'Revokes an API key: requests with it are rejected within a second, and its subscriptions end.',
    scope: 'api_keys:write',
    targets: ['apiKeyId'],
    errors: [NotFound],
    output: REVOKED_KEY_OUTPUT,
    rest: { method: 'DELETE', path: '/api-keys/:apiKeyId', message: 'The API key was revoked.' },
    run: (ctx, { apiKeyId }) => revokeApiKey(ctx, apiKeyId),
  }),
]
