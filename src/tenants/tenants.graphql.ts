import type { Scope } from '../core/scopes.ts'
import { builder } from '../graphql/builder.ts'
import { withAnyScope, withPublicAccess } from '../graphql/field-access.ts'
import { ID_DESCRIPTION, Node, nullIfNotFound, registerNode } from '../graphql/node.graphql.ts'
import { buildObjectFields, toObjectType } from '../graphql/shape-fields.ts'
import { toSettings } from './settings.ts'
import { type SetupStep, TenantSetupShape } from './tenant-setup.fields.ts'
import { findSetups } from './tenant-setup.ts'
import { TenantSettingsShape } from './tenants.fields.ts'
import { getTenant, getTenantBySlug, type Tenant } from './tenants.ts'

/** Those who read a tenant: its own callers, and operators. */
const READ_SCOPES: readonly Scope[] = ['tenant:read', 'tenants:read']

const TenantSettings = builder.objectRef<ReturnType<typeof toSettings>>('TenantSettings').implement({
  ...withAnyScope(READ_SCOPES, 'The settings of a tenant.'),
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
    setup: t.field({
      ...withAnyScope(READ_SCOPES, TenantSetupShape.shape.setup.meta()?.description ?? ''),
      type: [toObjectType<SetupStep>(TenantSetupShape.shape.setup.element)],
      resolve: async ({ tenantId }, _args, { loaders }) =>
        (await loaders.over(findSetups).load(tenantId))?.setup ?? [],
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
    ...withAnyScope(
      READ_SCOPES,
      'The tenant that this endpoint belongs to; in tenant system, with `tenants:read`, that of the slug. Null when there is none.',
    ),
    type: TenantRef,
    nullable: true,
    args: { slug: t.arg.id({ description: 'The slug; by default that of the tenant of the endpoint.' }) },
    resolve: (_root, { slug }, { ctx }) =>
      nullIfNotFound(
        slug == null || (slug === ctx.tenant && ctx.scopes.has('tenant:read'))
          ? getTenant(ctx)
          : getTenantBySlug(ctx, slug),
      ),
  }),
)
