import { toEnvelope } from '../page.ts'
import { Done, type RestRoute, restRoute, toDone } from '../rest/route.ts'
import { listShape, toBodyOf } from '../shapes.ts'
import { IdpCreate, IdpPatch, IdpShape } from './idps.fields.ts'
import {
  createIdentityProvider,
  deleteIdentityProvider,
  getIdentityProvider,
  listIdentityProviders,
  updateIdentityProvider,
} from './idps.ts'

const toBody = toBodyOf(IdpShape)

export const idpRoutes: readonly RestRoute[] = [
  restRoute({
    method: 'POST',
    path: '/idps',
    operationId: 'createIdentityProvider',
    summary: 'Creates an identity provider under an id of your choice. Its secrets are never answered.',
    scope: 'idps:write',
    idempotent: true,
    status: 201,
    location: ({ id }) => `/idps/${id}`,
    body: IdpCreate,
    response: IdpShape,
    errors: [409],
    handle: async (ctx, { body }) => toBody(await createIdentityProvider(ctx, body)),
  }),
  restRoute({
    method: 'GET',
    path: '/idps',
    operationId: 'listIdentityProviders',
    summary: 'The identity providers of the tenant, by id.',
    scope: 'idps:read',
    paged: true,
    response: listShape('idps', IdpShape),
    handle: async (ctx, { paging }) => toEnvelope(await listIdentityProviders(ctx, paging), 'idps', toBody),
  }),
  restRoute({
    method: 'GET',
    path: '/idps/:idpId',
    operationId: 'getIdentityProvider',
    summary: 'One identity provider.',
    scope: 'idps:read',
    response: IdpShape,
    handle: async (ctx, { params }) => toBody(await getIdentityProvider(ctx, params.idpId)),
  }),
  restRoute({
    method: 'PATCH',
    path: '/idps/:idpId',
    operationId: 'updateIdentityProvider',
    summary: "Changes an identity provider. Omitted fields are unchanged; '' and null unset a field.",
    scope: 'idps:write',
    body: IdpPatch,
    response: IdpShape,
    errors: [409],
    handle: async (ctx, { params, body }) => toBody(await updateIdentityProvider(ctx, params.idpId, body)),
  }),
  restRoute({
    method: 'DELETE',
    path: '/idps/:idpId',
    operationId: 'deleteIdentityProvider',
    summary: 'Deletes an identity provider for ever, with all links to it.',
    scope: 'idps:write',
    response: Done,
    handle: async (ctx, { params }) => {
      await deleteIdentityProvider(ctx, params.idpId)
      return toDone(ctx, 'The identity provider was deleted.')
    },
  }),
]
