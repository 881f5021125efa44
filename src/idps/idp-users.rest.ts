import { toEnvelope } from '../page.ts'
import { Done, type RestRoute, restRoute, toDone } from '../rest/route.ts'
import { listShape, toBodyOf } from '../shapes.ts'
import { IdpUserAdd, IdpUserLink, IdpUserShape } from './idp-users.fields.ts'
import { getIdpUser, listIdpUsers } from './idp-users.ts'
import { addIdpUser, linkIdpUser, unlinkIdpUser } from './link-idp-user.ts'

const toBody = toBodyOf(IdpUserShape)

export const idpUserRoutes: readonly RestRoute[] = [
  restRoute({
    method: 'GET',
    path: '/users/:userId/idps',
    operationId: 'listIdpUsers',
    summary: "A user's links to identity providers.",
    scope: 'idps:read',
    paged: true,
    response: listShape('idpUsers', IdpUserShape),
    handle: async (ctx, { params, paging }) =>
      toEnvelope(await listIdpUsers(ctx, params.userId, paging), 'idpUsers', toBody),
  }),
  restRoute({
    method: 'POST',
    path: '/users/:userId/idps/:idpId',
    operationId: 'addIdpUser',
    summary: 'Links a user to an identity on your word: nothing is asked of the provider.',
    scope: 'idps:write',
    idempotent: true,
    status: 201,
    location: ({ userId, idpId }) => `/users/${userId}/idps/${idpId}`,
    body: IdpUserAdd,
    response: IdpUserShape,
    errors: [409],
    handle: async (ctx, { params, body }) => toBody(await addIdpUser(ctx, params.userId, params.idpId, body)),
  }),
  restRoute({
    method: 'GET',
    path: '/users/:userId/idps/:idpId',
    operationId: 'getIdpUser',
    summary: "A user's link to an identity provider.",
    scope: 'idps:read',
    response: IdpUserShape,
    handle: async (ctx, { params }) => toBody(await getIdpUser(ctx, params.userId, params.idpId)),
  }),
  restRoute({
    method: 'PUT',
    path: '/users/:userId/idps/:idpId',
    operationId: 'linkIdpUser',
    summary:
      'Links a user to the identity that the provider proves: by an ID token, an access token or a code, checked with it first.',
    scope: 'idps:write',
    body: IdpUserLink,
    response: IdpUserShape,
    errors: [409],
    handle: async (ctx, { params, body }) =>
      toBody(await linkIdpUser(ctx, params.userId, params.idpId, body)),
  }),
  restRoute({
    method: 'DELETE',
    path: '/users/:userId/idps/:idpId',
    operationId: 'unlinkIdpUser',
    summary: "Removes a user's link to an identity provider.",
    scope: 'idps:write',
    response: Done,
    handle: async (ctx, { params }) => {
      await unlinkIdpUser(ctx, params.userId, params.idpId)
      return toDone(ctx, 'The link was removed.')
    },
  }),
]
