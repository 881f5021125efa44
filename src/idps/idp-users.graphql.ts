import { Conflict, InvalidInput, NotFound } from '../errors.ts'
import { builder, type InputFields } from '../graphql/builder.ts'
import {
  connectionType,
  listOf,
  NESTED_PAGE_ARGS,
  nestedPage,
  nestedQuery,
  withNodes,
} from '../graphql/connection.ts'
import { creation } from '../graphql/idempotency.ts'
import { ID_DESCRIPTION, Node, orNull, registerNode, requireId } from '../graphql/node.graphql.ts'
import { UserRef } from '../graphql/refs.ts'
import { resultOf } from '../graphql/result.ts'
import { open, scoped, scopedOrOwn } from '../graphql/scoped.ts'
import { countIdpUsers, getIdpUser, type IdpUser } from './idp-users.ts'
import { IdentityProviderRef, requireIdpId } from './idps.graphql.ts'
import { addIdpUser, linkIdpUser, unlinkIdpUser } from './link-idp-user.ts'

export const IdpUserRef = builder.prismaObject('IdpUser', {
  ...scopedOrOwn('idps:read', "A user's link to an identity at a provider.", (link: IdpUser) => link.userId),
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
      resolve: ({ idpId }, _args, { loaders }) => loaders.idp.load(idpId),
    }),
    externalId: t.exposeString('externalId', { description: 'Identifier of the user at the provider.' }),
    metadata: t.expose('metadata', {
      type: 'JSONObject',
      description: 'Free-form object; of a link that the provider proved, its unverified claims.',
    }),
    lastLoginAt: t.expose('lastLoginAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the provider last proved it; null for never.',
    }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When the link was last changed.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the link was made.' }),
  }),
})

registerNode('idpuser', {
  ref: IdpUserRef,
  scope: 'idps:read',
  load: (id, { loaders }) => loaders.idpUser.load(id),
})

const IdpUserConnection = connectionType('IdpUser', IdpUserRef)

builder.prismaObjectField('User', 'idpUsers', (t) =>
  t.field({
    ...scopedOrOwn(
      'idps:read',
      'Links of the user to identity providers, in the order in which they were made.',
      ({ id }) => id,
    ),
    ...listOf(IdpUserConnection),
    args: NESTED_PAGE_ARGS,
    select: (args, context, nested) => ({
      idpUsers: withNodes(nested, 'IdpUser', nestedQuery(args, context, 'User.idpUsers', {})),
    }),
    resolve: (user, args, context) =>
      nestedPage(args, context, 'User.idpUsers', user.idpUsers, () => countIdpUsers(context.ctx, user.id)),
  }),
)

builder.queryField('idpUser', (t) =>
  t.field({
    ...scoped('idps:read', "A user's link at a provider; null when there is none."),
    type: IdpUserRef,
    nullable: true,
    args: {
      userId: t.arg.id({ required: true, description: 'Id of the user.' }),
      idpId: t.arg.id({ required: true, description: 'Id of the identity provider.' }),
    },
    resolve: (_root, { userId, idpId }, { ctx }) =>
      orNull(getIdpUser(ctx, requireId('user', userId, 'userId'), requireIdpId(idpId, 'idpId'))),
  }),
)

/** Who may only write must still learn that the write was done. */
export const IdpUserPayload = builder.objectRef<{ idpUser: IdpUser }>('IdpUserPayload').implement({
  ...open('The link that was written.'),
  fields: (t) => ({
    idpUser: t.field({
      type: IdpUserRef,
      nullable: true,
      description: 'The link as it is now; null, with an error, for callers without idps:read.',
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
    ...creation(
      scoped(
        'idps:write',
        'Links a user to an identity on the word of the caller: nothing is asked of the provider.',
      ),
    ),
    ...resultOf(InvalidInput, Conflict, NotFound),
    type: IdpUserPayload,
    args: { input: t.arg({ type: AddIdpUserInput, required: true, description: 'The link.' }) },
    resolve: async (_root, { input: { userId, idpId, ...link } }, { ctx }) => ({
      idpUser: await addIdpUser(ctx, requireId('user', userId, 'userId'), requireIdpId(idpId, 'idpId'), link),
    }),
  }),
)

/** A provider, and what it proves somebody by. */
export const linkInputFields = (t: InputFields) => ({
  idpId: t.id({ required: true, description: 'Id of the identity provider.' }),
  idToken: t.string({ description: 'An ID token of the provider, issued to its clientId.' }),
  accessToken: t.string({ description: 'An access token of the provider, issued to its clientId.' }),
  code: t.string({ description: 'An authorization code of the provider, issued to its clientId.' }),
  redirectUri: t.string({ description: 'Of the code: where the provider sent it.' }),
  codeVerifier: t.string({ description: 'Of the code: the verifier of its challenge (PKCE).' }),
})

const ONE_PROOF =
  'exactly one proof of idToken, accessToken and code. It is checked with the provider before anything is written.'

const LinkIdpUserInput = builder.inputType('LinkIdpUserInput', {
  description: `Whom to link, and ${ONE_PROOF}`,
  fields: (t) => ({
    userId: t.id({ required: true, description: 'Id of the user.' }),
    ...linkInputFields(t),
  }),
})

builder.mutationField('linkIdpUser', (t) =>
  t.field({
    ...scoped('idps:write', 'Links a user to the identity that the provider proves.'),
    ...resultOf(InvalidInput, Conflict, NotFound),
    type: IdpUserPayload,
    args: { input: t.arg({ type: LinkIdpUserInput, required: true, description: 'The proof.' }) },
    resolve: async (_root, { input: { userId, idpId, ...proof } }, { ctx }) => ({
      idpUser: await linkIdpUser(
        ctx,
        requireId('user', userId, 'userId'),
        requireIdpId(idpId, 'idpId'),
        proof,
      ),
    }),
  }),
)

const UnlinkIdpUserPayload = builder
  .objectRef<{ unlinkedIdpUserId: string; userId: string }>('UnlinkIdpUserPayload')
  .implement({
    ...open('The link is gone.'),
    fields: (t) => ({
      unlinkedIdpUserId: t.exposeID('unlinkedIdpUserId', { description: 'Id that the link had.' }),
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
    ...scoped('idps:write', "Removes a user's link at a provider."),
    ...resultOf(InvalidInput, NotFound),
    type: UnlinkIdpUserPayload,
    args: { input: t.arg({ type: UnlinkIdpUserInput, required: true, description: 'Which link.' }) },
    resolve: (_root, { input: { userId, idpId } }, { ctx }) =>
      unlinkIdpUser(ctx, requireId('user', userId, 'userId'), requireIdpId(idpId, 'idpId')),
  }),
)
