import { decodeJwt } from 'jose'
import { describe, expect } from 'vitest'
import { previewToken } from '../../../src/oidc/explain/preview-token.ts'
import { createMembership } from '../../../src/organizations/memberships.ts'
import { createOrganization } from '../../../src/organizations/organizations.ts'
import { createApi } from '../../../src/permissions/apis.ts'
import { createAppRole } from '../../../src/permissions/app-roles.ts'
import {
  setClientAppRoles,
  setMembershipAppRoles,
  setUserAppRoles,
} from '../../../src/permissions/role-assignments.ts'
import { countWarmStatements, leastStatements } from '../../support/statements.ts'
import { test as base } from '../../support/visitor.ts'

const SHOP = 'https://api.shop.example'
const STOCK = 'https://api.stock.example'
const LARGE = 'https://api.large.example'
const request = { scope: 'openid offline_access', resource: SHOP }
const GIVEN = { roles: ['clerk'], permissions: ['orders:read', 'orders:write'] }

const test = base
  .extend('clerk', { scope: 'file' }, async ({ ctx }) => {
    const shop = await createApi(ctx, {
      identifier: SHOP,
      name: 'Shop',
      tokenExpiryTime: 300,
      permissions: [{ name: 'orders:read', isAllowedInOrganizations: true }, { name: 'orders:write' }],
    })
    await createApi(ctx, { identifier: STOCK, name: 'Stock', permissions: [{ name: 'orders:read' }] })
    return createAppRole(ctx, {
      name: 'clerk',
      assignableTo: ['user', 'client', 'member'],
      permissions: ['orders:read', 'orders:write'].map((name) => ({ apiId: shop.id, name })),
    })
  })
  .extend('introspect', ({ app, tenant, client }) => async (tokens: { access_token: string }) => {
    const response = await fetch(`${app.origin}/${tenant}/oidc/introspect`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${client.id}:${client.secret}`)}` },
      body: new URLSearchParams({ token: tokens.access_token }),
    })
    return response.json()
  })
  .extend('ada', async ({ ctx, clerk, newVisitor }) => {
    const ada = await newVisitor()
    await setUserAppRoles(ctx, ada.user.id, { appRoleIds: [clerk.id] })
    return ada
  })

describe('the access token for an API of the tenant', () => {
  test('has the roles and permissions of the user, and its lifetime', async ({
    ada,
    ctx,
    client,
    newVisitor,
    clerk,
  }) => {
    expect(clerk.name).toBe('clerk')
    const tokens = await ada.newTokens(request)
    expect(tokens.expires_in).toBe(300)
    expect(decodeJwt(tokens.access_token)).toMatchObject(GIVEN)
    expect(decodeJwt(tokens.id_token)).not.toHaveProperty('permissions')
    const other = await newVisitor()
    expect(decodeJwt((await other.newTokens(request)).access_token)).toMatchObject({
      roles: [],
      permissions: [],
    })
    for (const token of [
      await ada.newTokens({ scope: 'openid' }),
      await ada.newTokens({ ...request, resource: STOCK }),
    ])
      expect(decodeJwt(token.access_token).permissions ?? []).toEqual([])
    const { accessToken } = await previewToken(ctx, {
      userId: ada.user.id,
      clientId: client.id,
      resource: SHOP,
    })
    expect(accessToken).toMatchObject(GIVEN)
  })

  test('is without a role that was taken away after the refresh, and at introspection at once', async ({
    ada,
    ctx,
    oidc,
    introspect,
  }) => {
    const tokens = await ada.newTokens(request)
    const first = await oidc.refresh(tokens.refresh_token)
    expect(decodeJwt(first.body.access_token as string)).toMatchObject(GIVEN)
    expect(await introspect(tokens)).toMatchObject({ active: true, ...GIVEN })
    await setUserAppRoles(ctx, ada.user.id, { appRoleIds: [] })
    expect(await introspect(tokens)).toMatchObject({ active: true, roles: [], permissions: [] })
    const second = await oidc.refresh(first.body.refresh_token as string)
    expect(decodeJwt(second.body.access_token as string)).toMatchObject({ roles: [], permissions: [] })
  })

  test('for an organization has the roles that are held there, and names them', async ({
    ctx,
    clerk,
    newVisitor,
    oidc,
    introspect,
  }) => {
    const person = await newVisitor()
    const { id } = await createOrganization(ctx, { name: 'Acme', slug: 'acme' })
    const membership = await createMembership(ctx, id, { userId: person.user.id })
    const own = await createAppRole(ctx, {
      name: 'reader',
      organizationId: id,
      permissions: clerk.permissions.filter(({ name }) => name === 'orders:read'),
    })
    await setMembershipAppRoles(ctx, membership.id, { appRoleIds: [clerk.id, own.id] })
    const tokens = await person.newTokens({ ...request, organization: 'acme' })
    // `roles` has those of the tenant alone.
    const inAcme = { org_id: id, org_roles: ['clerk', 'reader'], ...GIVEN }
    expect(decodeJwt(tokens.access_token)).toMatchObject(inAcme)
    expect(await introspect(tokens)).toMatchObject(inAcme)
    const elsewhere = await person.newTokens(request)
    expect(decodeJwt(elsewhere.access_token)).toMatchObject({ roles: [], permissions: [] })
    expect(decodeJwt(elsewhere.access_token)).not.toHaveProperty('org_roles')
    const switched = await oidc.refresh(elsewhere.refresh_token, { organization: 'acme' })
    expect(decodeJwt(switched.body.access_token as string)).toMatchObject(inAcme)
    expect(await leastStatements(() => oidc.refresh(tokens.refresh_token))).toBe(1)
    await setMembershipAppRoles(ctx, membership.id, { appRoleIds: [] })
    expect(await introspect(tokens)).toMatchObject({
      active: true,
      roles: [],
      permissions: [],
      org_roles: [],
    })
  })

  test('costs no statement', async ({ ada, oidc }) => {
    const code = await ada.newCode(request)
    const earlier = await ada.newCode(request)
    expect(
      await countWarmStatements(
        () => oidc.exchange(earlier),
        () => oidc.exchange(code),
      ),
    ).toBe(1)
    const { refresh_token: token } = await ada.newTokens(request)
    expect(await leastStatements(() => oidc.refresh(token))).toBe(1)
  })

  test('has the permissions of a machine client', async ({ ctx, clerk, newClient, oidc }) => {
    const machine = await newClient({ appType: 'machine', callbacks: [] })
    await setClientAppRoles(ctx, machine.id, { appRoleIds: [clerk.id] })
    const { body } = await oidc.token({ grant_type: 'client_credentials', resource: SHOP }, machine)
    expect(decodeJwt(body.access_token as string)).toMatchObject(GIVEN)
  })

  test('is without permissions that do not fit, which the log names', async ({ ctx, newVisitor, events }) => {
    const permissions = Array.from({ length: 100 }, (_, index) => ({
      name: `permission:${'x'.repeat(50)}:${index}`,
    }))
    const { id: apiId } = await createApi(ctx, { identifier: LARGE, name: 'Large', permissions })
    const all = permissions.map(({ name }) => ({ apiId, name }))
    const { id } = await createAppRole(ctx, { name: 'all', assignableTo: ['user'], permissions: all })
    const person = await newVisitor()
    await setUserAppRoles(ctx, person.user.id, { appRoleIds: [id] })
    const claims = decodeJwt((await person.newTokens({ ...request, resource: LARGE })).access_token)
    expect(claims).toMatchObject({ roles: ['all'] })
    expect(claims).not.toHaveProperty('permissions')
    expect(await events({ type: 'token.claims_omitted', userId: person.user.id })).toMatchObject([
      { detail: { target: 'access_token', claims: 'permissions' } },
    ])
  })
})
