import { Conflict, NotFound } from '../core/errors.ts'
import { builder } from '../graphql/builder.ts'
import { type ConnectionOf, CURSOR_ARGS, connectionField } from '../graphql/connection.ts'
import { orAdministrator, withScope } from '../graphql/field-access.ts'
import { defineList, defineNestedList } from '../operations/list.ts'
import { defineMutation } from '../operations/mutation.ts'
import { defineLookup } from '../operations/query.ts'
import { defineResource } from '../operations/resource.ts'
import type { RestRoute } from '../rest/route.ts'
import { encodeIdCursor } from '../schema/page.ts'
import { idShape } from '../schema/response-shapes.ts'
import {
  IdpCreate,
  IdpPatch,
  IdpShape,
  NewSignalsSecretShape,
  SIGNALS_SECRET,
  SignalsSecretRotation,
} from './idps.fields.ts'
import { IdentityProviderRef } from './idps.graphql.ts'
import {
  createIdentityProvider,
  deleteIdentityProvider,
  getIdentityProvider,
  type Idp,
  listIdentityProviders,
  listOrganizationIdps,
  toIdpListName,
  updateIdentityProvider,
} from './idps.ts'
import { ProviderTestInput, ProviderTestShape } from './provider-check.fields.ts'
import { testIdentityProvider } from './provider-check.ts'
import { rotateSignalsSecret } from './secrets/signals-secret.ts'

const IDP = defineResource<Idp>({
  member: 'identityProvider',
  members: 'idps',
  ref: IdentityProviderRef,
  scope: 'idps:read',
  shape: IdpShape,
  toCursor: ({ tenant }, { id }) => encodeIdCursor(toIdpListName(tenant), id),
})

const OF_ORGANIZATION = 'The identity providers of the organization, by id.'

builder.prismaObjectField('Organization', 'identityProviders', (t) =>
  t.field({
    ...orAdministrator(withScope('idps:read', OF_ORGANIZATION), ({ id }: { id: string }) => id),
    ...connectionField(IDP.getConnection() as ConnectionOf<Idp>),
    args: CURSOR_ARGS,
    select: { id: true },
    resolve: ({ id }, args, { ctx }) => listOrganizationIdps(ctx, id, args),
  }),
)

export const idpOperations: readonly RestRoute[] = [
  ...defineMutation({
    name: 'createIdentityProvider',
    summary: 'Creates an identity provider under an id of your choice. Its secrets are never returned.',
    scope: 'idps:write',
    isCreation: true,
    input: IdpCreate,
    errors: [Conflict, NotFound],
    output: { identityProvider: IDP },
    rest: { method: 'POST', path: '/idps', status: 201, location: ({ id }) => `/idps/${id}` },
    run: async (ctx, _ids, input) => ({ identityProvider: await createIdentityProvider(ctx, input) }),
  }),
  ...defineList({
    name: 'listIdentityProviders',
    field: 'identityProviders',
    summary: 'The identity providers of the tenant, by id.',
    resource: IDP,
    path: '/idps',
    run: listIdentityProviders,
  }),
  ...defineNestedList({
    name: 'listOrganizationIdentityProviders',
    inOrganization: true,
    summary: OF_ORGANIZATION,
    resource: IDP,
    target: 'organizationId',
    path: '/organizations/:organizationId/idps',
    run: listOrganizationIdps,
  }),
  ...defineLookup({
    name: 'getIdentityProvider',
    field: 'identityProvider',
    summary: 'An identity provider.',
    resource: IDP,
    target: 'idpId',
    path: '/idps/:idpId',
    run: getIdentityProvider,
  }),
  ...defineMutation({
    name: 'updateIdentityProvider',
    summary:
      'Updates an identity provider. Omitted fields are unchanged; null unsets, and an empty string unsets a text. Requires every scope that a linked user can get by roles.',
    scope: 'idps:write',
    inOrganization: ['roleClaim', 'claimRoles', 'expectedUpdatedAt'],
    targets: ['idpId'],
    input: IdpPatch,
    errors: [Conflict, NotFound],
    output: { identityProvider: IDP },
    rest: { method: 'PATCH', path: '/idps/:idpId' },
    run: async (ctx, { idpId }, input) => ({
      identityProvider: await updateIdentityProvider(ctx, idpId, input),
    }),
  }),
  ...defineMutation({
    name: 'testIdentityProvider',
    summary:
      'Tests an identity provider: metadata, keys, endpoints, and whether it accepts client id and secret.',
    scope: 'idps:write',
    inOrganization: [],
    targets: ['idpId'],
    input: ProviderTestInput,
    isInputOptional: true,
    errors: [NotFound],
    output: ProviderTestShape.shape,
    rest: { method: 'POST', path: '/idps/:idpId/test', response: ProviderTestShape },
    run: (ctx, { idpId }, input) => testIdentityProvider(ctx, idpId, input),
  }),
  ...defineMutation({
    name: 'rotateSignalsSecret',
    summary:
      'Replaces the secret with which an identity provider sends shared signals, which is shown only once. Signals without it are rejected from then on.',
    scope: 'idps:write',
    isCreation: true,
    targets: ['idpId'],
    input: SignalsSecretRotation,
    isInputOptional: true,
    errors: [NotFound, Conflict],
    output: { identityProvider: IDP, secret: SIGNALS_SECRET },
    rest: {
      method: 'POST',
      path: '/idps/:idpId/signals-secret',
      response: NewSignalsSecretShape,
      toBody: (_ctx, { secret }) => ({ secret }),
    },
    run: (ctx, { idpId }, input) => rotateSignalsSecret(ctx, idpId, input),
  }),
  ...defineMutation({
    name: 'deleteIdentityProvider',
    summary: 'Deletes an identity provider and all links to it permanently.',
    scope: 'idps:write',
    targets: ['idpId'],
    errors: [NotFound],
    output: {
      deletedIdentityProviderId: idShape.meta({ description: 'Id of the deleted identity provider.' }),
    },
    rest: { method: 'DELETE', path: '/idps/:idpId', message: 'The identity provider was deleted.' },
    run: (ctx, { idpId }) => deleteIdentityProvider(ctx, idpId),
  }),
]
