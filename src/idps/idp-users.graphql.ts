import { builder } from '../graphql/builder.ts'
import { defineConnectionType, NESTED_PAGE_ARGS, nestedConnectionField } from '../graphql/connection.ts'
import { withScope, withScopeOrOwner } from '../graphql/field-access.ts'
import { ID_DESCRIPTION, Node, registerNode } from '../graphql/node.graphql.ts'
import { addNodeSelection, buildNestedQuery, toNestedPage } from '../graphql/node-selection.ts'
import { UserRef } from '../graphql/object-refs.ts'
import { buildObjectFields } from '../graphql/shape-fields.ts'
import { IdpUserShape } from './idp-users.fields.ts'
import { countIdpUsers, type IdpUser } from './idp-users.ts'
import { IdentityProviderRef } from './idps.graphql.ts'
import { findIdentityProviders } from './idps.ts'
import { IdpUserTokensShape } from './tokens/idp-user-tokens.fields.ts'
import type { IdpUserTokens } from './tokens/idp-user-tokens.ts'

export const IdpUserRef = builder.prismaObject('IdpUser', {
  ...withScopeOrOwner(
    'idps:read',
    "A user's link to an identity at a provider.",
    (link: IdpUser) => link.userId,
  ),
  interfaces: [Node],
  fields: (t) => ({
    id: t.exposeID('id', { description: ID_DESCRIPTION }),
    ...buildObjectFields(t as never, IdpUserShape.shape),
    user: t.field({
      type: UserRef,
      nullable: true,
      description: 'The user who is linked.',
      select: { userId: true },
      resolve: ({ userId }, _args, { loaders }) => loaders.user.load(userId),
    }),
    idp: t.field({
      type: IdentityProviderRef,
      nullable: true,
      description: 'The identity provider.',
      select: { idpId: true },
      resolve: ({ idpId }, _args, { loaders }) => loaders.over(findIdentityProviders).load(idpId),
    }),
  }),
})

registerNode('idpuser', {
  ref: IdpUserRef,
  scope: 'idps:read',
  load: (id, { loaders }) => loaders.idpUser.load(id),
})

const IdpUserConnection = defineConnectionType('IdpUser', IdpUserRef)

builder.prismaObjectField('User', 'idpUsers', (t) =>
  t.field({
    ...withScopeOrOwner(
      'idps:read',
      'Links of the user to identity providers, in order of creation.',
      ({ id }) => id,
    ),
    ...nestedConnectionField(IdpUserConnection),
    args: NESTED_PAGE_ARGS,
    select: (args, context, nested) => ({
      idpUsers: addNodeSelection(nested, 'IdpUser', buildNestedQuery(args, context, 'User.idpUsers', {})),
    }),
    resolve: (user, args, context) =>
      toNestedPage(args, context, 'User.idpUsers', user.idpUsers, () => countIdpUsers(context.ctx, user.id)),
  }),
)

export const IdpUserTokensRef = builder.objectRef<IdpUserTokens>('IdpUserTokens').implement({
  ...withScope('idp_tokens:read', 'The tokens that an identity provider issued for a user.'),
  fields: (t) => buildObjectFields(t as never, IdpUserTokensShape.shape),
})
