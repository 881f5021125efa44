import { createPlatformCtx } from '../context/context.ts'
import { issuerOf } from '../core/issuer.ts'
import { SYSTEM_TENANT } from '../core/scopes.ts'
import { createTenant } from '../invitations/create-tenant.ts'
import { MAX_PAGE_SIZE } from '../schema/page.ts'
import { toSettings, updateSettings } from '../tenants/settings.ts'
import { listTenants } from '../tenants/tenant-list.ts'
import { deleteTenant, type Tenant } from '../tenants/tenants.ts'
import {
  confirmDeletion,
  createTenantCtx,
  defineCommandGroup,
  defineDatabaseCommand,
  formatMembers,
  formatTable,
  readSlug,
  SLUG_ARGS,
} from './command.ts'
import { buildSetArg } from './set-option.ts'
import {
  applyConfigurationCommand,
  diffConfigurationCommand,
  exportConfigurationCommand,
} from './tenant-configuration.ts'

const settingsCommand = defineDatabaseCommand({
  name: 'settings',
  description: 'Show the settings of a tenant, or change some of them',
  args: { ...SLUG_ARGS, ...buildSetArg('settings') },
  run: async (args, members) => {
    const ctx = await createTenantCtx(readSlug(args))
    const settings = toSettings(await updateSettings(ctx, members))
    return { text: formatMembers(settings, 'SETTING'), json: settings }
  },
})

const ctx = createPlatformCtx(SYSTEM_TENANT)

const toTenantOutput = (tenant: Tenant) => ({
  slug: tenant.tenantId,
  settings: toSettings(tenant),
  createdAt: tenant.createdAt,
})

const createCommand = defineDatabaseCommand({
  name: 'create',
  description: 'Create a tenant with its signing key',
  args: {
    ...SLUG_ARGS,
    'friendly-name': { type: 'string', description: 'Name shown to people' },
    'support-url': { type: 'string', description: 'Where people find help' },
    administrator: {
      type: 'string',
      description: 'E-mail address of a person who is invited with role admin',
    },
    'administrator-name': { type: 'string', description: 'Name of that person' },
    ...buildSetArg('settings'),
  },
  run: async (args, members) => {
    const given = { friendlyName: args['friendly-name'], supportUrl: args['support-url'] }
    const { administrator: email, 'administrator-name': name } = args
    const administrator = email === undefined && name === undefined ? undefined : { email, name }
    const settings = { ...members, ...given }
    const tenant = await createTenant(ctx, { slug: readSlug(args), settings, administrator })
    const { tenantId } = tenant
    const lines = [
      `Created tenant ${tenantId}.`,
      `Issuer: ${issuerOf(tenantId)}`,
      ...(email ? [`${email} was sent a link to become its administrator.`] : []),
      `Next: vestibule client create --tenant ${tenantId} --template web --callbacks https://app.example.com/callback`,
    ]
    return { text: lines.join('\n'), json: { ...toTenantOutput(tenant), issuer: issuerOf(tenantId) } }
  },
})

async function listAllTenants(): Promise<Tenant[]> {
  const tenants: Tenant[] = []
  for (let after: string | null = null; ; ) {
    const page = await listTenants(ctx, { first: MAX_PAGE_SIZE, after })
    tenants.push(...page.rows)
    const last = page.rows.at(-1)
    if (!page.hasNextPage || !last) return tenants
    after = page.encodeRowCursor(last)
  }
}

const listCommand = defineDatabaseCommand({
  name: 'list',
  description: 'List all tenants',
  args: {},
  run: async () => {
    const tenants = await listAllTenants()
    const rows = tenants.map(({ tenantId, friendlyName, createdAt }) => [
      tenantId,
      createdAt.toISOString(),
      friendlyName ?? '',
    ])
    return { text: formatTable([['SLUG', 'CREATED', 'NAME'], ...rows]), json: tenants.map(toTenantOutput) }
  },
})

const deleteCommand = defineDatabaseCommand({
  name: 'delete',
  description: 'Delete a tenant and all its data permanently',
  args: {
    ...SLUG_ARGS,
    yes: { type: 'boolean', description: 'Do not ask for confirmation' },
  },
  run: async (args) => {
    const slug = readSlug(args)
    if (!args.yes)
      await confirmDeletion(
        `Tenant ${slug} and all its data will be deleted permanently. Type its slug`,
        slug,
      )
    await deleteTenant(ctx, slug)
    return { text: `Deleted tenant ${slug}.`, json: { deletedTenantId: slug } }
  },
})

export const tenantCommand = defineCommandGroup('tenant', 'Tenants of the deployment', {
  create: createCommand,
  list: listCommand,
  settings: settingsCommand,
  export: exportConfigurationCommand,
  diff: diffConfigurationCommand,
  apply: applyConfigurationCommand,
  delete: deleteCommand,
})
