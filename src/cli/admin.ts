import { grantRole } from '../users/roles.ts'
import { createTenantCtx, defineCommandGroup, defineDatabaseCommand, TENANT_ARG } from './command.ts'

const grantCommand = defineDatabaseCommand({
  name: 'grant',
  description: 'Grant a role to a user; creates the first administrator',
  args: {
    email: {
      type: 'positional',
      required: true,
      description: 'E-mail address; the user is created if missing',
    },
    tenant: TENANT_ARG,
    role: { type: 'string', default: 'admin', description: 'admin, support or auditor' },
  },
  run: async ({ email, tenant, role }) => {
    const { user, isCreated } = await grantRole(await createTenantCtx(tenant), email, role)
    const who = isCreated
      ? `No user had this address: ${email} (${user.id}) was created, and`
      : `${email} (${user.id})`
    const text = `${who} has in tenant ${tenant} now: ${user.roles.join(', ')}.`
    return { text, json: { userId: user.id, email: user.email, roles: user.roles, created: isCreated } }
  },
})

export const adminCommand = defineCommandGroup('admin', 'Administrators', { grant: grantCommand })
