import { descriptionOf } from '../descriptions.ts'
import { Conflict, InvalidInput, NotFound } from '../errors.ts'
import { EXPECTED_UPDATED_AT } from '../expected-updated-at.ts'
import { builder, type InputFields } from '../graphql/builder.ts'
import { connectionType, listOf, PAGE_ARGS } from '../graphql/connection.ts'
import { creation } from '../graphql/idempotency.ts'
import { ID_DESCRIPTION, Node, orNull, registerNode } from '../graphql/node.graphql.ts'
import { resultOf } from '../graphql/result.ts'
import { open, scoped } from '../graphql/scoped.ts'
import { isIdpId } from './idps.fields.ts'
import {
  createIdentityProvider,
  deleteIdentityProvider,
  getIdentityProvider,
  type Idp,
  listIdentityProviders,
  updateIdentityProvider,
} from './idps.ts'
import { IDP_TYPES, type IdpType } from './provider-types.ts'

const TYPES: Record<IdpType, string> = {
  oauth2: 'OAuth 2.0 with a userinfo endpoint.',
  oidc: 'OpenID Connect; the rest is found through its issuer.',
  apple: 'Sign in with Apple.',
  facebook: 'Facebook Login.',
  google: 'Google.',
  microsoft: 'Microsoft; of every organisation, unless issuer names one.',
  twitter: 'X, once Twitter.',
}
const IdentityProviderType = builder.enumType('IdentityProviderType', {
  description: 'What kind of provider it is; never changes. Those with a name know their endpoints.',
  values: Object.fromEntries(
    IDP_TYPES.map((type) => [type.toUpperCase(), { value: type, description: TYPES[type] }]),
  ) as Record<Uppercase<IdpType>, { value: IdpType; description: string }>,
})

const TEXTS = [
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
const words = (field: string) => descriptionOf('IdentityProvider', field)

export const IdentityProviderRef = builder.objectRef<Idp>('IdentityProvider').implement({
  ...scoped('idps:read', 'A provider at which people prove who they are.'),
  interfaces: [Node],
  fields: (t) => ({
    id: t.exposeID('id', { description: `${ID_DESCRIPTION} Chosen by the caller who made it.` }),
    type: t.field({
      type: IdentityProviderType,
      description: 'What kind of provider it is; never changes.',
      resolve: ({ type }) => type as IdpType,
    }),
    name: t.exposeString('name', { description: 'Name shown to people.' }),
    ...Object.fromEntries(
      TEXTS.map((name) => [name, t.exposeString(name, { nullable: true, description: words(name) })]),
    ),
    hasClientSecret: t.exposeBoolean('hasClientSecret', {
      description: 'Whether it has a client secret, which is never answered.',
    }),
    hasIdTokenSigningKey: t.exposeBoolean('hasIdTokenSigningKey', {
      description: 'Whether a key of its ID tokens is pinned, which is never answered.',
    }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When somebody last changed it.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
  }),
})

/** Checks that an argument can be the id of an identity provider; throws InvalidInput about `field` otherwise. Returns it. */
export function requireIdpId(id: string, field = 'id'): string {
  if (!isIdpId(id)) throw new InvalidInput([{ field, description: 'is not the id of an identity provider' }])
  return id
}

registerNode('idp', {
  ref: IdentityProviderRef,
  scope: 'idps:read',
  load: (id, { loaders }) => loaders.idp.load(id),
})

const IdentityProviderConnection = connectionType('IdentityProvider', IdentityProviderRef)

builder.queryField('identityProviders', (t) =>
  t.field({
    ...scoped('idps:read', 'The identity providers of the tenant, by id.'),
    ...listOf(IdentityProviderConnection),
    args: PAGE_ARGS,
    resolve: (_root, args, { ctx }) => listIdentityProviders(ctx, args),
  }),
)

builder.queryField('identityProvider', (t) =>
  t.field({
    ...scoped('idps:read', 'One identity provider; null when there is none with this id.'),
    type: IdentityProviderRef,
    nullable: true,
    args: { id: t.arg.id({ required: true, description: 'Id of the identity provider.' }) },
    resolve: (_root, { id }, { ctx }) => orNull(getIdentityProvider(ctx, requireIdpId(id))),
  }),
)

/** What creations and changes have in common. */
const inputFields = (t: InputFields) => ({
  ...(Object.fromEntries(TEXTS.map((name) => [name, t.string({ description: words(name) })])) as Record<
    (typeof TEXTS)[number],
    ReturnType<typeof t.string>
  >),
  clientSecret: t.string({
    description: 'OAuth 2.0 client secret; for Apple its private key (PKCS #8). Never answered.',
  }),
  idTokenSigningKey: t.string({
    description:
      'The key of its ID tokens: an X.509 certificate or public key in PEM. Goes before jwksUri. Never answered.',
  }),
})

/** Who may only write must still learn that the write was done. */
const IdentityProviderPayload = builder
  .objectRef<{ identityProvider: Idp }>('IdentityProviderPayload')
  .implement({
    ...open('The identity provider that was written.'),
    fields: (t) => ({
      identityProvider: t.field({
        type: IdentityProviderRef,
        nullable: true,
        description: 'The provider as it is now; null, with an error, for callers without idps:read.',
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
      description: 'What kind of provider it is; never changes.',
    }),
    name: t.string({ required: true, description: 'Name shown to people.' }),
    ...inputFields(t),
  }),
})

builder.mutationField('createIdentityProvider', (t) =>
  t.field({
    ...creation(scoped('idps:write', 'Creates an identity provider.')),
    ...resultOf(InvalidInput, Conflict),
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
  description: 'What is changed. Omitted is unchanged; an empty string or null unsets.',
  fields: (t) => ({
    idpId: t.id({ required: true, description: 'Id of the identity provider.' }),
    expectedUpdatedAt: t.field({ type: 'DateTime', description: EXPECTED_UPDATED_AT }),
    name: t.string({ description: 'Name shown to people; cannot be unset.' }),
    ...inputFields(t),
  }),
})

builder.mutationField('updateIdentityProvider', (t) =>
  t.field({
    ...scoped(
      'idps:write',
      'Changes an identity provider. Not by callers who may less than somebody who is linked to it.',
    ),
    ...resultOf(InvalidInput, Conflict, NotFound),
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
    ...open('The identity provider is gone.'),
    fields: (t) => ({
      deletedIdentityProviderId: t.exposeID('deletedIdentityProviderId', {
        description: 'Id that the provider had.',
      }),
    }),
  })

const DeleteIdentityProviderInput = builder.inputType('DeleteIdentityProviderInput', {
  description: 'Input of deleteIdentityProvider.',
  fields: (t) => ({ idpId: t.id({ required: true, description: 'Id of the identity provider.' }) }),
})

builder.mutationField('deleteIdentityProvider', (t) =>
  t.field({
    ...scoped('idps:write', 'Deletes an identity provider for ever, with all links to it.'),
    ...resultOf(InvalidInput, NotFound),
    type: DeleteIdentityProviderPayload,
    args: { input: t.arg({ type: DeleteIdentityProviderInput, required: true, description: 'Which one.' }) },
    resolve: (_root, { input: { idpId } }, { ctx }) =>
      deleteIdentityProvider(ctx, requireIdpId(idpId, 'idpId')),
  }),
)
