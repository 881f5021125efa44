import { builder } from '../graphql/builder.ts'
import { connectionField, defineConnectionType, PAGE_ARGS } from '../graphql/connection.ts'
import { withPublicAccess, withScope } from '../graphql/field-access.ts'
import { ID_DESCRIPTION, Node, nullIfNotFound, registerNode } from '../graphql/node.graphql.ts'
import { toSettings } from './settings.ts'
import { TenantSettings } from './tenant-settings.graphql.ts'
import { getTenant, listTenants, type Tenant } from './tenants.ts'

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

const TenantConnection = defineConnectionType('Tenant', TenantRef)

builder.queryField('tenants', (t) =>
  t.field({
    ...withScope('tenants:read', 'All tenants of the deployment, by slug. Only in tenant system.'),
    ...connectionField(TenantConnection),
    args: PAGE_ARGS,
    resolve: (_root, args, { ctx }) => listTenants(ctx, args),
  }),
)
