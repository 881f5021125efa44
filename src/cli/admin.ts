import { getConsoleUrl } from '../clients/console-client.ts'
import { env } from '../core/env.ts'
import { createInvitation, createInvitationLink } from '../invitations/invitations.ts'
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
    role: {
      type: 'string',
      default: 'admin',
      description: 'admin, support, auditor, one that the tenant has defined or, in tenant system, operator',
    },
  },
  run: async ({ email, tenant, role }) => {
    const { user, isCreated } = await grantRole(await createTenantCtx(tenant), email, role)
    const change = isCreated ? 'Created user' : 'Changed user'
    const text = [
      `${change} ${email} (${user.id}) of tenant ${tenant}. Roles: ${user.roles.join(', ')}.`,
      ...(env.console && user.roles.length > 0 ? [`Console: ${getConsoleUrl(tenant)}`] : []),
    ].join('\n')
    return { text, json: { userId: user.id, email: user.email, roles: user.roles, created: isCreated } }
  },
})

const inviteCommand = defineDatabaseCommand({
  name: 'invite',
  description: 'Invite an administrator by mail; the person creates the account and a passkey',
  args: {
    email: { type: 'positional', required: true, description: 'E-mail address of the person' },
    tenant: TENANT_ARG,
    role: {
      type: 'string',
      default: 'admin',
      description: 'admin, support, auditor, one that the tenant has defined or, in tenant system, operator',
    },
    name: { type: 'string', description: 'Name of the person' },
    link: { type: 'boolean', description: 'Print the link instead of sending it; it gives the role, once' },
  },
  run: async ({ email, tenant, role, name, link }) => {
    const ctx = await createTenantCtx(tenant)
    const input = { email, roles: [role], name }
    const { invitation, uri } = link
      ? await createInvitationLink(ctx, input)
      : { invitation: await createInvitation(ctx, input), uri: null }
    const until = `until ${invitation.expiresAt.toISOString()}`
    const text = uri
      ? `Open this link once, ${until}:\n${uri}`
      : `${email} was sent a link, which works once, ${until}.`
    return { text, json: { ...invitation, uri } }
  },
})

export const adminCommand = defineCommandGroup('admin', 'Administrators', {
  grant: grantCommand,
  invite: inviteCommand,
})
