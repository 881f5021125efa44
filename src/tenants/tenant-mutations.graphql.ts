import { Conflict, InvalidInput, NotFound } from '../core/errors.ts'
import { builder } from '../graphql/builder.ts'
import { withPublicAccess, withScope } from '../graphql/field-access.ts'
import { markCreation } from '../graphql/idempotency.ts'
import { toResultOptions } from '../graphql/result-options.ts'
import { EXPECTED_UPDATED_AT_DESCRIPTION } from '../schema/expected-updated-at.ts'
import { updateSettings } from './settings.ts'
import { buildSettingsInputFields } from './tenant-settings.graphql.ts'
import { TenantRef } from './tenants.graphql.ts'
import { createTenant, deleteTenant, type Tenant } from './tenants.ts'

const UpdateTenantSettingsInput = builder.inputType('UpdateTenantSettingsInput', {
  description: 'Omitted is unchanged; null unsets, and an empty string unsets a text.',
  fields: (t) => ({
    expectedUpdatedAt: t.field({ type: 'DateTime', description: EXPECTED_UPDATED_AT_DESCRIPTION }),
    ...buildSettingsInputFields(t),
  }),
})

const TenantSettingsInput = builder.inputType('TenantSettingsInput', {
  description: 'The settings of a new tenant.',
  fields: buildSettingsInputFields,
})

const TenantSettingsPayload = builder.objectRef<{ tenant: Tenant }>('TenantSettingsPayload').implement({
  ...withPublicAccess('The tenant after the change.'),
  fields: (t) => ({ tenant: t.expose('tenant', { type: TenantRef, description: 'The changed tenant.' }) }),
})

builder.mutationField('updateTenantSettings', (t) =>
  t.field({
    ...withScope('tenant:write', 'Changes the settings of this tenant.'),
    ...toResultOptions(InvalidInput, Conflict),
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
      description:
        'Lower-case letters, digits and single hyphens, up to 63. It is part of the URLs of the tenant and never changes.',
    }),
    settings: t.field({ type: TenantSettingsInput, description: 'The initial settings.' }),
  }),
})

const CreateTenantPayload = builder.objectRef<{ tenant: Tenant }>('CreateTenantPayload').implement({
  ...withPublicAccess('The new tenant.'),
  fields: (t) => ({ tenant: t.expose('tenant', { type: TenantRef, description: 'The new tenant.' }) }),
})

builder.mutationField('createTenant', (t) =>
  t.field({
    ...markCreation(
      withScope('tenants:write', 'Creates a tenant with its signing key. Only in tenant system.'),
    ),
    ...toResultOptions(InvalidInput, Conflict),
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
  ...withPublicAccess('The deleted tenant.'),
  fields: (t) => ({
    deletedTenantId: t.exposeID('deletedTenantId', { description: 'Slug of the deleted tenant.' }),
  }),
})

builder.mutationField('deleteTenant', (t) =>
  t.field({
    ...withScope('tenants:write', 'Deletes a tenant and all its data permanently. Only in tenant system.'),
    ...toResultOptions(NotFound),
    type: DeleteTenantPayload,
    args: { input: t.arg({ type: DeleteTenantInput, required: true, description: 'The tenant to delete.' }) },
    resolve: async (_root, { input: { slug } }, { ctx }) => {
      await deleteTenant(ctx, slug)
      return { deletedTenantId: slug }
    },
  }),
)
