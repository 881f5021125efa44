import { Conflict, InvalidInput, NotFound } from '../core/errors.ts'
import { builder, type InputFields } from '../graphql/builder.ts'
import { connectionField, defineConnectionType, PAGE_ARGS } from '../graphql/connection.ts'
import { withPublicAccess, withScope } from '../graphql/field-access.ts'
import { markCreation } from '../graphql/idempotency.ts'
import { ID_DESCRIPTION, Node, nullIfNotFound, registerNode } from '../graphql/node.graphql.ts'
import { toResultOptions } from '../graphql/result-options.ts'
import { EXPECTED_UPDATED_AT_DESCRIPTION } from '../schema/expected-updated-at.ts'
import { isIdpId } from '../schema/idp-id.ts'
import { findDescription } from '../schema/schema-descriptions.ts'
import type { CopyTime, IdpEntry } from './entry-policy.fields.ts'
import { buildPolicyInputFields, CopyTimeEnum, IdentityProviderEntry } from './idp-policy.graphql.ts'
import {
  BACKCHANNEL_LOGOUT_URL_DESCRIPTION,
  CALLBACK_URL_DESCRIPTION,
  CLIENT_SECRET_DESCRIPTION,
  LOGOUT_CALLBACK_URL_DESCRIPTION,
  MISSING_DESCRIPTION,
} from './idps.fields.ts'
import {
  createIdentityProvider,
  deleteIdentityProvider,
  findIdentityProviders,
  getIdentityProvider,
  type Idp,
  listIdentityProviders,
  updateIdentityProvider,
} from './idps.ts'
import { IDP_TYPES, type IdpType } from './provider-types.ts'

const TYPE_DESCRIPTIONS: Record<IdpType, string> = {
  oauth2: 'OAuth 2.0 with a userinfo endpoint.',
  oidc: 'OpenID Connect. Endpoints are discovered from the issuer.',
  apple: 'Sign in with Apple.',
  facebook: 'Facebook Login.',
  google: 'Google.',
  microsoft: 'Microsoft. Any organization, unless issuer names one.',
  twitter: 'X, formerly Twitter.',
}
const IdentityProviderType = builder.enumType('IdentityProviderType', {
  description: 'The type of provider; never changes. The endpoints of named providers are built in.',
  values: Object.fromEntries(
    IDP_TYPES.map((type) => [type.toUpperCase(), { value: type, description: TYPE_DESCRIPTIONS[type] }]),
  ) as Record<Uppercase<IdpType>, { value: IdpType; description: string }>,
})

const TEXT_FIELDS = [
  'clientId',
  'scopes',
  'issuer',
  'authorizationEndpoint',
  'tokenEndpoint',
  'userInfoEndpoint',
  'jwksUri',
  'idTokenSigningAlg',
  'platformTeamId',
  'platformKid',
] as const
const describeField = (field: string) => findDescription('IdentityProvider', field)

export const IdentityProviderRef = builder.objectRef<Idp>('IdentityProvider').implement({
  ...withScope('idps:read', 'An upstream provider that authenticates users.'),
  interfaces: [Node],
  fields: (t) => ({
    id: t.exposeID('id', { description: `${ID_DESCRIPTION} Chosen by the caller who made it.` }),
    type: t.field({
      type: IdentityProviderType,
      description: 'The type of provider; never changes.',
      resolve: ({ type }) => type as IdpType,
    }),
    name: t.exposeString('name', { description: 'Name shown to people.' }),
    ...Object.fromEntries(
      TEXT_FIELDS.map((name) => [
        name,
        t.exposeString(name, { nullable: true, description: describeField(name) }),
      ]),
    ),
    entry: t.field({
      type: IdentityProviderEntry,
      description: describeField('entry'),
      resolve: ({ entry }) => entry as IdpEntry,
    }),
    domains: t.exposeStringList('domains', { description: describeField('domains') }),
    trustEmail: t.exposeBoolean('trustEmail', { description: describeField('trustEmail') }),
    claims: t.field({
      type: 'JSONObject',
      nullable: true,
      description: describeField('claims'),
      resolve: ({ claims }) => claims as Record<string, string> | null,
    }),
    copyClaims: t.field({
      type: CopyTimeEnum,
      description: describeField('copyClaims'),
      resolve: ({ copyClaims }) => copyClaims as CopyTime,
    }),
    trustAcr: t.field({
      type: 'JSONObject',
      nullable: true,
      description: describeField('trustAcr'),
      resolve: ({ trustAcr }) => trustAcr as Record<string, string> | null,
    }),
    trustAmr: t.exposeStringList('trustAmr', { description: describeField('trustAmr') }),
    upstreamLogout: t.exposeBoolean('upstreamLogout', { description: describeField('upstreamLogout') }),
    usePkce: t.exposeBoolean('usePkce', { description: describeField('usePkce') }),
    expectNonce: t.exposeBoolean('expectNonce', { description: describeField('expectNonce') }),
    keepTokens: t.exposeBoolean('keepTokens', { description: describeField('keepTokens') }),
    callbackUrl: t.exposeString('callbackUrl', { description: CALLBACK_URL_DESCRIPTION }),
    logoutCallbackUrl: t.exposeString('logoutCallbackUrl', { description: LOGOUT_CALLBACK_URL_DESCRIPTION }),
    backchannelLogoutUrl: t.exposeString('backchannelLogoutUrl', {
      description: BACKCHANNEL_LOGOUT_URL_DESCRIPTION,
    }),
    missing: t.exposeStringList('missing', { description: MISSING_DESCRIPTION }),
    hasClientSecret: t.exposeBoolean('hasClientSecret', {
      description: 'Whether it has a client secret. The secret is never returned.',
    }),
    hasIdTokenSigningKey: t.exposeBoolean('hasIdTokenSigningKey', {
      description: 'Whether a key for its ID tokens is pinned. The key is never returned.',
    }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last changed.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
  }),
})

/** Returns `id` if it can be the id of an identity provider; throws InvalidInput about `field` otherwise. */
export function requireIdpId(id: string, field = 'id'): string {
  if (!isIdpId(id)) throw new InvalidInput([{ field, description: 'is not the id of an identity provider' }])
  return id
}

registerNode('idp', {
  ref: IdentityProviderRef,
  scope: 'idps:read',
  load: (id, { loaders }) => loaders.over(findIdentityProviders).load(id),
})

const IdentityProviderConnection = defineConnectionType('IdentityProvider', IdentityProviderRef)

builder.queryField('identityProviders', (t) =>
  t.field({
    ...withScope('idps:read', 'The identity providers of the tenant, by id.'),
    ...connectionField(IdentityProviderConnection),
    args: PAGE_ARGS,
    resolve: (_root, args, { ctx }) => listIdentityProviders(ctx, args),
  }),
)

builder.queryField('identityProvider', (t) =>
  t.field({
    ...withScope('idps:read', 'One identity provider; null when there is none with this id.'),
    type: IdentityProviderRef,
    nullable: true,
    args: { id: t.arg.id({ required: true, description: 'Id of the identity provider.' }) },
    resolve: (_root, { id }, { ctx }) => nullIfNotFound(getIdentityProvider(ctx, requireIdpId(id))),
  }),
)

/** Fields that creation and update share. */
const buildIdpInputFields = (t: InputFields) => ({
  ...(Object.fromEntries(
    TEXT_FIELDS.map((name) => [name, t.string({ description: describeField(name) })]),
  ) as Record<(typeof TEXT_FIELDS)[number], ReturnType<typeof t.string>>),
  ...buildPolicyInputFields(t),
  clientSecret: t.string({ description: CLIENT_SECRET_DESCRIPTION }),
  idTokenSigningKey: t.string({
    description:
      'The key of its ID tokens: an X.509 certificate or public key in PEM. Takes precedence over jwksUri. Never returned.',
  }),
})

/** Callers with the write scope alone must still learn that the write succeeded. */
const IdentityProviderPayload = builder
  .objectRef<{ identityProvider: Idp }>('IdentityProviderPayload')
  .implement({
    ...withPublicAccess('The changed identity provider.'),
    fields: (t) => ({
      identityProvider: t.field({
        type: IdentityProviderRef,
        nullable: true,
        description: 'The provider after the change; null, with an error, for callers without idps:read.',
        resolve: ({ identityProvider }) => identityProvider,
      }),
    }),
  })

const CreateIdentityProviderInput = builder.inputType('CreateIdentityProviderInput', {
  description: 'A new identity provider.',
  fields: (t) => ({
    id: t.string({
      required: true,
      description: 'Letters, digits and . _ - between them, up to 64; never changes.',
    }),
    type: t.field({
      type: IdentityProviderType,
      required: true,
      description: 'The type of provider; never changes.',
    }),
    name: t.string({ required: true, description: 'Name shown to people.' }),
    ...buildIdpInputFields(t),
  }),
})

builder.mutationField('createIdentityProvider', (t) =>
  t.field({
    ...markCreation(withScope('idps:write', 'Creates an identity provider.')),
    ...toResultOptions(InvalidInput, Conflict),
    type: IdentityProviderPayload,
    args: {
      input: t.arg({ type: CreateIdentityProviderInput, required: true, description: 'The new provider.' }),
    },
    resolve: async (_root, { input }, { ctx }) => ({
      identityProvider: await createIdentityProvider(ctx, input),
    }),
  }),
)

const UpdateIdentityProviderInput = builder.inputType('UpdateIdentityProviderInput', {
  description: 'What is changed. Omitted is unchanged; null unsets, and an empty string unsets a text.',
  fields: (t) => ({
    idpId: t.id({ required: true, description: 'Id of the identity provider.' }),
    expectedUpdatedAt: t.field({ type: 'DateTime', description: EXPECTED_UPDATED_AT_DESCRIPTION }),
    name: t.string({ description: 'Name shown to people; cannot be unset.' }),
    ...buildIdpInputFields(t),
  }),
})

builder.mutationField('updateIdentityProvider', (t) =>
  t.field({
    ...withScope(
      'idps:write',
      'Updates an identity provider. Requires every scope that a linked user can get by roles.',
    ),
    ...toResultOptions(InvalidInput, Conflict, NotFound),
    type: IdentityProviderPayload,
    args: {
      input: t.arg({
        type: UpdateIdentityProviderInput,
        required: true,
        description: 'The provider and the change.',
      }),
    },
    resolve: async (_root, { input: { idpId, ...fields } }, { ctx }) => ({
      identityProvider: await updateIdentityProvider(ctx, requireIdpId(idpId, 'idpId'), fields),
    }),
  }),
)

const DeleteIdentityProviderPayload = builder
  .objectRef<{ deletedIdentityProviderId: string }>('DeleteIdentityProviderPayload')
  .implement({
    ...withPublicAccess('The identity provider was deleted.'),
    fields: (t) => ({
      deletedIdentityProviderId: t.exposeID('deletedIdentityProviderId', {
        description: 'Id of the deleted provider.',
      }),
    }),
  })

const DeleteIdentityProviderInput = builder.inputType('DeleteIdentityProviderInput', {
  description: 'Input of deleteIdentityProvider.',
  fields: (t) => ({ idpId: t.id({ required: true, description: 'Id of the identity provider.' }) }),
})

builder.mutationField('deleteIdentityProvider', (t) =>
  t.field({
    ...withScope('idps:write', 'Deletes an identity provider and all links to it permanently.'),
    ...toResultOptions(InvalidInput, NotFound),
    type: DeleteIdentityProviderPayload,
    args: {
      input: t.arg({
        type: DeleteIdentityProviderInput,
        required: true,
        description: 'The provider to delete.',
      }),
    },
    resolve: (_root, { input: { idpId } }, { ctx }) =>
      deleteIdentityProvider(ctx, requireIdpId(idpId, 'idpId')),
  }),
)
