import { Conflict, NotFound, RateLimited } from '../core/errors.ts'
import { defineList } from '../operations/list.ts'
import { defineMutation } from '../operations/mutation.ts'
import { defineLookup } from '../operations/query.ts'
import { defineResource } from '../operations/resource.ts'
import { attachHeaders, defineRestRoute, type RestRoute } from '../rest/route.ts'
import { encodeIdCursor } from '../schema/page.ts'
import { createBodyMapper, idShape } from '../schema/response-shapes.ts'
import { DeliveryTest, DeliveryTestShape } from './message-servers.fields.ts'
import { toSettings, updateSettings } from './settings.ts'
import { listTenants, TENANT_LIST } from './tenant-list.ts'
import { TenantSetupShape } from './tenant-setup.fields.ts'
import { getSetup, getSetupBySlug } from './tenant-setup.ts'
import { TENANT_FILTER, TenantSettingsPatch, TenantSettingsShape, TenantShape } from './tenants.fields.ts'
import { TenantRef } from './tenants.graphql.ts'
import { deleteTenant, getTenant, getTenantBySlug, type Tenant } from './tenants.ts'
import { testDelivery } from './test-delivery.ts'

const TENANT = defineResource<Tenant>({
  member: 'tenant',
  ref: TenantRef,
  isPublic: true,
  scope: 'tenant:read',
  shape: TenantShape,
  toBody: (_ctx, tenant) => ({
    slug: tenant.tenantId,
    settings: toSettings(tenant),
    updatedAt: tenant.updatedAt,
    createdAt: tenant.createdAt,
  }),
})
/** A tenant as an operator of tenant `system` reads it. */
export const OPERATED_TENANT: typeof TENANT = {
  ...TENANT,
  scope: 'tenants:read',
  toCursor: (_ctx, { tenantId }) => encodeIdCursor(TENANT_LIST, tenantId),
}

const toSetupBody = createBodyMapper(TenantSetupShape)

/** The body of settings has no updatedAt, so it is a header. */
const toSettingsBody = (tenant: Tenant) =>
  attachHeaders(toSettings(tenant), { 'updated-at': tenant.updatedAt.toISOString() })

const UPDATED_AT = { 'Updated-At': 'When the settings were last changed, as expectedUpdatedAt takes it.' }

export const tenantOperations: readonly RestRoute[] = [
  // GraphQL has the field Tenant.settings.
  defineRestRoute({
    method: 'GET',
    path: '/settings',
    operationId: 'getTenantSettings',
    summary: 'The settings of the tenant.',
    scope: 'tenant:read',
    response: TenantSettingsShape,
    headers: UPDATED_AT,
    handle: async (ctx) => toSettingsBody(await getTenant(ctx)),
  }),
  ...defineMutation({
    name: 'updateTenantSettings',
    summary:
      'Updates the settings of the tenant. Omitted settings are unchanged; null unsets, and an empty string unsets a text. The servers for messages require all scopes of the tenant.',
    scope: 'tenant:write',
    input: TenantSettingsPatch,
    errors: [Conflict, NotFound],
    output: { tenant: TENANT },
    rest: {
      method: 'PATCH',
      path: '/settings',
      response: TenantSettingsShape,
      headers: UPDATED_AT,
      toBody: (_ctx, { tenant }) => toSettingsBody(tenant),
    },
    run: async (ctx, _ids, input) => ({ tenant: await updateSettings(ctx, input) }),
  }),
  ...defineMutation({
    name: 'testDelivery',
    summary:
      'Sends a message to the verified address of the caller, by the server of the tenant or of the deployment, and returns what the server answered.',
    scope: 'tenant:write',
    input: DeliveryTest,
    errors: [Conflict, RateLimited],
    output: DeliveryTestShape.shape,
    rest: {
      method: 'POST',
      path: '/settings/test-delivery',
      response: DeliveryTestShape,
      toBody: (_ctx, result) => result,
    },
    run: (ctx, _ids, input) => testDelivery(ctx, input),
  }),
  ...defineList({
    name: 'listTenants',
    summary: 'All tenants of the deployment, by slug. Only in tenant system.',
    resource: OPERATED_TENANT,
    filter: TENANT_FILTER,
    path: '/tenants',
    run: listTenants,
  }),
  ...defineLookup({
    name: 'getTenant',
    summary: 'A tenant of the deployment. Only in tenant system.',
    resource: OPERATED_TENANT,
    target: 'slug',
    path: '/tenants/:slug',
    run: getTenantBySlug,
  }),
  // GraphQL has the field Tenant.setup.
  defineRestRoute({
    method: 'GET',
    path: '/setup',
    operationId: 'getTenantSetup',
    summary: 'What the tenant needs before people use it, and whether it has it.',
    scope: 'tenant:read',
    response: TenantSetupShape,
    handle: async (ctx) => toSetupBody(await getSetup(ctx)),
  }),
  defineRestRoute({
    method: 'GET',
    path: '/tenants/:slug/setup',
    operationId: 'getTenantSetupBySlug',
    summary: 'What a tenant of the deployment needs before people use it. Only in tenant system.',
    scope: 'tenants:read',
    response: TenantSetupShape,
    handle: async (ctx, { params }) => toSetupBody(await getSetupBySlug(ctx, params.slug)),
  }),
  ...defineMutation({
    name: 'deleteTenant',
    summary: 'Deletes a tenant and all its data permanently. Only in tenant system.',
    scope: 'tenants:write',
    targets: ['slug'],
    errors: [NotFound],
    output: { deletedTenantId: idShape.meta({ description: 'Slug of the deleted tenant.' }) },
    rest: { method: 'DELETE', path: '/tenants/:slug', message: 'The tenant was deleted.' },
    run: async (ctx, { slug }) => {
      await deleteTenant(ctx, slug)
      return { deletedTenantId: slug }
    },
  }),
]
