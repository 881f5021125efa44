import { DoneShape, defineRestRoute, type RestRoute, toDoneBody } from '../rest/route.ts'
import { toPageEnvelope } from '../schema/page.ts'
import { createBodyMapper, createListShape } from '../schema/response-shapes.ts'
import { addIdpUser, linkIdpUser, unlinkIdpUser } from './idp-links.ts'
import { IdpUserAdd, IdpUserLink, IdpUserShape } from './idp-users.fields.ts'
import { getIdpUser, listIdpUsers } from './idp-users.ts'

const toIdpUserBody = createBodyMapper(IdpUserShape)

export const idpUserRoutes: readonly RestRoute[] = [
  defineRestRoute({
    method: 'GET',
    path: '/users/:userId/idps',
    operationId: 'listIdpUsers',
    summary: "A user's links to identity providers.",
    scope: 'idps:read',
    paged: true,
    response: createListShape('idpUsers', IdpUserShape),
    handle: async (ctx, { params, paging }) =>
      toPageEnvelope(ctx, await listIdpUsers(ctx, params.userId, paging), 'idpUsers', toIdpUserBody),
  }),
  defineRestRoute({
    method: 'POST',
    path: '/users/:userId/idps/:idpId',
    operationId: 'addIdpUser',
    summary: 'Links a user to an identity that the caller asserts. The provider is not contacted.',
    scope: 'idps:write',
    idempotent: true,
    status: 201,
    location: ({ userId, idpId }) => `/users/${userId}/idps/${idpId}`,
    body: IdpUserAdd,
    response: IdpUserShape,
    errors: [409],
    handle: async (ctx, { params, body }) =>
      toIdpUserBody(await addIdpUser(ctx, params.userId, params.idpId, body)),
  }),
  defineRestRoute({
    method: 'GET',
    path: '/users/:userId/idps/:idpId',
    operationId: 'getIdpUser',
    summary: "A user's link to an identity provider.",
    scope: 'idps:read',
    response: IdpUserShape,
    handle: async (ctx, { params }) => toIdpUserBody(await getIdpUser(ctx, params.userId, params.idpId)),
  }),
  defineRestRoute({
    method: 'PUT',
    path: '/users/:userId/idps/:idpId',
    operationId: 'linkIdpUser',
    summary:
      'Links a user to the identity that the provider proves by an ID token, an access token or a code. The proof is verified with the provider first.',
    scope: 'idps:write',
    body: IdpUserLink,
    response: IdpUserShape,
    errors: [409],
    handle: async (ctx, { params, body }) =>
      toIdpUserBody(await linkIdpUser(ctx, params.userId, params.idpId, body)),
  }),
  defineRestRoute({
    method: 'DELETE',
    path: '/users/:userId/idps/:idpId',
    operationId: 'unlinkIdpUser',
    summary: "Removes a user's link to an identity provider.",
    scope: 'idps:write',
    response: DoneShape,
    handle: async (ctx, { params }) => {
      await unlinkIdpUser(ctx, params.userId, params.idpId)
      return toDoneBody(ctx, 'The link was removed.')
    },
  }),
]
