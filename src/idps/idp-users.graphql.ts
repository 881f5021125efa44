import { Conflict, InvalidInput, NotFound } from '../core/errors.ts'
import { builder, type InputFields } from '../graphql/builder.ts'
import { defineConnectionType, NESTED_PAGE_ARGS, nestedConnectionField } from '../graphql/connection.ts'
import { withPublicAccess, withScope, withScopeOrOwner } from '../graphql/field-access.ts'
import { markCreation } from '../graphql/idempotency.ts'
import { ID_DESCRIPTION, Node, nullIfNotFound, registerNode, requireNodeId } from '../graphql/node.graphql.ts'
import { addNodeSelection, buildNestedQuery, toNestedPage } from '../graphql/node-selection.ts'
import { UserRef } from '../graphql/object-refs.ts'
import { toResultOptions } from '../graphql/result-options.ts'
import { addIdpUser, linkIdpUser, unlinkIdpUser } from './idp-links.ts'
import { countIdpUsers, getIdpUser, type IdpUser } from './idp-users.ts'
import { IdentityProviderRef, requireIdpId } from './idps.graphql.ts'
import { findIdentityProviders } from './idps.ts'

export const IdpUserRef = builder.prismaObject('IdpUser', {
  ...withScopeOrOwner(
    'idps:read',
    "A user's link to an identity at a provider.",
    (link: IdpUser) => link.userId,
  ),
  interfaces: [Node],
  fields: (t) => ({
    id: t.exposeID('id', { description: ID_DESCRIPTION }),
    userId: t.exposeID('userId', { description: 'Id of the user who is linked.' }),
    user: t.field({
      type: UserRef,
      nullable: true,
      description: 'The user who is linked.',
      select: { userId: true },
      resolve: ({ userId }, _args, { loaders }) => loaders.user.load(userId),
    }),
    idpId: t.exposeID('idpId', { description: 'Id of the identity provider.' }),
    idp: t.field({
      type: IdentityProviderRef,
      nullable: true,
      description: 'The identity provider.',
      select: { idpId: true },
      resolve: ({ idpId }, _args, { loaders }) => loaders.over(findIdentityProviders).load(idpId),
    }),
    externalId: t.exposeString('externalId', { description: 'Identifier of the user at the provider.' }),
    metadata: t.expose('metadata', {
      type: 'JSONObject',
      description: 'Free-form object. For a link that the provider proved, its unverified claims.',
    }),
    lastLoginAt: t.expose('lastLoginAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the provider last proved the identity; null if never.',
    }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When the link was last changed.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the link was created.' }),
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

builder.queryField('idpUser', (t) =>
  t.field({
    ...withScope('idps:read', "A user's link at a provider; null when there is none."),
    type: IdpUserRef,
    nullable: true,
    args: {
      userId: t.arg.id({ required: true, description: 'Id of the user.' }),
      idpId: t.arg.id({ required: true, description: 'Id of the identity provider.' }),
    },
    resolve: (_root, { userId, idpId }, { ctx }) =>
      nullIfNotFound(getIdpUser(ctx, requireNodeId('user', userId, 'userId'), requireIdpId(idpId, 'idpId'))),
  }),
)

/** Callers with the write scope alone must still learn that the write succeeded. */
export const IdpUserPayload = builder.objectRef<{ idpUser: IdpUser }>('IdpUserPayload').implement({
  ...withPublicAccess('The changed link.'),
  fields: (t) => ({
    idpUser: t.field({
      type: IdpUserRef,
      nullable: true,
      description: 'The link after the change; null, with an error, for callers without idps:read.',
      resolve: ({ idpUser }) => idpUser,
    }),
  }),
})

const AddIdpUserInput = builder.inputType('AddIdpUserInput', {
  description: 'Input of addIdpUser.',
  fields: (t) => ({
    userId: t.id({ required: true, description: 'Id of the user.' }),
    idpId: t.id({ required: true, description: 'Id of the identity provider.' }),
    externalId: t.string({ required: true, description: 'Identifier of the user at the provider.' }),
    metadata: t.field({ type: 'JSONObject', description: 'Free-form object.' }),
  }),
})

builder.mutationField('addIdpUser', (t) =>
  t.field({
    ...markCreation(
      withScope(
        'idps:write',
        'Links a user to an identity that the caller asserts. The provider is not contacted.',
      ),
    ),
    ...toResultOptions(InvalidInput, Conflict, NotFound),
    type: IdpUserPayload,
    args: { input: t.arg({ type: AddIdpUserInput, required: true, description: 'The link.' }) },
    resolve: async (_root, { input: { userId, idpId, ...link } }, { ctx }) => ({
      idpUser: await addIdpUser(
        ctx,
        requireNodeId('user', userId, 'userId'),
        requireIdpId(idpId, 'idpId'),
        link,
      ),
    }),
  }),
)

/** A provider and a proof. */
export const buildLinkInputFields = (t: InputFields) => ({
  idpId: t.id({ required: true, description: 'Id of the identity provider.' }),
  idToken: t.string({ description: 'An ID token of the provider, issued to its clientId.' }),
  accessToken: t.string({ description: 'An access token of the provider, issued to its clientId.' }),
  code: t.string({ description: 'An authorization code of the provider, issued to its clientId.' }),
  redirectUri: t.string({ description: 'With code: the redirect URI to which the provider sent it.' }),
  codeVerifier: t.string({ description: 'With code: the code verifier (PKCE).' }),
})

const ONE_PROOF_DESCRIPTION =
  'exactly one proof of idToken, accessToken and code. It is checked with the provider before anything is written.'

const LinkIdpUserInput = builder.inputType('LinkIdpUserInput', {
  description: `Whom to link, and ${ONE_PROOF_DESCRIPTION}`,
  fields: (t) => ({
    userId: t.id({ required: true, description: 'Id of the user.' }),
    ...buildLinkInputFields(t),
  }),
})

builder.mutationField('linkIdpUser', (t) =>
  t.field({
    ...withScope('idps:write', 'Links a user to the identity that the provider proves.'),
    ...toResultOptions(InvalidInput, Conflict, NotFound),
    type: IdpUserPayload,
    args: { input: t.arg({ type: LinkIdpUserInput, required: true, description: 'The proof.' }) },
    resolve: async (_root, { input: { userId, idpId, ...proof } }, { ctx }) => ({
      idpUser: await linkIdpUser(
        ctx,
        requireNodeId('user', userId, 'userId'),
        requireIdpId(idpId, 'idpId'),
        proof,
      ),
    }),
  }),
)

const UnlinkIdpUserPayload = builder
  .objectRef<{ unlinkedIdpUserId: string; userId: string }>('UnlinkIdpUserPayload')
  .implement({
    ...withPublicAccess('The link was deleted.'),
    fields: (t) => ({
      unlinkedIdpUserId: t.exposeID('unlinkedIdpUserId', { description: 'Id of the deleted link.' }),
      user: t.field({
        type: UserRef,
        nullable: true,
        description: 'The user; null, with an error, for callers without users:read.',
        resolve: ({ userId }, _args, { loaders }) => loaders.user.load(userId),
      }),
    }),
  })

const UnlinkIdpUserInput = builder.inputType('UnlinkIdpUserInput', {
  description: 'Input of unlinkIdpUser.',
  fields: (t) => ({
    userId: t.id({ required: true, description: 'Id of the user.' }),
    idpId: t.id({ required: true, description: 'Id of the identity provider.' }),
  }),
})

builder.mutationField('unlinkIdpUser', (t) =>
  t.field({
    ...withScope('idps:write', "Removes a user's link at a provider."),
    ...toResultOptions(InvalidInput, NotFound),
    type: UnlinkIdpUserPayload,
    args: { input: t.arg({ type: UnlinkIdpUserInput, required: true, description: 'The link.' }) },
    resolve: (_root, { input: { userId, idpId } }, { ctx }) =>
      unlinkIdpUser(ctx, requireNodeId('user', userId, 'userId'), requireIdpId(idpId, 'idpId')),
  }),
)
