import { descriptionOf } from '../descriptions.ts'
import { Conflict, InvalidInput, NotFound } from '../errors.ts'
import { EXPECTED_UPDATED_AT } from '../expected-updated-at.ts'
import { builder, type GraphQLTypes } from '../graphql/builder.ts'
import { connectionType, listOf, PAGE_ARGS } from '../graphql/connection.ts'
import { creation } from '../graphql/idempotency.ts'
import { ID_DESCRIPTION, Node, orNull, registerNode } from '../graphql/node.graphql.ts'
import { resultOf } from '../graphql/result.ts'
import { open, scoped } from '../graphql/scoped.ts'
import { toSettings, updateSettings } from './settings.ts'
import { createTenant, deleteTenant, getTenant, listTenants, type Tenant } from './tenants.ts'

type InputFields = PothosSchemaTypes.InputFieldBuilder<GraphQLTypes, 'InputObject'>

const SETTINGS = {
  friendlyName: descriptionOf('Tenant', 'friendlyName'),
  logoUrl: descriptionOf('Tenant', 'logoUrl'),
  defaultAudience: descriptionOf('Tenant', 'defaultAudience'),
  loginUrl: descriptionOf('Tenant', 'loginUrl'),
  supportUrl: descriptionOf('Tenant', 'supportUrl'),
  dynamicRegistration: descriptionOf('Tenant', 'dynamicRegistration'),
  clientIdMetadataDocuments: descriptionOf('Tenant', 'clientIdMetadataDocuments'),
}

const TenantSettings = builder.objectRef<ReturnType<typeof toSettings>>('TenantSettings').implement({
  ...scoped('tenant:read', 'What a tenant chose for itself.'),
  fields: (t) => ({
    friendlyName: t.exposeString('friendlyName', { nullable: true, description: SETTINGS.friendlyName }),
    logoUrl: t.exposeString('logoUrl', { nullable: true, description: SETTINGS.logoUrl }),
    defaultAudience: t.exposeString('defaultAudience', {
      nullable: true,
      description: SETTINGS.defaultAudience,
    }),
    loginUrl: t.exposeString('loginUrl', { nullable: true, description: SETTINGS.loginUrl }),
    supportUrl: t.exposeString('supportUrl', { nullable: true, description: SETTINGS.supportUrl }),
    dynamicRegistration: t.exposeBoolean('dynamicRegistration', {
      description: SETTINGS.dynamicRegistration,
    }),
    clientIdMetadataDocuments: t.exposeBoolean('clientIdMetadataDocuments', {
      description: SETTINGS.clientIdMetadataDocuments,
    }),
  }),
})

export const TenantRef = builder.objectRef<Tenant>('Tenant').implement({
  ...open('A closed world of users, clients and keys. Its id is its slug.'),
  interfaces: [Node],
  fields: (t) => ({
    id: t.exposeID('tenantId', { description: ID_DESCRIPTION }),
    settings: t.field({
      description: 'What the tenant chose for itself.',
      type: TenantSettings,
      resolve: toSettings,
    }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When its settings changed last.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the tenant was created.' }),
  }),
})

registerNode('tenant', {
  ref: TenantRef,
  scope: 'tenant:read',
  // Only the tenant that the call is about; operators find the others in `tenants`.
  load: async (id, { ctx }) => (id === ctx.tenant ? orNull(getTenant(ctx)) : null),
})

builder.queryField('tenant', (t) =>
  t.field({
    ...scoped('tenant:read', 'The tenant that this endpoint belongs to.'),
    type: TenantRef,
    nullable: true,
    resolve: (_root, _args, { ctx }) => orNull(getTenant(ctx)),
  }),
)

const TenantConnection = connectionType('Tenant', TenantRef)

builder.queryField('tenants', (t) =>
  t.field({
    ...scoped('tenants:read', 'All tenants of the deployment, by slug. Only in tenant system.'),
    ...listOf(TenantConnection),
    args: PAGE_ARGS,
    resolve: (_root, args, { ctx }) => listTenants(ctx, args),
  }),
)

const settingsInputFields = (t: InputFields) => ({
  friendlyName: t.string({ description: SETTINGS.friendlyName }),
  logoUrl: t.string({ description: SETTINGS.logoUrl }),
  defaultAudience: t.string({ description: SETTINGS.defaultAudience }),
  loginUrl: t.string({ description: SETTINGS.loginUrl }),
  supportUrl: t.string({ description: SETTINGS.supportUrl }),
  dynamicRegistration: t.boolean({ description: SETTINGS.dynamicRegistration }),
  clientIdMetadataDocuments: t.boolean({ description: SETTINGS.clientIdMetadataDocuments }),
})

const UpdateTenantSettingsInput = builder.inputType('UpdateTenantSettingsInput', {
  description: 'Omitted is unchanged; an empty string or null unsets.',
  fields: (t) => ({
    expectedUpdatedAt: t.field({ type: 'DateTime', description: EXPECTED_UPDATED_AT }),
    ...settingsInputFields(t),
  }),
})

const TenantSettingsInput = builder.inputType('TenantSettingsInput', {
  description: 'The settings of a new tenant.',
  fields: settingsInputFields,
})

const TenantSettingsPayload = builder.objectRef<{ tenant: Tenant }>('TenantSettingsPayload').implement({
  ...open('The tenant as it is now.'),
  fields: (t) => ({ tenant: t.expose('tenant', { type: TenantRef, description: 'The changed tenant.' }) }),
})

builder.mutationField('updateTenantSettings', (t) =>
  t.field({
    ...scoped('tenant:write', 'Changes the settings of this tenant.'),
    ...resultOf(InvalidInput, Conflict),
    type: TenantSettingsPayload,
    args: {
      input: t.arg({
        type: UpdateTenantSettingsInput,
        required: true,
        description: 'The settings to change.',
      }),
    },
    resolve: async (_root, { input }, { ctx }) => ({ tenant: await updateSettings(ctx, input) }),
  }),
)

const CreateTenantInput = builder.inputType('CreateTenantInput', {
  description: 'A new tenant.',
  fields: (t) => ({
    slug: t.string({
      required: true,
      description: 'Lower-case letters, digits and single hyphens, up to 63; for ever part of its addresses.',
    }),
    settings: t.field({ type: TenantSettingsInput, description: 'Its first settings.' }),
  }),
})

const CreateTenantPayload = builder.objectRef<{ tenant: Tenant }>('CreateTenantPayload').implement({
  ...open('The new tenant.'),
  fields: (t) => ({ tenant: t.expose('tenant', { type: TenantRef, description: 'The new tenant.' }) }),
})

builder.mutationField('createTenant', (t) =>
  t.field({
    ...creation(scoped('tenants:write', 'Creates a tenant with its signing key. Only in tenant system.')),
    ...resultOf(InvalidInput, Conflict),
    type: CreateTenantPayload,
    args: { input: t.arg({ type: CreateTenantInput, required: true, description: 'The new tenant.' }) },
    resolve: async (_root, { input }, { ctx }) => ({ tenant: await createTenant(ctx, input) }),
  }),
)

const DeleteTenantInput = builder.inputType('DeleteTenantInput', {
  description: 'The tenant to delete.',
  fields: (t) => ({ slug: t.id({ required: true, description: 'Its slug.' }) }),
})

const DeleteTenantPayload = builder.objectRef<{ deletedTenantId: string }>('DeleteTenantPayload').implement({
  ...open('What is gone.'),
  fields: (t) => ({
    deletedTenantId: t.exposeID('deletedTenantId', { description: 'Slug of the deleted tenant.' }),
  }),
})

builder.mutationField('deleteTenant', (t) =>
  t.field({
    ...scoped('tenants:write', 'Deletes a tenant with everything in it, for ever. Only in tenant system.'),
    ...resultOf(NotFound),
    type: DeleteTenantPayload,
    args: { input: t.arg({ type: DeleteTenantInput, required: true, description: 'Which tenant.' }) },
    resolve: async (_root, { input: { slug } }, { ctx }) => {
      await deleteTenant(ctx, slug)
      return { deletedTenantId: slug }
    },
  }),
)
