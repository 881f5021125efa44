import { defineRestRoute, type RestRoute } from '../rest/route.ts'
import { createBodyMapper } from '../schema/response-shapes.ts'
import { IdpUserTokensShape } from './idp-user-tokens.fields.ts'
import { getIdpUserTokens } from './idp-user-tokens.ts'

const toTokensBody = createBodyMapper(IdpUserTokensShape)

export const idpUserTokensRoutes: readonly RestRoute[] = [
  defineRestRoute({
    method: 'GET',
    path: '/users/:userId/idps/:idpId/tokens',
    operationId: 'getIdpUserTokens',
    summary:
      'The access token that an identity provider with keepTokens issued for a user. An expired one is refreshed at the provider. An event records who read it.',
    scope: 'idp_tokens:read',
    response: IdpUserTokensShape,
    errors: [409],
    handle: async (ctx, { params }) => toTokensBody(await getIdpUserTokens(ctx, params.userId, params.idpId)),
  }),
]
