import { createApiKey } from '../../src/api-keys/api-keys.ts'
import { bulkUpdateUsers } from '../../src/bulk/bulk-jobs.ts'
import { createClient } from '../../src/clients/clients.ts'
import { type Ctx, createPlatformCtx } from '../../src/context/context.ts'
import { newId } from '../../src/core/crypto.ts'
import { listInboxMessages } from '../../src/delivery/inbox.ts'
import { createIdentityProvider, updateIdentityProvider } from '../../src/idps/idps.ts'
import { createInvitation } from '../../src/invitations/invitations.ts'
import { createMembership } from '../../src/organizations/memberships.ts'
import { createOrganizationDomain } from '../../src/organizations/organization-domains.ts'
import { createOrganization } from '../../src/organizations/organizations.ts'
import { sendPasscode } from '../../src/passcodes/send-passcode.ts'
import { createApi } from '../../src/permissions/apis.ts'
import { createAppRole } from '../../src/permissions/app-roles.ts'
import { createGroup } from '../../src/permissions/groups.ts'
import { createRegistrationToken } from '../../src/registration/registration-tokens.ts'
import { startSession } from '../../src/sessions/sessions.ts'
import { createManagementRole } from '../../src/users/management-roles.ts'
import { createUser } from '../../src/users/users.ts'
import { testWebhook } from '../../src/webhooks/deliveries.ts'
import { createWebhook } from '../../src/webhooks/webhooks.ts'
import { ctxFor, newTenant, tokenFor } from '../support/actors.ts'
import { registerDocument } from '../support/clients.ts'
import { dbFor } from '../support/database.ts'
import { publishRecord } from '../support/dns-server.ts'
import { addSignalStream } from '../support/signal-streams.ts'
import type { Upstream } from '../support/upstream.ts'

/** The suffix of an id that no object has. */
export const UNKNOWN = '01m7xeb1sbendby702xerkqv3p'
export const EMAIL = 'ada@parity.example'
export const PHONE = '+41791112233'

const API = {
  identifier: 'https://api.parity.example',
  name: 'Orders',
  description: 'Orders and deliveries',
  permissions: [{ name: 'orders:read', description: 'Read orders' }],
}

/** A tenant with one object of each type. Two of them differ in ids and times only. */
export type Fixture = {
  tenant: string
  ctx: Ctx
  token: string
  userId: string
  sessionId: string
  sessionToken: string
  credentialId: string
  clientId: string
  idpId: string
  registrationTokenId: string
  invitationId: string
  organizationId: string
  membershipId: string
  /** Its TXT record is published. */
  organizationDomainId: string
  /** A user who does not belong to the organization. */
  otherUserId: string
  apiKeyId: string
  bulkJobId: string
  trustedDocumentId: string
  apiId: string
  appRoleId: string
  managementRoleId: string
  groupId: string
  webhookId: string
  webhookDeliveryId: string
  signalStreamId: string
  /** A passcode that was sent to EMAIL. */
  code: string
  upstream: Upstream
}

/** Creates a tenant whose users can prove identities at `upstream`. */
export async function createFixture(upstream: Upstream): Promise<Fixture> {
  const tenant = await newTenant()
  const ctx = await ctxFor(tenant)
  const user = await createUser(ctx, {
    name: 'Ada Lovelace',
    email: EMAIL,
    emailVerified: true,
    phoneNumber: PHONE,
    phoneNumberVerified: true,
    address: { locality: 'London' },
    appMetadata: { plan: 'pro' },
  })
  const other = await createUser(ctx, { name: 'Bob', email: 'bob@parity.example' })
  const { client } = await createClient(createPlatformCtx(tenant), {
    name: 'Shop',
    appType: 'web',
    type: 'login',
    scopes: ['account'],
  })
  const { session, token: sessionToken } = await ctx.db.transaction((tx) =>
    startSession(tx, ctx, {
      userId: user.id,
      kind: 'api',
      expiresAt: new Date('2100-01-01T00:00:00Z'),
      refreshable: true,
      proof: { method: 'passcode', amr: ['otp'] },
    }),
  )
  const db = dbFor(tenant)
  const own = { tenantId: tenant, userId: user.id }
  const credential = await db.credential.create({
    data: { ...own, id: newId('cred'), externalId: 'AAEC', publicKey: 'pQECAyYgASFY', deviceModel: 'Pixel' },
  })
  await db.consent.create({
    data: { ...own, clientId: client.id, scopes: ['openid', 'email'], claims: ['birthdate'] },
  })
  for (const id of ['acme', 'other'])
    await db.identityProvider.create({
      data: {
        tenantId: tenant,
        id,
        type: 'oidc',
        name: id,
        signalsIssuer: 'https://signals.example',
        issuer: `https://${id}.example`,
        clientId: 'us',
      },
    })
  await createIdentityProvider(ctx, {
    id: 'real',
    type: 'oidc',
    name: 'Upstream',
    signalsIssuer: 'https://signals.example',
    issuer: upstream.issuer,
    ...upstream.client,
  })
  await db.idpUser.create({
    data: {
      ...own,
      id: newId('idpuser'),
      idpId: 'acme',
      issuer: 'https://acme.example',
      externalId: 'ada-1',
    },
  })
  const { registrationToken } = await createRegistrationToken(ctx, { note: 'Partner', uses: null })
  // A minute ago, so that it can be sent again.
  const sentAt = new Date(Date.now() - 60_000)
  const input = { email: 'guest@parity.example', roles: ['support'] }
  const invitation = await createInvitation(ctx, input, sentAt)
  const organization = await createOrganization(ctx, { name: 'Acme', slug: 'acme' })
  await updateIdentityProvider(ctx, 'other', { organizationId: organization.id })
  const membership = await createMembership(ctx, organization.id, { userId: user.id })
  const domain = await createOrganizationDomain(ctx, organization.id, { domain: 'acme.parity.example' })
  publishRecord(domain)
  const { apiKey } = await createApiKey(ctx, { name: 'Export', scopes: ['users:read'], userId: null })
  const bulkJob = await bulkUpdateUsers(ctx, { action: 'unlock', userIds: [user.id] })
  const api = await createApi(ctx, API)
  const appRole = await createAppRole(ctx, {
    name: 'clerk',
    assignableTo: ['user', 'client', 'member'],
    permissions: [{ apiId: api.id, name: 'orders:read' }],
  })
  const { webhook } = await createWebhook(ctx, { url: 'https://hooks.example/vestibule' })
  const message = await testWebhook(ctx, webhook.id, {})
  await sendPasscode(ctx, 'email', { to: EMAIL })
  const code = /\b\d{6}\b/.exec(listInboxMessages(EMAIL)[0]?.body ?? '')?.[0] ?? ''
  return {
    tenant,
    ctx,
    token: await tokenFor(tenant),
    userId: user.id,
    sessionId: session.id,
    sessionToken,
    credentialId: credential.id,
    clientId: client.id,
    idpId: 'acme',
    registrationTokenId: registrationToken.id,
    invitationId: invitation.id,
    organizationId: organization.id,
    membershipId: membership.id,
    organizationDomainId: domain.id,
    otherUserId: other.id,
    apiKeyId: apiKey.id,
    bulkJobId: bulkJob.id,
    trustedDocumentId: await registerDocument(tenant, client.id),
    webhookId: webhook.id,
    webhookDeliveryId: message.id,
    signalStreamId: await addSignalStream(ctx, client.id),
    apiId: api.id,
    appRoleId: appRole.id,
    managementRoleId: (await createManagementRole(ctx, { name: 'helper', scopes: ['users:read'] })).id,
    groupId: (await createGroup(ctx, { name: 'Desk', description: 'Order desk' })).id,
    code,
    upstream,
  }
}
