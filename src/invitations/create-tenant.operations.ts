import { Conflict, RateLimited } from '../core/errors.ts'
import { defineMutation } from '../operations/mutation.ts'
import type { RestRoute } from '../rest/route.ts'
import { TenantCreate } from '../tenants/tenants.fields.ts'
import { OPERATED_TENANT } from '../tenants/tenants.operations.ts'
import { createTenant } from './create-tenant.ts'

export const tenantCreationOperations: readonly RestRoute[] = defineMutation({
  name: 'createTenant',
  summary: 'Creates a tenant with its signing key, and invites its administrator. Only in tenant system.',
  scope: 'tenants:write',
  isCreation: true,
  input: TenantCreate,
  errors: [Conflict, RateLimited],
  output: { tenant: OPERATED_TENANT },
  rest: {
    method: 'POST',
    path: '/tenants',
    status: 201,
    location: ({ slug }) => `/tenants/${slug}`,
  },
  run: async (ctx, _ids, input) => ({ tenant: await createTenant(ctx, input) }),
})
