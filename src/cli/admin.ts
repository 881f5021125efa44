import { grantRole } from '../users/roles.ts'
import { commandGroup, databaseCommand, TENANT, tenantCtx } from './command.ts'

const grant = databaseCommand({
  name: 'grant',
  description: 'Give a person a role; the first administrator is made so',
  args: {
    email: { type: 'positional', required: true, description: 'Address; the user is created where missing' },
    tenant: TENANT,
    role: { type: 'string', default: 'admin', description: 'admin, support or auditor' },
  },
  run: async ({ email, tenant, role }) => {
    const { user, isCreated } = await grantRole(await tenantCtx(tenant), email, role)
    const who = isCreated
      ? `Nobody had this address: ${email} (${user.id}) was created, and`
      : `${email} (${user.id})`
    const text = `${who} has in tenant ${tenant} now: ${user.roles.join(', ')}.`
    return { text, json: { userId: user.id, email: user.email, roles: user.roles, created: isCreated } }
  },
})

export const adminCommand = commandGroup('admin', 'Administrators', { grant })
