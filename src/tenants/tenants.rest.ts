import { toEnvelope } from '../page.ts'
import { Done, type RestRoute, restRoute, toDone, withHeaders } from '../rest/route.ts'
import { listShape } from '../shapes.ts'
import { toSettings, updateSettings } from './settings.ts'
import { TenantCreate, TenantSettingsPatch, TenantSettingsShape, TenantShape } from './tenants.fields.ts'
import { createTenant, deleteTenant, getAnyTenant, getTenant, listTenants, type Tenant } from './tenants.ts'

const toBody = (tenant: Tenant) => ({
  slug: tenant.tenantId,
  settings: toSettings(tenant),
  updatedAt: tenant.updatedAt,
  createdAt: tenant.createdAt,
})

/** The specification's body of settings has no updatedAt. */
const toSettingsBody = (tenant: Tenant) =>
  withHeaders(toSettings(tenant), { 'updated-at': tenant.updatedAt.toISOString() })

const UPDATED_AT = { 'Updated-At': 'When the settings changed last: what expectedUpdatedAt takes.' }

export const tenantRoutes: readonly RestRoute[] = [
  restRoute({
    method: 'GET',
    path: '/settings',
    operationId: 'getTenantSettings',
    summary: 'The settings of the tenant.',
    scope: 'tenant:read',
    response: TenantSettingsShape,
    headers: UPDATED_AT,
    handle: async (ctx) => toSettingsBody(await getTenant(ctx)),
  }),
  restRoute({
    method: 'PATCH',
    path: '/settings',
    operationId: 'updateTenantSettings',
    summary: 'Changes settings of the tenant; omitted ones stay, empty strings and null unset.',
    scope: 'tenant:write',
    body: TenantSettingsPatch,
    response: TenantSettingsShape,
    headers: UPDATED_AT,
    errors: [409],
    handle: async (ctx, { body }) => toSettingsBody(await updateSettings(ctx, body)),
  }),
  restRoute({
    method: 'POST',
    path: '/tenants',
    operationId: 'createTenant',
    summary: 'Creates a tenant with its signing key. Only in tenant system.',
    scope: 'tenants:write',
    idempotent: true,
    status: 201,
    location: ({ slug }) => `/tenants/${slug}`,
    body: TenantCreate,
    response: TenantShape,
    errors: [409],
    handle: async (ctx, { body }) => toBody(await createTenant(ctx, body)),
  }),
  restRoute({
    method: 'GET',
    path: '/tenants',
    operationId: 'listTenants',
    summary: 'All tenants of the deployment. Only in tenant system.',
    scope: 'tenants:read',
    paged: true,
    response: listShape('tenants', TenantShape),
    handle: async (ctx, { paging }) => toEnvelope(await listTenants(ctx, paging), 'tenants', toBody),
  }),
  restRoute({
    method: 'GET',
    path: '/tenants/:slug',
    operationId: 'getTenant',
    summary: 'One tenant of the deployment. Only in tenant system.',
    scope: 'tenants:read',
    response: TenantShape,
    handle: async (ctx, { params }) => toBody(await getAnyTenant(ctx, params.slug)),
  }),
  restRoute({
    method: 'DELETE',
    path: '/tenants/:slug',
    operationId: 'deleteTenant',
    summary: 'Deletes a tenant with everything in it, for ever. Only in tenant system.',
    scope: 'tenants:write',
    response: Done,
    handle: async (ctx, { params }) => {
      await deleteTenant(ctx, params.slug)
      return toDone(ctx, 'The tenant was deleted.')
    },
  }),
]
