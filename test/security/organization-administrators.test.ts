import { describe, expect } from 'vitest'
import { updateClient } from '../../src/clients/client-changes.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { updateMembership } from '../../src/organizations/memberships.ts'
import { updateOrganization } from '../../src/organizations/organizations.ts'
import { createAppRole } from '../../src/permissions/app-roles.ts'
import { createGroup } from '../../src/permissions/groups.ts'
import { restRoutes } from '../../src/server/rest-routes.ts'
import { lockUser } from '../../src/users/users.ts'
import { ctxFor } from '../support/actors.ts'
import { logOf } from '../support/events.ts'
import { test as base, hashTables, toCode, UNKNOWN_IDS } from '../support/isolation.ts'
import { newAdministrator, populateOrganization } from '../support/organization-administrators.ts'
import { findRule, rootFields } from '../support/schema.ts'
import { hasServices } from '../support/services.ts'

/** The operations that an administrator of an organization may call about it: all others require a scope of the tenant. */
const PERMITTED = [
  'addGroupMembers',
  'createApiKey',
  'createAppRole',
  'createGroup',
  'createInvitation',
  'createOrganizationDomain',
  'createWebhook',
  'deleteAppRole',
  'deleteGroup',
  'deleteGroupMembers',
  'deleteMembership',
  'deleteOrganizationDomain',
  'deleteWebhook',
  'getApiKey',
  'getAppRole',
  'getGroup',
  'getGroupAppRoles',
  'getInvitation',
  'getMembership',
  'getMembershipAppRoles',
  'getOrganization',
  'getOrganizationDomain',
  'getWebhook',
  'getWebhookDelivery',
  'listApiKeys',
  'listAppRoles',
  'listEvents',
  'listGroups',
  'listInvitations',
  'listOrganizationAppRoles',
  'listOrganizationDomains',
  'listOrganizationIdentityProviders',
  'listOrganizationMembers',
  'listPermittedApis',
  'listWebhookDeliveries',
  'listWebhooks',
  'redeliverWebhookDeliveries',
  'redeliverWebhookDelivery',
  'replayWebhook',
  'resendInvitation',
  'revokeApiKey',
  'revokeInvitation',
  'rotateApiKey',
  'rotateWebhookSecret',
  'setGroupAppRoles',
  'setMembershipAppRoles',
  'testIdentityProvider',
  'testWebhook',
  'updateApiKey',
  'updateAppRole',
  'updateGroup',
  'updateIdentityProvider',
  'updateMembership',
  'updateOrganization',
  'updateOrganizationDomain',
  'updateWebhook',
  'verifyOrganizationDomain',
]
/** The fields of GraphQL that REST has under other names, and the subscriptions. */
const PERMITTED_FIELDS = [
  'apiKey',
  'apiKeys',
  'appRole',
  'appRoles',
  'events',
  'events',
  'group',
  'groups',
  'invitation',
  'invitations',
  'membership',
  'membershipChanged',
  'organization',
  'organizationChanged',
  'organizationDomain',
  'webhook',
  'webhookDelivery',
  'webhookDeliveryChanged',
  'webhooks',
]

type Customer = Awaited<ReturnType<typeof populateOrganization>>
type Ids = Record<string, string>

/** A valid body of an operation about an organization. */
const toBody = (
  operationId: string,
  { organizationId, userId, appRoleId, apiId, resource }: Customer,
): object =>
  ({
    createInvitation: {
      email: 'new@customer.example',
      organizationId,
      appRoleIds: [appRoleId],
      isAdministrator: true,
    },
    createAppRole: { name: 'night-desk', organizationId, permissions: [{ apiId, name: 'read' }] },
    updateAppRole: { description: 'Reads' },
    createGroup: { name: 'Other', organizationId },
    createApiKey: { name: 'Import', organizationId, resources: [resource] },
    updateOrganization: { name: 'Renamed' },
    createWebhook: { url: 'https://hooks.example', organizationId },
    replayWebhook: { after: 'MC4wLjA' },
    updateWebhook: { enabled: false },
    createOrganizationDomain: { domain: 'new.customer.example' },
    updateOrganizationDomain: { enrollment: 'none' },
    updateMembership: { isAdministrator: true },
    updateIdentityProvider: { roleClaim: 'groups', claimRoles: [{ value: 'staff', appRoleId }] },
    updateGroup: { name: 'Renamed' },
    updateApiKey: { name: 'Renamed' },
    addGroupMembers: { userIds: [userId] },
    deleteGroupMembers: { userIds: [userId] },
    setGroupAppRoles: { appRoleIds: [appRoleId] },
    setMembershipAppRoles: { appRoleIds: [appRoleId] },
  })[operationId] ?? {}

/** Deletions last, so that each call finds what it is about. */
const routes = restRoutes.toSorted(
  (one, other) => Number(one.method === 'DELETE') - Number(other.method === 'DELETE'),
)

const test = base
  .extend('customer', { scope: 'file' }, ({ own }) => populateOrganization(own.tenant))
  .extend('rival', { scope: 'file' }, ({ own }) => populateOrganization(own.tenant))
  .extend('administrator', { scope: 'file' }, ({ own, customer }) =>
    newAdministrator(own.tenant, customer.organizationId),
  )
  .extend(
    'callAbout',
    { scope: 'file' },
    ({ app, own }) =>
      async (token: string, { method, path, operationId }: (typeof restRoutes)[number], about: Customer) => {
        const ids: Ids = { ...own, ...about }
        const target = path.replace(/:(\w+)/g, (_, name: string) => ids[name] ?? 'missing')
        const query = method === 'GET' ? `?organizationId=${about.organizationId}` : ''
        const body = ['GET', 'DELETE'].includes(method) ? undefined : toBody(operationId, about)
        return app.rest(
          own.tenant,
          token,
          method,
          target + (PERMITTED.includes(operationId) && path.includes(':') ? '' : query),
          body,
        )
      },
  )

describe.runIf(hasServices)('an administrator of an organization', () => {
  test('may call the listed operations alone', () => {
    const declared = restRoutes.filter(({ requireInOrganization }) => requireInOrganization)
    expect(declared.map(({ operationId }) => operationId).sort()).toEqual(PERMITTED)
    const fields = rootFields.filter(([, , field]) => findRule(field)?.organization)
    const names = fields.map(([, , { name }]) => name).filter((name) => !PERMITTED.includes(name))
    expect(names.sort()).toEqual(PERMITTED_FIELDS)
  })

  test('is rejected by each route about another organization, the tenant and another tenant, and changes nothing', async ({
    app,
    own,
    foreign,
    customer,
    rival,
    administrator: { token },
    callAbout,
  }) => {
    const before = await hashTables(own.tenant)
    const statuses = async (call: (route: (typeof restRoutes)[number]) => Promise<{ status: number }>) =>
      Object.fromEntries(
        await Promise.all(routes.map(async (route) => [route.operationId, (await call(route)).status])),
      )
    const all = (status: number) => Object.fromEntries(routes.map(({ operationId }) => [operationId, status]))
    expect(await statuses((route) => callAbout(token, route, rival))).toEqual(all(403))
    expect(await statuses((route) => callAbout(token, route, { ...UNKNOWN_IDS } as never))).toEqual(all(403))
    const others = routes.filter(({ operationId }) => !PERMITTED.includes(operationId))
    for (const route of others) expect((await callAbout(token, route, customer)).status, route.path).toBe(403)
    expect(
      (await app.rest(foreign.tenant, token, 'GET', `/organizations/${foreign.organizationId}`)).status,
    ).toBe(401)
    expect(await hashTables(own.tenant)).toEqual(before)
  })

  test('is rejected by each field of GraphQL about another organization and the tenant', async ({
    own,
    customer,
    rival,
    administrator: { token },
    run,
  }) => {
    const before = await hashTables(own.tenant)
    for (const root of rootFields) {
      const [title, , field] = root
      if (title === 'query viewer' || findRule(field)?.account) continue
      const about = findRule(field)?.organization ? rival : customer
      expect(toCode(await run(token, root, { ...own, ...about })), title).toBe('FORBIDDEN')
    }
    expect(await hashTables(own.tenant)).toEqual(before)
  })

  test('gets no further without the right, the scope, or the assignment of the scope to the client', async ({
    own,
    customer,
    callAbout,
  }) => {
    const organization = routes.find(({ operationId }) => operationId === 'getOrganization') as never
    for (const lacking of [{ isAdministrator: false }, { scopes: [] }, { assigned: [] }]) {
      const { token } = await newAdministrator(own.tenant, customer.organizationId, lacking)
      expect((await callAbout(token, organization, customer)).status, JSON.stringify(lacking)).toBe(403)
    }
    const { token, clientId } = await newAdministrator(own.tenant, customer.organizationId)
    expect((await callAbout(token, organization, customer)).status).toBe(200)
    await updateClient(createPlatformCtx(own.tenant), clientId, { scopes: [] })
    expect((await callAbout(token, organization, customer)).status).toBe(403)
  })

  test('tightens the rules of sign-in of the organization, and loosens none', async ({ own }) => {
    const { organizationId, userId } = await populateOrganization(own.tenant)
    const ids = { userId, clientId: null, sessionId: null, grantId: null, administeredId: organizationId }
    const actor = { kind: 'user' as const, tenant: own.tenant, ...ids }
    const ctx = { ...createPlatformCtx(own.tenant), actor }
    const change = (fields: object) => updateOrganization(ctx, organizationId, fields)
    await change({ signInMethods: ['passcode', 'passkey'], requireSecondFactor: true })
    await change({ sessionLifetimeSeconds: 7200, allowedNetworks: ['203.0.113.0/24'] })
    for (const weaker of [
      { signInMethods: [] },
      { signInMethods: ['passcode', 'provider'] },
      { requireSecondFactor: false },
      { sessionLifetimeSeconds: null },
      { sessionLifetimeSeconds: 7201 },
      { allowedNetworks: [] },
      { allowedNetworks: ['203.0.113.0/24', '10.0.0.0/8'] },
    ])
      await expect(change(weaker), JSON.stringify(weaker)).rejects.toMatchObject({ status: 403 })
    await change({ signInMethods: ['passcode'], sessionLifetimeSeconds: 7199 })
    await updateOrganization(createPlatformCtx(own.tenant), organizationId, { signInMethods: [] })
  })

  test('gives nothing by an invitation, a key, a group or an own role that is not of the organization', async ({
    own,
    customer,
    rival,
    rest,
  }) => {
    const ctx = await ctxFor(own.tenant)
    const { token, ownMembershipId, userId } = await newAdministrator(own.tenant, customer.organizationId, {
      roles: ['support'],
      assigned: ['organization', 'users:read', 'roles:read'],
    })
    const { organizationId } = customer
    const ofTenant = await createGroup(ctx, { name: 'Staff' })
    const forUsers = await createAppRole(ctx, { name: 'root', assignableTo: ['user', 'client'] })
    const send = async (method: string, path: string, body: object) =>
      (await rest(method, path, body, { token })).status
    const invitation = { email: 'ally@customer.example', organizationId }
    expect(await send('POST', '/invitations', { ...invitation, roles: ['support'] })).toBe(403)
    expect(await send('POST', '/invitations', { ...invitation, appRoleIds: [forUsers.id] })).toBe(400)
    expect(
      await send('POST', '/invitations', { email: 'ally@customer.example', isAdministrator: true }),
    ).toBe(403)
    expect(
      await send('POST', '/api-keys', { name: 'K', organizationId, userId, resources: [customer.resource] }),
    ).toBe(403)
    expect(await send('POST', '/api-keys', { name: 'K', organizationId, scopes: ['users:read'] })).toBe(403)
    expect(
      await send('PUT', `/memberships/${ownMembershipId}/app-roles`, { appRoleIds: [forUsers.id] }),
    ).toBe(400)
    for (const parentId of [ofTenant.id, rival.groupId])
      expect(await send('PATCH', `/groups/${customer.groupId}`, { parentId })).toBe(400)
    expect(await send('POST', `/groups/${customer.groupId}/members`, { userIds: [rival.userId] })).toBe(404)
    for (const body of [{ metadata: { plan: 'pro' } }, { slug: 'other' }, { externalId: 'crm-2' }])
      expect(await send('PATCH', `/organizations/${organizationId}`, body)).toBe(403)
    // Nobody takes a user of the tenant into an organization by id alone.
    expect(await send('POST', `/organizations/${organizationId}/members`, { userId: rival.userId })).toBe(403)
    // Its own roles have permissions for organizations alone, and roles of others stay what they are.
    const permissions = [{ apiId: customer.apiId, name: 'write' }]
    expect(await send('POST', '/app-roles', { name: 'own', organizationId, permissions })).toBe(404)
    expect(await send('PATCH', `/app-roles/${customer.appRoleId}`, { permissions })).toBe(404)
    expect(await send('POST', '/app-roles', { name: 'root', organizationId })).toBe(409)
    expect(await send('POST', '/app-roles', { name: 'own', organizationId, assignableTo: ['user'] })).toBe(
      403,
    )
    expect(await send('POST', '/app-roles', { name: 'own' })).toBe(403)
    for (const id of [forUsers.id, rival.appRoleId])
      for (const [method, body] of [
        ['PATCH', { name: 'own' }],
        ['DELETE', undefined],
      ] as const)
        expect(await send(method, `/app-roles/${id}`, body as never)).toBe(403)
    const foreign = { appRoleIds: [rival.appRoleId] }
    expect(await send('PUT', `/memberships/${ownMembershipId}/app-roles`, foreign)).toBe(404)
    expect(await send('PUT', `/groups/${customer.groupId}/app-roles`, foreign)).toBe(404)
    expect(await send('POST', '/invitations', { ...invitation, ...foreign })).toBe(404)
    // The mapping of the own provider has roles that it could give, and nothing else of a provider is its own.
    const map = (idpId: string, appRoleId: string, more: object = {}) =>
      send('PATCH', `/idps/${idpId}`, { claimRoles: [{ value: 'staff', appRoleId }], ...more })
    expect(await map(customer.idpId, forUsers.id)).toBe(400)
    expect(await map(customer.idpId, rival.appRoleId)).toBe(404)
    expect(await map(rival.idpId, customer.appRoleId)).toBe(403)
    expect(await map(own.idpId, customer.appRoleId)).toBe(403)
    for (const more of [
      { issuer: 'https://evil.example' },
      { clientSecret: 'x' },
      { organizationId: rival.organizationId },
      { organizationId: null, claimRoles: [] },
    ])
      expect(await map(customer.idpId, customer.appRoleId, more)).toBe(403)
    expect(await send('POST', '/idps', { id: 'own', type: 'oidc', name: 'Own', organizationId })).toBe(403)
    expect(await send('PATCH', `/users/${customer.userId}`, { locked: true })).toBe(403)
    expect(await send('POST', `/users/${customer.userId}/credentials/enrollment-tokens`, {})).toBe(403)
  })

  test('never removes the last one who can sign in, also when two remove each other', async ({
    own,
    rest,
  }) => {
    const ctx = await ctxFor(own.tenant)
    const { organizationId } = await populateOrganization(own.tenant)
    const [one, other] = [
      await newAdministrator(own.tenant, organizationId),
      await newAdministrator(own.tenant, organizationId),
    ]
    const lone = await newAdministrator(own.tenant, organizationId)
    await lockUser(ctx, lone.userId)
    const end = (
      by: { token: string },
      { ownMembershipId }: { ownMembershipId: string },
      isDeletion = false,
    ) =>
      rest(
        isDeletion ? 'DELETE' : 'PATCH',
        `/memberships/${ownMembershipId}`,
        isDeletion ? undefined : { isAdministrator: false },
        { token: by.token },
      ).then(({ status }: { status: number }) => status)
    const raced = await Promise.all([end(one, other), end(other, one, true)])
    expect(raced.filter((status) => status === 200)).toHaveLength(1)
    const [left, gone] = raced[0] === 200 ? [one, other] : [other, one]
    expect(await end(left, gone)).not.toBe(409)
    expect([await end(left, left), await end(left, left, true)]).toEqual([409, 409])
    await updateMembership(ctx, left.ownMembershipId, { isAdministrator: false })
    expect(await end(left, left)).toBe(403)
  })

  test('may call each listed operation about its organization', async ({
    own,
    customer,
    administrator,
    callAbout,
    rest,
  }) => {
    for (const route of routes.filter(({ operationId }) => PERMITTED.includes(operationId))) {
      const { status, body } = await callAbout(administrator.token, route, customer)
      // A second mail waits for half a minute.
      const isSent = route.operationId === 'resendInvitation' && status === 429
      expect(isSent ? 200 : status, `${route.operationId} ${JSON.stringify(body)}`).toBeLessThan(300)
    }
    // The log of the organization has what they do to it.
    await logOf(own.tenant)
    const path = `/events?organizationId=${customer.organizationId}&pageSize=1000`
    const { body: log } = await rest('GET', path, undefined, { token: administrator.token })
    expect(log.events.map(({ type }: { type: string }) => type)).toEqual(
      expect.arrayContaining([
        'group.app_roles_changed',
        'group.members_added',
        'group.members_removed',
        'invitation.revoked',
      ]),
    )
    await updateMembership(await ctxFor(own.tenant), administrator.ownMembershipId, {
      isAdministrator: false,
    })
    const members = routes.find(({ operationId }) => operationId === 'listOrganizationMembers') as never
    expect((await callAbout(administrator.token, members, customer)).status).toBe(403)
  })
})
