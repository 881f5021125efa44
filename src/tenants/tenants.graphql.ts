import { builder } from '../graphql/builder.ts'
import { withPublicAccess, withScope } from '../graphql/field-access.ts'
import { ID_DESCRIPTION, Node, nullIfNotFound, registerNode } from '../graphql/node.graphql.ts'
import { buildObjectFields } from '../graphql/shape-fields.ts'
import { toSettings } from './settings.ts'
import { TenantSettingsShape } from './tenants.fields.ts'
import { getTenant, type Tenant } from './tenants.ts'

const TenantSettings = builder.objectRef<ReturnType<typeof toSettings>>('TenantSettings').implement({
  ...withScope('tenant:read', 'The settings of a tenant.'),
  fields: (t) => buildObjectFields(t as never, TenantSettingsShape.shape, 'Tenant'),
})

export const TenantRef = builder.objectRef<Tenant>('Tenant').implement({
  ...withPublicAccess('An isolated set of users, clients and keys. Its id is its slug.'),
  interfaces: [Node],
  fields: (t) => ({
    id: t.exposeID('tenantId', { description: ID_DESCRIPTION }),
    settings: t.field({
      description: 'The settings of the tenant.',
      type: TenantSettings,
      resolve: toSettings,
    }),
    updatedAt: t.expose('updatedAt', {
      type: 'DateTime',
      description: 'When the settings were last changed.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the tenant was created.' }),
  }),
})

registerNode('tenant', {
  ref: TenantRef,
  scope: 'tenant:read',
  // Only the tenant of this endpoint. Operators find the others in `tenants`.
  load: async (id, { ctx }) => (id === ctx.tenant ? nullIfNotFound(getTenant(ctx)) : null),
})

builder.queryField('tenant', (t) =>
  t.field({
    ...withScope('tenant:read', 'The tenant that this endpoint belongs to.'),
    type: TenantRef,
    nullable: true,
    resolve: (_root, _args, { ctx }) => nullIfNotFound(getTenant(ctx)),
  }),
)
