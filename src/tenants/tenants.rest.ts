import { attachHeaders, DoneShape, defineRestRoute, type RestRoute, toDoneBody } from '../rest/route.ts'
import { toPageEnvelope } from '../schema/page.ts'
import { createListShape } from '../schema/response-shapes.ts'
import { toSettings, updateSettings } from './settings.ts'
import { TenantCreate, TenantSettingsPatch, TenantSettingsShape, TenantShape } from './tenants.fields.ts'
import {
  createTenant,
  deleteTenant,
  getTenant,
  getTenantBySlug,
  listTenants,
  type Tenant,
} from './tenants.ts'

const toTenantBody = (tenant: Tenant) => ({
  slug: tenant.tenantId,
  settings: toSettings(tenant),
  updatedAt: tenant.updatedAt,
  createdAt: tenant.createdAt,
})

/** The body of settings has no updatedAt, so it is a header. */
const toSettingsBody = (tenant: Tenant) =>
  attachHeaders(toSettings(tenant), { 'updated-at': tenant.updatedAt.toISOString() })

const UPDATED_AT = { 'Updated-At': 'When the settings were last changed, as expectedUpdatedAt takes it.' }

export const tenantRoutes: readonly RestRoute[] = [
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
  defineRestRoute({
    method: 'PATCH',
    path: '/settings',
    operationId: 'updateTenantSettings',
    summary:
      'Updates the settings of the tenant. Omitted settings are unchanged; null unsets, and an empty string unsets a text.',
    scope: 'tenant:write',
    body: TenantSettingsPatch,
    response: TenantSettingsShape,
    headers: UPDATED_AT,
    errors: [409],
    handle: async (ctx, { body }) => toSettingsBody(await updateSettings(ctx, body)),
  }),
  defineRestRoute({
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
    handle: async (ctx, { body }) => toTenantBody(await createTenant(ctx, body)),
  }),
  defineRestRoute({
    method: 'GET',
    path: '/tenants',
    operationId: 'listTenants',
    summary: 'All tenants of the deployment. Only in tenant system.',
    scope: 'tenants:read',
    paged: true,
    response: createListShape('tenants', TenantShape),
    handle: async (ctx, { paging }) =>
      toPageEnvelope(ctx, await listTenants(ctx, paging), 'tenants', toTenantBody),
  }),
  defineRestRoute({
    method: 'GET',
    path: '/tenants/:slug',
    operationId: 'getTenant',
    summary: 'A tenant of the deployment. Only in tenant system.',
    scope: 'tenants:read',
    response: TenantShape,
    handle: async (ctx, { params }) => toTenantBody(await getTenantBySlug(ctx, params.slug)),
  }),
  defineRestRoute({
    method: 'DELETE',
    path: '/tenants/:slug',
    operationId: 'deleteTenant',
    summary: 'Deletes a tenant and all its data permanently. Only in tenant system.',
    scope: 'tenants:write',
    response: DoneShape,
    handle: async (ctx, { params }) => {
      await deleteTenant(ctx, params.slug)
      return toDoneBody(ctx, 'The tenant was deleted.')
    },
  }),
]
