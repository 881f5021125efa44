import { builder, type InputFields } from '../graphql/builder.ts'
import { withScope } from '../graphql/field-access.ts'
import { buildInputFields, buildObjectFields } from '../graphql/shape-fields.ts'
import { mapShapes } from '../schema/fields.ts'
import type { toSettings } from './settings.ts'
import { TENANT_SETTINGS, TenantSettingsShape } from './tenants.fields.ts'

export const TenantSettings = builder.objectRef<ReturnType<typeof toSettings>>('TenantSettings').implement({
  ...withScope('tenant:read', 'The settings of a tenant.'),
  fields: (t) => buildObjectFields(t as never, TenantSettingsShape.shape, 'Tenant'),
})

export const buildSettingsInputFields = (t: InputFields) =>
  buildInputFields(t, mapShapes(TENANT_SETTINGS, 'change'), 'Tenant')
