import { builder } from '../graphql/builder.ts'
import { withScope } from '../graphql/field-access.ts'
import { nullIfNotFound, requireNodeId } from '../graphql/node.graphql.ts'
import { IdpUserTokensShape } from './idp-user-tokens.fields.ts'
import { getIdpUserTokens, type IdpUserTokens } from './idp-user-tokens.ts'
import { requireIdpId } from './idps.graphql.ts'

const describe = (field: keyof typeof IdpUserTokensShape.shape) =>
  IdpUserTokensShape.shape[field].meta()?.description

const IdpUserTokensRef = builder.objectRef<IdpUserTokens>('IdpUserTokens').implement({
  ...withScope('idp_tokens:read', 'The tokens that an identity provider issued for a user.'),
  fields: (t) => ({
    userId: t.exposeID('userId', { description: describe('userId') }),
    idpId: t.exposeID('idpId', { description: describe('idpId') }),
    accessToken: t.exposeString('accessToken', { description: describe('accessToken') }),
    scopes: t.exposeStringList('scopes', { description: describe('scopes') }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: describe('expiresAt'),
    }),
  }),
})

builder.queryField('idpUserTokens', (t) =>
  t.field({
    ...withScope(
      'idp_tokens:read',
      'The access token that an identity provider with keepTokens issued for a user; null when there is none. An expired one is refreshed at the provider. An event records who read it.',
    ),
    type: IdpUserTokensRef,
    nullable: true,
    args: {
      userId: t.arg.id({ required: true, description: 'Id of the user.' }),
      idpId: t.arg.id({ required: true, description: 'Id of the identity provider.' }),
    },
    resolve: (_root, { userId, idpId }, { ctx }) =>
      nullIfNotFound(
        getIdpUserTokens(ctx, requireNodeId('user', userId, 'userId'), requireIdpId(idpId, 'idpId')),
      ),
  }),
)
