import { createApiKey } from '../../src/api-keys/api-keys.ts'
import { createClient } from '../../src/clients/clients.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { apiAudienceOf } from '../../src/core/issuer.ts'
import type { Scope } from '../../src/core/scopes.ts'
import { createIdentityProvider } from '../../src/idps/idps.ts'
import { createInvitation } from '../../src/invitations/invitations.ts'
import { issueAccessToken } from '../../src/oidc/token/access-tokens.ts'
import { createMembership } from '../../src/organizations/memberships.ts'
import { createOrganizationDomain } from '../../src/organizations/organization-domains.ts'
import { createOrganization } from '../../src/organizations/organizations.ts'
import { createApi } from '../../src/permissions/apis.ts'
import { createAppRole } from '../../src/permissions/app-roles.ts'
import { createGroup } from '../../src/permissions/groups.ts'
import { setUserRoles } from '../../src/users/roles.ts'
import { testWebhook } from '../../src/webhooks/deliveries.ts'
import { createWebhook } from '../../src/webhooks/webhooks.ts'
import { ctxFor } from './actors.ts'
import { createOtherUser } from './isolation.ts'

let count = 0

/** An organization with an object of each kind that belongs to it. */
export async function populateOrganization(tenant: string) {
  count += 1
  const slug = `customer-${count}`
  const ctx = await ctxFor(tenant)
  const { id: organizationId } = await createOrganization(ctx, { slug, name: `Customer ${count}` })
  const member = await createOtherUser(tenant)
  const { id: membershipId } = await createMembership(ctx, organizationId, { userId: member.userId })
  const invitation = await createInvitation(ctx, { email: `guest@${slug}.example`, organizationId })
  const api = await createApi(ctx, {
    identifier: `https://${slug}.example`,
    name: 'API',
    permissions: [{ name: 'read', isAllowedInOrganizations: true }, { name: 'write' }],
  })
  const appRole = await createAppRole(ctx, { name: slug, organizationId })
  const group = await createGroup(ctx, { name: 'Desk', organizationId })
  const domain = await createOrganizationDomain(ctx, organizationId, { domain: `${slug}.example` })
  const idp = await createIdentityProvider(ctx, {
    id: `sso-${slug}`,
    type: 'oidc',
    name: 'Directory',
    organizationId,
    roleClaim: 'groups',
  })
  const { apiKey } = await createApiKey(ctx, { name: 'Export', organizationId, resources: [api.identifier] })
  const { webhook } = await createWebhook(ctx, { url: 'https://hooks.example', organizationId })
  const message = await testWebhook(ctx, webhook.id, {})
  return {
    ...member,
    organizationId,
    membershipId,
    invitationId: invitation.id,
    groupId: group.id,
    apiKeyId: apiKey.id,
    idpId: idp.id,
    organizationDomainId: domain.id,
    appRoleId: appRole.id,
    webhookId: webhook.id,
    webhookDeliveryId: message.id,
    apiId: api.id,
    resource: api.identifier,
  }
}

/** A user who is a member of an organization, by default its administrator, with a token for it. */
export async function newAdministrator(
  tenant: string,
  organizationId: string,
  {
    isAdministrator = true,
    scopes = ['organization'],
    roles = [],
    assigned = ['organization'],
  }: {
    isAdministrator?: boolean
    scopes?: string[]
    roles?: 'support'[]
    assigned?: (Scope | 'organization')[]
  } = {},
) {
  const ctx = createPlatformCtx(tenant)
  const { userId, sessionId } = await createOtherUser(tenant)
  const { client } = await createClient(ctx, {
    name: 'Portal',
    appType: 'single-page',
    type: 'login',
    scopes: assigned,
  })
  const { id: ownMembershipId } = await createMembership(ctx, organizationId, { userId, isAdministrator })
  if (roles.length > 0) await setUserRoles(ctx, userId, { roles })
  const token = await issueAccessToken(tenant, {
    subject: userId,
    clientId: client.id,
    scopes: ['openid', ...scopes],
    audience: [apiAudienceOf(tenant)],
    lifetimeSeconds: 600,
    sessionId,
    claims: { org_id: organizationId },
  })
  return { userId, sessionId, clientId: client.id, ownMembershipId, token }
}
