import { Conflict, NotFound } from '../core/errors.ts'
import { builder } from '../graphql/builder.ts'
import { deprecate } from '../graphql/deprecation.ts'
import { withScope } from '../graphql/field-access.ts'
import { nullIfNotFound } from '../graphql/node.graphql.ts'
import { toNestedListName } from '../graphql/node-selection.ts'
import { defineNestedList } from '../operations/list.ts'
import { defineMutation } from '../operations/mutation.ts'
import { defineLookup } from '../operations/query.ts'
import { defineResource } from '../operations/resource.ts'
import { describeTarget, readTarget } from '../operations/targets.ts'
import type { RestRoute } from '../rest/route.ts'
import { encodeIdCursor } from '../schema/page.ts'
import { idShape } from '../schema/response-shapes.ts'
import { USER } from '../users/users.operations.ts'
import { addIdpUser, linkIdpUser, unlinkIdpUser } from './idp-links.ts'
import { IdpUserAdd, IdpUserLink, IdpUserShape } from './idp-users.fields.ts'
import { IdpUserRef, IdpUserTokensRef } from './idp-users.graphql.ts'
import { getIdpUser, type IdpUser, listIdpUsers } from './idp-users.ts'
import { IdpUserTokensShape } from './tokens/idp-user-tokens.fields.ts'
import { getIdpUserTokens, type IdpUserTokens } from './tokens/idp-user-tokens.ts'

export const IDP_USER = defineResource<IdpUser>({
  member: 'idpUser',
  words: 'link',
  ref: IdpUserRef,
  scope: 'idps:read',
  shape: IdpUserShape,
  toCursor: ({ tenant }, { id }) => encodeIdCursor(toNestedListName(tenant, 'User.idpUsers'), id),
})

const TOKENS = defineResource<IdpUserTokens>({
  member: 'idpUserTokens',
  words: 'tokens',
  ref: IdpUserTokensRef,
  scope: 'idp_tokens:read',
  shape: IdpUserTokensShape,
})

const PATH = '/users/:userId/idps/:idpId'

export const idpUserOperations: readonly RestRoute[] = [
  ...defineNestedList({
    name: 'listIdpUsers',
    summary: "A user's links to identity providers.",
    resource: IDP_USER,
    target: 'userId',
    path: '/users/:userId/idps',
    run: listIdpUsers,
  }),
  ...defineMutation({
    name: 'addIdpUser',
    summary: 'Links a user to an identity that the caller asserts. The provider is not contacted.',
    scope: 'idps:write',
    isCreation: true,
    targets: ['userId', 'idpId'],
    input: IdpUserAdd,
    errors: [Conflict, NotFound],
    output: { idpUser: IDP_USER },
    rest: {
      method: 'POST',
      path: PATH,
      status: 201,
      location: ({ userId, idpId }) => `/users/${userId}/idps/${idpId}`,
    },
    run: async (ctx, { userId, idpId }, input) => ({ idpUser: await addIdpUser(ctx, userId, idpId, input) }),
  }),
  ...defineLookup({
    name: 'getIdpUser',
    field: 'idpUser',
    summary: "A user's link to an identity provider.",
    resource: IDP_USER,
    target: ['userId', 'idpId'],
    path: PATH,
    run: getIdpUser,
  }),
  ...defineMutation({
    name: 'linkIdpUser',
    summary:
      'Links a user to the identity that the provider proves by an ID token, an access token or a code. The proof is verified with the provider first.',
    scope: 'idps:write',
    targets: ['userId', 'idpId'],
    input: IdpUserLink,
    errors: [Conflict, NotFound],
    output: { idpUser: IDP_USER },
    rest: { method: 'PUT', path: PATH },
    run: async (ctx, { userId, idpId }, input) => ({ idpUser: await linkIdpUser(ctx, userId, idpId, input) }),
  }),
  ...defineMutation({
    name: 'unlinkIdpUser',
    summary: "Removes a user's link to an identity provider.",
    scope: 'idps:write',
    targets: ['userId', 'idpId'],
    errors: [NotFound],
    output: {
      unlinkedIdpUserId: idShape.meta({ description: 'Id of the deleted link.' }),
    },
    loaded: { user: { resource: USER, by: 'userId' } },
    rest: { method: 'DELETE', path: PATH, message: 'The link was removed.' },
    run: (ctx, { userId, idpId }) => unlinkIdpUser(ctx, userId, idpId),
  }),
  // A mutation, because reading records an event: clients send queries again, in parallel and ahead. GET is safe all the same
  // (RFC 9110, section 9.2.1): a caller does not ask for the event.
  ...defineMutation({
    name: 'getIdpUserTokens',
    summary:
      'The access token that an identity provider with keepTokens issued for a user. An expired one is refreshed at the provider. An event records who read it.',
    scope: 'idp_tokens:read',
    targets: ['userId', 'idpId'],
    errors: [Conflict, NotFound],
    output: { idpUserTokens: TOKENS },
    rest: { method: 'GET', path: `${PATH}/tokens` },
    run: async (ctx, { userId, idpId }) => ({ idpUserTokens: await getIdpUserTokens(ctx, userId, idpId) }),
  }),
]

builder.queryField('idpUserTokens', (t) =>
  t.field({
    ...withScope(TOKENS.scope, 'The result of the mutation getIdpUserTokens. Null when there is none.'),
    ...deprecate('2026-11-26', 'Use the mutation `getIdpUserTokens`: reading records an event.'),
    type: TOKENS.ref,
    nullable: true,
    args: {
      userId: t.arg.id({ required: true, description: describeTarget('userId') }),
      idpId: t.arg.id({ required: true, description: describeTarget('idpId') }),
    },
    resolve: (_root, { userId, idpId }, { ctx }) =>
      nullIfNotFound(
        getIdpUserTokens(ctx, readTarget('userId', userId, 'userId'), readTarget('idpId', idpId, 'idpId')),
      ),
  }),
)
