import { platformCtx } from '../ctx.ts'
import { NotFound } from '../errors.ts'
import { findTenant } from '../tenants/tenant-cache.ts'
import { grantRole } from '../users/roles.ts'
import { commandGroup, databaseCommand } from './command.ts'

const grant = databaseCommand({
  name: 'grant',
  description: 'Give a person a role; the first administrator is made so',
  args: {
    email: { type: 'positional', required: true, description: 'Address; the user is created where missing' },
    tenant: { type: 'string', required: true, description: 'Slug of the tenant' },
    role: { type: 'string', default: 'admin', description: 'admin, support or auditor' },
  },
  run: async ({ email, tenant, role }) => {
    if (!(await findTenant(tenant))) throw new NotFound('tenant')
    const { user, isCreated } = await grantRole(platformCtx(tenant), email, role)
    const who = isCreated
      ? `Nobody had this address: ${email} (${user.id}) was created, and`
      : `${email} (${user.id})`
    const text = `${who} has in tenant ${tenant} now: ${user.roles.join(', ')}.`
    return { text, json: { userId: user.id, email: user.email, roles: user.roles, created: isCreated } }
  },
})

export const adminCommand = commandGroup('admin', 'Administrators', { grant })
