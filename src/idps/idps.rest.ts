import { DoneShape, defineRestRoute, type RestRoute, toDoneBody } from '../rest/route.ts'
import { toPageEnvelope } from '../schema/page.ts'
import { createBodyMapper, createListShape } from '../schema/response-shapes.ts'
import { IdpCreate, IdpPatch, IdpShape } from './idps.fields.ts'
import {
  createIdentityProvider,
  deleteIdentityProvider,
  getIdentityProvider,
  listIdentityProviders,
  updateIdentityProvider,
} from './idps.ts'
import { ProviderTestInput, ProviderTestShape } from './provider-check.fields.ts'
import { testIdentityProvider } from './provider-check.ts'

const toIdpBody = createBodyMapper(IdpShape)

export const idpRoutes: readonly RestRoute[] = [
  defineRestRoute({
    method: 'POST',
    path: '/idps',
    operationId: 'createIdentityProvider',
    summary: 'Creates an identity provider under an id of your choice. Its secrets are never returned.',
    scope: 'idps:write',
    idempotent: true,
    status: 201,
    location: ({ id }) => `/idps/${id}`,
    body: IdpCreate,
    response: IdpShape,
    errors: [409],
    handle: async (ctx, { body }) => toIdpBody(await createIdentityProvider(ctx, body)),
  }),
  defineRestRoute({
    method: 'GET',
    path: '/idps',
    operationId: 'listIdentityProviders',
    summary: 'The identity providers of the tenant, by id.',
    scope: 'idps:read',
    paged: true,
    response: createListShape('idps', IdpShape),
    handle: async (ctx, { paging }) =>
      toPageEnvelope(ctx, await listIdentityProviders(ctx, paging), 'idps', toIdpBody),
  }),
  defineRestRoute({
    method: 'GET',
    path: '/idps/:idpId',
    operationId: 'getIdentityProvider',
    summary: 'An identity provider.',
    scope: 'idps:read',
    response: IdpShape,
    handle: async (ctx, { params }) => toIdpBody(await getIdentityProvider(ctx, params.idpId)),
  }),
  defineRestRoute({
    method: 'PATCH',
    path: '/idps/:idpId',
    operationId: 'updateIdentityProvider',
    summary:
      "Updates an identity provider. Omitted fields are unchanged; null and, for text, '' unset a field.",
    scope: 'idps:write',
    body: IdpPatch,
    response: IdpShape,
    errors: [409],
    handle: async (ctx, { params, body }) => toIdpBody(await updateIdentityProvider(ctx, params.idpId, body)),
  }),
  defineRestRoute({
    method: 'POST',
    path: '/idps/:idpId/test',
    operationId: 'testIdentityProvider',
    summary:
      'Tests an identity provider: metadata, keys, endpoints, and whether it accepts client id and secret.',
    scope: 'idps:write',
    body: ProviderTestInput,
    isBodyOptional: true,
    response: ProviderTestShape,
    handle: async (ctx, { params, body }) => ({ ...(await testIdentityProvider(ctx, params.idpId, body)) }),
  }),
  defineRestRoute({
    method: 'DELETE',
    path: '/idps/:idpId',
    operationId: 'deleteIdentityProvider',
    summary: 'Deletes an identity provider and all links to it permanently.',
    scope: 'idps:write',
    response: DoneShape,
    handle: async (ctx, { params }) => {
      await deleteIdentityProvider(ctx, params.idpId)
      return toDoneBody(ctx, 'The identity provider was deleted.')
    },
  }),
]
