import { platformCtx, SYSTEM_TENANT } from '../ctx.ts'
import { MAX_PAGE_SIZE } from '../page.ts'
import { toSettings } from '../tenants/settings.ts'
import { createTenant, deleteTenant, listTenants, type Tenant } from '../tenants/tenants.ts'
import { commandGroup, confirmDeletion, databaseCommand, toTable } from './command.ts'

const ctx = platformCtx(SYSTEM_TENANT)

const toBody = (tenant: Tenant) => ({
  slug: tenant.tenantId,
  settings: toSettings(tenant),
  createdAt: tenant.createdAt,
})

const create = databaseCommand({
  name: 'create',
  description: 'Create a tenant with its signing key',
  args: {
    slug: {
      type: 'positional',
      required: true,
      description: 'Lower-case letters, digits and single hyphens',
    },
    'friendly-name': { type: 'string', description: 'Name shown to people' },
    'support-url': { type: 'string', description: 'Where people find help' },
  },
  run: async (args) => {
    const settings = { friendlyName: args['friendly-name'], supportUrl: args['support-url'] }
    const tenant = await createTenant(ctx, { slug: args.slug, settings })
    return { text: `Created tenant ${tenant.tenantId}.`, json: toBody(tenant) }
  },
})

async function allTenants(): Promise<Tenant[]> {
  const tenants: Tenant[] = []
  for (let after: string | null = null; ; ) {
    const page = await listTenants(ctx, { first: MAX_PAGE_SIZE, after })
    tenants.push(...page.rows)
    const last = page.rows.at(-1)
    if (!page.hasNextPage || !last) return tenants
    after = page.cursorOf(last)
  }
}

const list = databaseCommand({
  name: 'list',
  description: 'List all tenants',
  args: {},
  run: async () => {
    const tenants = await allTenants()
    const rows = tenants.map(({ tenantId, friendlyName, createdAt }) => [
      tenantId,
      createdAt.toISOString(),
      friendlyName ?? '',
    ])
    return { text: toTable([['SLUG', 'CREATED', 'NAME'], ...rows]), json: tenants.map(toBody) }
  },
})

const remove = databaseCommand({
  name: 'delete',
  description: 'Delete a tenant with everything in it, for ever',
  args: {
    slug: { type: 'positional', required: true, description: 'The tenant' },
    yes: { type: 'boolean', description: 'Do not ask' },
  },
  run: async ({ slug, yes }) => {
    if (!yes) await confirmDeletion(`Everything in tenant ${slug} will be gone for ever. Type its slug`, slug)
    await deleteTenant(ctx, slug)
    return { text: `Deleted tenant ${slug}.`, json: { deletedTenantId: slug } }
  },
})

export const tenantCommand = commandGroup('tenant', 'Tenants of the deployment', {
  create,
  list,
  delete: remove,
})
